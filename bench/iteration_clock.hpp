// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Times the iterations of a solver through its progress callback, alternating with a companion.
///
/// An iteration lasts from one tick to the next. Every `stride` ticks the clock stops and a block of the companion
/// runs, as long as an iteration; then all processes start again from a barrier. The time from the start of a solve to
/// its first tick is not counted, because it includes the set-up of the solve.

#include <cstdint>
#include <vector>

#include "bench/timing.hpp"

namespace halocline::bench {

class IterationClock {
public:
  /// @param companion  one execution; `companion_repeats` of them are a block
  IterationClock(const comm::Communicator& group, Work companion, int companion_repeats, int stride);

  /// The next tick starts an iteration without ending one.
  void pause() noexcept { running_ = false; }
  /// An iteration has ended. Collective when the companion runs, which is at the same ticks on every rank.
  void tick();

  /// Spread over the iterations; for each, the slowest process counts. Collective: yes.
  /// @throws InvalidArgument  no iteration was timed
  Spread iterations() const;
  /// Sum over all timed iterations; for each, the slowest process counts [s]. Collective: yes.
  double total() const;
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(samples_.size()); }
  Spread companion() const { return spread(companion_samples_); }

private:
  std::vector<Sample> slowest() const;
  void start();

  const comm::Communicator* group_;
  Work companion_;
  int companion_repeats_, stride_;
  int ticks_ = 0;
  bool running_ = false;
  double begin_ = 0, cpu_begin_ = 0;
  std::vector<Sample> samples_, companion_samples_;
};

}  // namespace halocline::bench
