// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Times on a machine that others use too: many short blocks, and the median of them.
///
/// A block repeats the work until it lasts about half a millisecond, far less than a scheduler's time slice, so that
/// most blocks run undisturbed and the median is one of these. A ceiling that is to be compared with the work is
/// measured by blocks of its own *between* those of the work: whatever slows the machine then slows both.
///
/// Work that lasts longer than a time slice cannot escape its neighbours that way. Its companion's blocks are made as
/// long as its own, so that the ratio of the two still means something, and the CPU time is kept beside the wall time:
/// on one thread it leaves out the waiting for a core.
///
/// On several processes a block begins together and lasts as long as the slowest of them.

#include <functional>
#include <span>
#include <vector>

#include "halocline/comm/communicator.hpp"

namespace halocline::bench {

/// Seconds of one execution.
struct Spread {
  double median = 0, minimum = 0, maximum = 0;
  int runs = 0;    ///< blocks measured
  double cpu = 0;  ///< median CPU time of one execution, a thread
};

/// How long to measure.
struct Effort {
  double seconds = 0.5;           ///< about so long in all, without the warm-up
  double block_seconds = 0.0005;  ///< a block repeats the work until it lasts so long
  int minimum_runs = 5;           ///< blocks at least, whatever they last
  int maximum_runs = 20000;

  /// @throws InvalidArgument  for times that are not positive or numbers of runs that do not fit together
  void validate() const;
};

using Work = std::function<void()>;

/// Wall clock since some moment [s].
double now() noexcept;
/// CPU seconds of this process, all threads.
double cpu_now() noexcept;

/// Seconds of one execution, by the clock and of CPU a thread.
struct Sample {
  double wall = 0, cpu = 0;
};

/// Median, minimum and maximum of samples.
/// @throws InvalidArgument  when there are none
Spread spread(std::span<const Sample> samples);

/// One timed block of `repeats` executions, a sample an execution; the slowest process counts. Collective: yes.
Sample time_block(const comm::Communicator& group, const Work& work, int repeats = 1);

/// Seconds of one `work()`, after a warm-up. Collective: yes, and every rank gets the same numbers.
Spread measure(const comm::Communicator& group, const Work& work, const Effort& effort);

/// The same for several pieces of work whose blocks take turns, in the order given: what slows the machine for a while
/// slows all of them. The effort's seconds are those of all together, and all blocks last as long as the longest.
/// Collective: yes.
std::vector<Spread> measure_in_turns(const comm::Communicator& group, std::span<const Work> works,
                                     const Effort& effort);

struct Pair {
  Spread work, companion;
};
/// Two pieces of work in turns.
Pair measure_together(const comm::Communicator& group, const Work& work, const Work& companion, const Effort& effort);

/// Sets the OpenMP threads of this process for its lifetime.
class Threads {
public:
  /// @throws InvalidArgument  unless 1 <= count <= 4096
  explicit Threads(int count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

private:
  int before_;
};

}  // namespace halocline::bench
