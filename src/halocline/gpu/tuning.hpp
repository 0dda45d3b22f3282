// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The autotuner: measures a few ways to launch a kernel once, and remembers the fastest.
///
/// A kernel is launched with parameters that change its speed and never its result: TuneParameters. When a problem
/// occurs for the first time, each candidate is run a few times between events. The fastest is kept in this process and
/// in a JSON file that all processes and later runs share. An entry belongs to a TuneKey: a device (name and compute
/// capability), a driver and toolkit, the content of the device code (kernel_hash()), and the kernel's name and
/// problem. Parameters from an entry are used only if they are among the candidates that the code offers. A file that
/// was edited by hand, or written by another version, can therefore make a launch slow, never wrong.
///
/// The file is `$HALOCLINE_TUNE_CACHE`, else `$XDG_CACHE_HOME/halocline/tune.json`, else
/// `~/.cache/halocline/tune.json`. A change merges what other processes wrote meanwhile and replaces the whole file,
/// under a lock. With HALOCLINE_TUNE=read-only the file is never written. With HALOCLINE_TUNE=off nothing is measured
/// and the first candidate is used.
///
/// If the file has no entry, defaults apply. They are in `$HALOCLINE_TUNE_DEFAULTS`, which the Python package sets to
/// the file that it ships, and hold for every driver. A damaged cache file is named in a warning and left alone;
/// measurements are then remembered in this process only.
///
/// The host executor measures nothing and takes the first candidate. Tests that measure supply a clock.

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halocline/gpu/device.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::comm {
class Communicator;
}

namespace halocline::gpu {

/// The parameters of a launch that the tuner may choose.
struct TuneParameters {
  int block_x = 128, block_y = 1, block_z = 1;
  int sites_per_thread = 1;
  int columns_per_thread = 1;
  int carveout = -1;         ///< shared memory [percent of the first-level cache]; -1: the driver's choice
  int prefetch = 0;          ///< prefetch distance; 0: no prefetch
  int evict_first = 0;       ///< 1: what the kernel reads once is given up first by the second-level cache
  int no_allocate = 0;       ///< 1: what the kernel reads once does not enter the first-level cache
  int streaming_stores = 0;  ///< 1: what the kernel writes is given up first by the second-level cache
  std::string policy{};      ///< name of a halo policy; empty for kernels

  friend bool operator==(const TuneParameters&, const TuneParameters&) = default;
};

/// The result of tuning one problem.
struct TuneEntry {
  TuneParameters parameters;
  double seconds = 0;           ///< of one run
  double bytes = 0, flops = 0;  ///< of one run; 0 if the problem did not state them
  double first_seconds = 0;     ///< of one run with the first candidate; 0 if that cannot be launched
  int candidates = 0;           ///< number of candidates
  int failed = 0;               ///< number of candidates that could not be launched
  std::string failure{};        ///< error message of the last failed candidate
  std::string when{};           ///< date of the measurement, ISO 8601; TuneCache::keep fills it in if empty

  friend bool operator==(const TuneEntry&, const TuneEntry&) = default;
};

/// Identifies an entry. The file is sorted by these members, in this order.
struct TuneKey {
  std::string device;       ///< "NVIDIA H200, 9.0": name and compute capability
  std::string driver;       ///< "13.0, toolkit 13.0"
  std::string kernel;       ///< TuneProblem::kernel
  std::string problem;      ///< TuneProblem::problem
  std::string kernel_hash;  ///< gpu::kernel_hash() of the build that measured

  friend auto operator<=>(const TuneKey&, const TuneKey&) = default;
};

/// The launch to be tuned. The tuner adds the device, the driver and the kernel hash.
struct TuneProblem {
  std::string kernel;   ///< "wilson_hop"
  std::string problem;  ///< "16x16x16x32, half, 12 reals, 1 column, interior"
  double bytes = 0, flops = 0;
};

/// The cache file and its copy in memory. Several threads may call any member. No member is collective.
class TuneCache {
public:
  enum class Mode { read_write, read_only, off };
  using Entries = std::vector<std::pair<TuneKey, TuneEntry>>;

  /// @param path  empty: the place named above. The mode is that of HALOCLINE_TUNE: "read-write" (or unset),
  ///              "read-only" or "off"
  /// @throws InvalidArgument  HALOCLINE_TUNE has another value
  static std::shared_ptr<TuneCache> open(const std::string& path = "");
  /// @param path      empty: entries are remembered in this process only
  /// @param defaults  a read-only file of the same form; empty: none
  TuneCache(std::string path, Mode mode, std::string defaults = "");
  ~TuneCache();
  TuneCache(const TuneCache&) = delete;
  TuneCache& operator=(const TuneCache&) = delete;

  const std::string& path() const noexcept { return path_; }
  const std::string& defaults() const noexcept { return defaults_; }
  Mode mode() const noexcept { return mode_; }

  /// The first entry found among: entries kept by this process; the file as last read; the file as it is now; the
  /// defaults with the same device, hash, kernel and problem, for any driver. No entry in mode off.
  std::optional<TuneEntry> find(const TuneKey& key) const;
  /// Keeps the entry. Also writes it to the file, if the mode allows and the file does not already have these
  /// parameters for the key. If the file cannot be written, this gives one warning (take_warnings()), and the entry is
  /// written together with the next one that can be. Does nothing in mode off. Throws nothing but std::bad_alloc. Cost:
  /// reads and writes the file.
  void keep(const TuneKey& key, const TuneEntry& entry);
  /// All known entries, sorted by key. For equal keys, entries of this process come before those of the file, and the
  /// file before the defaults.
  Entries entries() const;
  /// Removes the entries whose key `matches` from memory and from the file. Returns how many it removed from the file,
  /// or from memory if there is no path. Defaults stay.
  /// @throws FileError  the file is damaged or cannot be written; InvalidArgument  mode read_only
  int clear(const std::function<bool(const TuneKey&)>& matches);
  /// Removes the file, whatever it holds, and forgets everything but the defaults. A missing file is no error.
  /// @returns how many entries the file held (0 if it could not be read), or those in memory if there is no path
  /// @throws FileError  the file cannot be removed; InvalidArgument  mode read_only
  int reset();
  /// Writes the entries that entries() returns to another file, in the form of the shipped defaults.
  /// @param matches  empty: all  @returns number of entries  @throws FileError; InvalidArgument  path is the cache
  ///                 itself
  int export_to(const std::string& path, const std::function<bool(const TuneKey&)>& matches = {}) const;
  /// Returns and clears the warnings about unusable files, each once.
  std::vector<std::string> take_warnings();

private:
  friend class Tuner;
  struct State;
  void require_writable() const;

  std::string path_, defaults_;
  Mode mode_;
  std::unique_ptr<State> state_;
};

class Tuner {
public:
  /// Returns the seconds of one run; tests supply it in place of events.
  using Clock = std::function<double(Stream&, const std::function<void()>&)>;

  Tuner(Device device, std::shared_ptr<TuneCache> cache, Clock clock = {});

  /// The parameters for a problem: remembered, or measured now. Threads that share the cache measure one after another,
  /// and `run` may itself tune the launches it contains.
  /// @param candidates  not empty; the first is the default
  /// @param run         enqueues one run. It is called many times, so it must be repeatable; if that needs outputs of
  ///                    its own, the caller supplies them
  /// @throws InvalidArgument  no candidates
  /// @throws the exception of the last failing candidate, if every candidate failed; otherwise failing candidates are
  ///         skipped
  /// Collective: no. Does not measure while the stream is capturing: it then returns the first candidate and does not
  /// keep it. Cost: a remembered problem costs a look-up under a lock (keep the answer beside the launch); a
  /// measurement about 20 ms for each candidate.
  TuneParameters best(Stream& stream, const TuneProblem& problem, std::span<const TuneParameters> candidates,
                      const std::function<void(const TuneParameters&)>& run);
  /// The same for all processes together, as halo policies need it. All processes run each candidate equally often, the
  /// slowest process counts, and all get the same answer. The first process's cache and mode decide for all. Its entry
  /// is kept under the problem and the number of processes.
  /// @param candidates  the same on every process
  /// @param run         may be collective; a candidate that cannot be launched must then throw on every process
  /// @throws InvalidArgument  on every process: no candidates, or candidates that differ from the first process's
  /// @throws core::Error      on every process: every candidate failed on some process
  /// Collective: yes.
  TuneParameters best_for_all(Stream& stream, const TuneProblem& problem, std::span<const TuneParameters> candidates,
                              const std::function<void(const TuneParameters&)>& run, const comm::Communicator& group);

  TuneCache& cache() const noexcept { return *cache_; }
  /// The key of the problem's entry.
  TuneKey key(const TuneProblem& problem) const;

private:
  bool measures(const Stream& stream) const;

  Device device_;
  std::shared_ptr<TuneCache> cache_;
  Clock clock_;
};

}  // namespace halocline::gpu
