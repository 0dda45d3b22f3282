// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The autotuner: the fastest of a few ways to launch a kernel, measured once and remembered.
///
/// A kernel is launched with parameters that change its speed and never its result: TuneParameters. The first time that
/// a problem is met, each candidate is run a few times between events and the quickest is kept, in this process and in
/// a JSON file that all processes and later runs share. An entry belongs to a device (name and compute capability), a
/// driver and toolkit, the content of the device code (kernel_hash()), and the kernel's name and problem: TuneKey.
/// Parameters are taken from an entry only where they are among the candidates that the code offers, so a file that
/// somebody has edited, or that another version wrote, can make a launch slow and never wrong.
///
/// The file: `$HALOCLINE_TUNE_CACHE`, else `$XDG_CACHE_HOME/halocline/tune.json`, else `~/.cache/halocline/tune.json`.
/// It is replaced whole, under a lock, after what others wrote meanwhile has been taken in. With
/// HALOCLINE_TUNE=read-only it is never written, with HALOCLINE_TUNE=off nothing is measured and the first candidate is
/// taken. Defaults that come with the package (`$HALOCLINE_TUNE_DEFAULTS`, which the Python package sets to the file
/// that it brings) are looked up where the file has no entry; they hold for every driver. A file that cannot be read is
/// named in a warning, left alone, and done without: what is measured then is remembered in this process only.
///
/// The host executor measures nothing: the first candidate is the answer. Tests that measure give a clock of their own.

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

/// What a launch may choose.
struct TuneParameters {
  int block_x = 128, block_y = 1, block_z = 1;
  int sites_per_thread = 1;
  int columns_per_thread = 1;
  int carveout = -1;     ///< shared memory [percent of the first-level cache]; -1: the driver's choice
  int prefetch = 0;      ///< how far ahead; 0 none
  std::string policy{};  ///< of a halo; empty for kernels

  friend bool operator==(const TuneParameters&, const TuneParameters&) = default;
};

/// What was found about a problem.
struct TuneEntry {
  TuneParameters parameters;
  double seconds = 0;           ///< of one run
  double bytes = 0, flops = 0;  ///< of one run, 0 where they were not told
  double first_seconds = 0;     ///< of one run with the first candidate; 0 where that cannot be launched
  int candidates = 0;           ///< how many there were
  int failed = 0;               ///< of them, how many could not be launched
  std::string failure{};        ///< what the last of these said
  std::string when{};           ///< date of the measurement, ISO 8601; TuneCache::keep fills it in where it is empty

  friend bool operator==(const TuneEntry&, const TuneEntry&) = default;
};

/// What an entry belongs to. The file is sorted by these, in this order.
struct TuneKey {
  std::string device;       ///< "NVIDIA H200, 9.0": name and compute capability
  std::string driver;       ///< "13.0, toolkit 13.0"
  std::string kernel;       ///< TuneProblem::kernel
  std::string problem;      ///< TuneProblem::problem
  std::string kernel_hash;  ///< gpu::kernel_hash() of the build that measured

  friend auto operator<=>(const TuneKey&, const TuneKey&) = default;
};

/// What is to be launched. The device, the driver and the kernel hash are added by the tuner.
struct TuneProblem {
  std::string kernel;   ///< "wilson_hop"
  std::string problem;  ///< "16x16x16x32, half, 12 reals, 1 column, interior"
  double bytes = 0, flops = 0;
};

/// The file. All members may be called by several threads. No member is collective.
class TuneCache {
public:
  enum class Mode { read_write, read_only, off };
  using Entries = std::vector<std::pair<TuneKey, TuneEntry>>;

  /// @param path  empty: the place named above; mode as HALOCLINE_TUNE says: "read-write" (or nothing), "read-only" or
  ///              "off"
  /// @throws InvalidArgument  another word in HALOCLINE_TUNE
  static std::shared_ptr<TuneCache> open(const std::string& path = "");
  /// @param path      empty: entries are remembered in this process only
  /// @param defaults  a file of the same form that is only read; empty: none
  TuneCache(std::string path, Mode mode, std::string defaults = "");
  ~TuneCache();
  TuneCache(const TuneCache&) = delete;
  TuneCache& operator=(const TuneCache&) = delete;

  const std::string& path() const noexcept { return path_; }
  const std::string& defaults() const noexcept { return defaults_; }
  Mode mode() const noexcept { return mode_; }

  /// What this process knows, else what the file holds now, else a default of the same device, hash, kernel and
  /// problem, whatever its driver. Nothing in mode off.
  std::optional<TuneEntry> find(const TuneKey& key) const;
  /// Keeps the entry, and writes it to the file where the mode allows and the file does not have these parameters
  /// already. A file that cannot be written costs a warning
  /// (take_warnings()), once, and the entry is written with the next one that can be. Does nothing in mode off.
  /// Throws nothing but std::bad_alloc. Cost: the file is read and written.
  void keep(const TuneKey& key, const TuneEntry& entry);
  /// Everything that is known, sorted by key: what this process knows, the file and the defaults together, the word of
  /// the earlier over that of the later.
  Entries entries() const;
  /// Removes the entries whose key `matches`, here and in the file, and returns how many of the file's there were.
  /// Defaults stay.
  /// @throws FileError  where it is damaged or cannot be written; InvalidArgument in mode read_only
  int clear(const std::function<bool(const TuneKey&)>& matches);
  /// Removes the file, whatever it holds, and forgets everything but the defaults; no file is no error.
  /// @returns how many entries it held; 0 where it could not be read
  /// @throws FileError  where it cannot be removed; InvalidArgument in mode read_only
  int reset();
  /// Writes entries, as entries() gives them, in the form of the shippable defaults.
  /// @param matches  empty: all  @returns how many  @throws FileError
  int export_to(const std::string& path, const std::function<bool(const TuneKey&)>& matches = {}) const;
  /// Sentences about files that could not be used, each once.
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
  /// Seconds of one run; given instead of events in tests.
  using Clock = std::function<double(Stream&, const std::function<void()>&)>;

  Tuner(Device device, std::shared_ptr<TuneCache> cache, Clock clock = {});

  /// The parameters for a problem: remembered, or measured now. Threads that share the cache measure one after another,
  /// and `run` may itself ask for the parameters of what it launches.
  /// @param candidates  not empty; the first is the default
  /// @param run         enqueues one run; called many times, so it must be repeatable: the tuner's caller gives it
  ///                    outputs of its own where that matters
  /// @throws InvalidArgument  no candidates; whatever `run` throws for the last candidate, where it throws for every
  ///                          one: a candidate that cannot be launched is passed over
  /// Collective: no. Does not measure while the stream is capturing: then the first candidate is taken, and not kept.
  /// Cost: where remembered, a look-up under a lock (keep the answer beside what you launch); to measure, about 20 ms a
  /// candidate.
  TuneParameters best(Stream& stream, const TuneProblem& problem, std::span<const TuneParameters> candidates,
                      const std::function<void(const TuneParameters&)>& run);
  /// The same on all processes together, as halo policies need it: each candidate is run by all equally often, the
  /// slowest process counts, and all take the same. The entry is that of the first process, whose cache and mode decide
  /// for all; it is kept under the problem and the number of processes.
  /// @param candidates  the same on every process
  /// @param run         may be collective; then a candidate that cannot be launched must throw on every process
  /// @throws InvalidArgument  on every process: no candidates, or others than those of the first process
  /// @throws core::Error      on every process: every candidate failed on some process
  /// Collective: yes.
  TuneParameters best_for_all(Stream& stream, const TuneProblem& problem, std::span<const TuneParameters> candidates,
                              const std::function<void(const TuneParameters&)>& run, const comm::Communicator& group);

  TuneCache& cache() const noexcept { return *cache_; }
  /// What an entry for the problem would belong to.
  TuneKey key(const TuneProblem& problem) const;

private:
  bool measures(const Stream& stream) const;

  Device device_;
  std::shared_ptr<TuneCache> cache_;
  Clock clock_;
};

}  // namespace halocline::gpu
