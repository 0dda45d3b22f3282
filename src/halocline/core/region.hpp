// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where the time goes: nested timers, each thread its own.
///
///   Region region("dslash/boundary work");   // until the end of the scope
///
/// Timing is off until `enable_regions(true)`; a Region then costs one load and one branch that is never taken. When
/// on, each thread grows a tree of the names it has entered, without locks, and a Region costs two clock readings. The
/// trees are the only state that Halocline keeps between calls.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace halocline::core {

/// One line of the report.
struct RegionRow {
  std::string path;  ///< names from the outermost, joined by " > "
  int depth = 0;     ///< 0 for the outermost
  int thread = 0;    ///< in the order in which threads first entered a region; -1 in a merged report
  int threads = 1;   ///< that entered it
  std::uint64_t calls = 0;
  double seconds = 0;        ///< in the region; merged: of the thread that spent most
  double self_seconds = 0;   ///< of these, not in a region inside it; merged: of the same thread
  double total_seconds = 0;  ///< summed over threads
};

/// Rows in the order of first entry, a region before those inside it.
struct RegionReport {
  std::vector<RegionRow> rows;

  std::string table() const;  ///< aligned text with a header, a line a row
  /// {"path": {"calls", "threads", "seconds", "self_seconds", "total_seconds"}, ...} of a merged report. One with
  /// threads apart carries " #thread" behind the path.
  std::string json() const;
};

/// Switches timing on or off for regions entered from now on. Collective: no.
void enable_regions(bool on) noexcept;
bool regions_enabled() noexcept;

/// What has been timed since the last reset. Regions still open count their finished calls only.
/// Not while another thread enters or leaves regions.
RegionReport region_report();            ///< equal paths of all threads merged
RegionReport region_report_by_thread();  ///< threads apart

/// Forgets all times. Not while any region is open, or another thread is entering one.
void reset_regions();

namespace detail {
struct RegionNode;
extern std::atomic<bool> regions_on;
RegionNode* enter_region(const char* name) noexcept;
void leave_region(RegionNode* node) noexcept;
}  // namespace detail

/// Times its own lifetime, in the thread that made it. Nested ones end in reverse order, as scopes do.
class Region {
public:
  /// @param name  outlives the report (a string literal)
  explicit Region(const char* name) noexcept
      : node_(detail::regions_on.load(std::memory_order_relaxed) ? detail::enter_region(name) : nullptr) {}
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() {
    if (node_ != nullptr) detail::leave_region(node_);
  }

private:
  detail::RegionNode* node_;
};

}  // namespace halocline::core
