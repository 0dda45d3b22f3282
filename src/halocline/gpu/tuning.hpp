// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The autotuner: the fastest of a few ways to launch a kernel, measured once and remembered.
///
/// A kernel is launched with parameters that change its speed and never its result: TuneParameters. The first time that
/// a problem is met, each candidate is run a few times between events and the quickest is kept, in this process and in
/// a JSON file that all processes and later runs share. An entry belongs to a device (name and compute capability), a
/// driver, the content of the device code (kernel_hash()), and the kernel's name and problem.
///
/// The file: `$HALOCLINE_TUNE_CACHE`, else `$XDG_CACHE_HOME/halocline/tune.json`, else `~/.cache/halocline/tune.json`.
/// It is replaced whole, under a lock, after what others wrote meanwhile has been taken in. With
/// HALOCLINE_TUNE=read-only it is never written, with HALOCLINE_TUNE=off nothing is measured and the first candidate is
/// taken. Defaults that come with the package are read where the file has no entry. A file that cannot be read is named
/// in a warning, left alone, and done without.
///
/// The host executor measures nothing: the first candidate is the answer. Tests that measure give a clock of their own.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

struct TuneEntry {
  TuneParameters parameters;
  double seconds = 0;           ///< of one run
  double bytes = 0, flops = 0;  ///< of one run, 0 where they were not told
  std::string when{};           ///< date of the measurement, ISO 8601
};

/// What an entry is about. The device, the driver and the kernel hash are added by the tuner.
struct TuneProblem {
  std::string kernel;   ///< "wilson_hop"
  std::string problem;  ///< "16x16x16x32, half, 12 reals, 1 column, interior"
  double bytes = 0, flops = 0;
};

/// The file. All members may be called by several threads. No member is collective.
class TuneCache {
public:
  enum class Mode { read_write, read_only, off };

  /// @param path  empty: the place named above; mode as HALOCLINE_TUNE says
  static std::shared_ptr<TuneCache> open(std::string path = "");
  TuneCache(std::string path, Mode mode);

  const std::string& path() const noexcept { return path_; }
  Mode mode() const noexcept { return mode_; }
  /// @param device_key, hash, key  as make_key and friends build them
  std::optional<TuneEntry> find(const std::string& key) const;
  /// Keeps the entry, and writes it to the file where the mode allows. A file that cannot be written costs a warning
  /// (warnings()), once.
  void keep(const std::string& key, const TuneEntry& entry);
  /// Everything that is known, sorted by key: file and defaults together, the file's word over the defaults'.
  std::vector<std::pair<std::string, TuneEntry>> entries() const;
  /// Removes what `matches` of the key, and returns how many; the file is rewritten.
  /// @throws FileError  where it cannot be; InvalidArgument in read-only mode
  int clear(const std::function<bool(const std::string&)>& matches);
  /// Writes entries in the form of the shippable defaults. @throws FileError
  void export_to(const std::string& path) const;
  /// Sentences about files that could not be used, each once.
  std::vector<std::string> take_warnings();

private:
  struct State;
  std::string path_;
  Mode mode_;
  std::shared_ptr<State> state_;
};

class Tuner {
public:
  /// Seconds of one run; given instead of events in tests.
  using Clock = std::function<double(Stream&, const std::function<void()>&)>;

  Tuner(const Device& device, std::shared_ptr<TuneCache> cache, Clock clock = {});

  /// The parameters for a problem: remembered, or measured now.
  /// @param candidates  not empty; the first is the default
  /// @param run         enqueues one run; may be called many times, so it must be repeatable: the tuner's caller gives
  /// it
  ///                    outputs of its own where that matters
  /// @throws whatever run throws for every candidate; one that cannot be launched is passed over
  /// Collective: no. Does not measure while the stream is capturing: then the first candidate is taken, and not kept.
  TuneParameters best(Stream& stream, const TuneProblem& problem, std::span<const TuneParameters> candidates,
                      const std::function<void(const TuneParameters&)>& run);
  /// The same on all processes together, as halo policies need it: each candidate is run by all, the slowest process
  /// counts, and all take the same. @param run  collective. Collective: yes.
  TuneParameters best_for_all(Stream& stream, const TuneProblem& problem, std::span<const TuneParameters> candidates,
                              const std::function<void(const TuneParameters&)>& run, const comm::Communicator& group);

  TuneCache& cache() const noexcept { return *cache_; }

private:
  std::string key(const TuneProblem& problem) const;

  Device device_;
  std::shared_ptr<TuneCache> cache_;
  Clock clock_;
};

}  // namespace halocline::gpu
