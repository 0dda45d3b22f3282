// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Profiling: nested timers, separate for each thread.
///
///   Region region("hopping/boundary work");   // until the end of the scope
///
/// Timing is off until `enable_regions(true)`. While it is off, a Region costs one load and one branch that is never
/// taken. While it is on, each thread builds a tree of the names it has entered, without locks, and a Region costs two
/// clock readings. The trees live until the end of the process.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace halocline::core {

/// One line of the report.
struct RegionRow {
  std::string path;  ///< names from the outermost inwards, joined by " > "
  int depth = 0;     ///< 0 for the outermost
  int thread = 0;    ///< counted in the order in which threads first entered a region; -1 in a merged report
  int threads = 1;   ///< number of threads that entered the region
  std::uint64_t calls = 0;
  double seconds = 0;        ///< time in the region; in a merged report, of the thread with the longest time
  double self_seconds = 0;   ///< the part of `seconds` outside inner regions; in a merged report, of the same thread
  double total_seconds = 0;  ///< summed over threads
};

/// Rows in the order of first entry, a region before those inside it.
struct RegionReport {
  std::vector<RegionRow> rows;

  std::string table() const;  ///< aligned text with a header, one line for each row
  /// {"path": {"calls", "threads", "seconds", "self_seconds", "total_seconds"}, ...} of a merged report. A report by
  /// thread appends " #thread" to each path.
  std::string json() const;
};

/// Switches timing on or off for regions entered from now on. Collective: no.
void enable_regions(bool on) noexcept;
bool regions_enabled() noexcept;

/// Times since the last reset. A region that is still open counts its finished calls only.
/// Do not call while another thread enters or leaves regions.
RegionReport region_report();            ///< merges equal paths of all threads
RegionReport region_report_by_thread();  ///< keeps threads apart

/// Discards all times. Do not call while any region is open, or while another thread enters one.
void reset_regions();

namespace detail {
struct RegionNode;
extern std::atomic<bool> regions_on;
RegionNode* enter_region(const char* name) noexcept;
void leave_region(RegionNode* node) noexcept;
}  // namespace detail

/// Times its own lifetime, in the thread that made it. Nested regions end in reverse order, as scopes do.
class Region {
public:
  /// @param name  must outlive the report (a string literal)
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
