// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Times the iterations of a solver from inside, by its progress callback, with a companion in turns.
///
/// An iteration lasts from one tick to the next. Every `stride` ticks the clock stops, a block of the companion runs,
/// as long as an iteration, and all processes start again from a barrier. What lies between the start of a solve and
/// its first tick is not counted: it has the set-up of the solve in it.

#include <cstdint>
#include <vector>

#include "bench/timing.hpp"

namespace halocline::bench {

class IterationClock {
public:
  /// @param companion  one execution; `companion_repeats` of them are a block
  IterationClock(const comm::Communicator& group, Work companion, int companion_repeats, int stride);

  /// The next tick begins an iteration and ends none.
  void pause() noexcept { running_ = false; }
  /// An iteration has ended. Collective where the companion's turn has come, which is the same on every rank.
  void tick();

  /// Over the iterations: each lasted as long as on the slowest process. Collective: yes.
  /// @throws InvalidArgument  when none was timed
  Spread iterations() const;
  /// Seconds of all timed iterations, a process, the slowest counting, and how many they were. Collective: yes.
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
