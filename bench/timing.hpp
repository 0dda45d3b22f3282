// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Timing on a machine that other users share: many short blocks, and their median.
///
/// A block repeats the work until it lasts about half a millisecond, much less than a scheduler's time slice. So most
/// blocks run undisturbed, and the median is one of these. A ceiling to be compared with the work is measured in its
/// own blocks *between* those of the work, so that other load on the machine slows both.
///
/// Work that lasts longer than a time slice cannot avoid disturbance in this way. The blocks of its companion are then
/// made as long as its own, so that their ratio is still meaningful. CPU time is kept beside the wall time: for one
/// thread it excludes the waiting for a core.
///
/// On several processes a block starts together, and the slowest process determines its length.

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "halocline/comm/group/communicator.hpp"

namespace halocline::bench {

/// Seconds of one execution.
struct Spread {
  double median = 0, minimum = 0, maximum = 0;
  int runs = 0;                                              ///< number of blocks measured
  double cpu = 0;                                            ///< median CPU time of one execution, for one thread
  double joules = std::numeric_limits<double>::quiet_NaN();  ///< of one execution; NaN where nothing counts them
  double watts = std::numeric_limits<double>::quiet_NaN();   ///< mean power while they were counted
};

/// How long to measure.
struct Effort {
  double seconds = 0.5;           ///< approximate total time, without the warm-up
  double block_seconds = 0.0005;  ///< a block repeats the work until it lasts this long
  int minimum_runs = 5;           ///< least number of blocks, however long they last
  int maximum_runs = 20000;

  /// @throws InvalidArgument  times that are not positive, or inconsistent numbers of runs
  void validate() const;
};

using Work = std::function<void()>;

/// Wall-clock time since an arbitrary start [s].
double now() noexcept;
/// CPU seconds of this process, all threads.
double cpu_now() noexcept;

/// Seconds of one execution: wall time, and CPU time of one thread.
struct Sample {
  double wall = 0, cpu = 0;
};

/// Median, minimum and maximum of samples.
/// @throws InvalidArgument  there are no samples
Spread spread(std::span<const Sample> samples);

/// Times one block of `repeats` executions and returns the time of one execution; the slowest process counts.
/// Collective: yes.
Sample time_block(const comm::Communicator& group, const Work& work, int repeats = 1);

/// Joules that all nodes have used since some time, the same on every rank; NaN where nothing counts them. Collective.
using EnergyCounter = std::function<double()>;
/// Sets the counter that later measurements read, on every rank; an empty one for none, as at first.
void set_energy_counter(EnergyCounter counter);

/// Sets `joules` and `watts` of a measurement: the work is done again for at least a second, and nothing else
/// meanwhile, because counters are updated 10 to 1000 times a second. Does nothing where nothing counts energy.
/// Collective: yes.
void count_energy(Spread& measured, const comm::Communicator& group, const Work& work);
/// @param block  does a number of executions and returns the seconds of one, the same on every rank
void count_energy(Spread& measured, const std::function<double(int)>& block);

/// Seconds of one `work()`, after a warm-up, without its energy. Collective: yes. Every rank gets the same numbers.
Spread measure(const comm::Communicator& group, const Work& work, const Effort& effort);

/// The same for several pieces of work whose blocks alternate in the given order, so that a temporary load slows all of
/// them. The effort's seconds are the total of all, and all blocks are as long as the longest. The energy of each is
/// counted. Collective: yes.
std::vector<Spread> measure_in_turns(const comm::Communicator& group, std::span<const Work> works,
                                     const Effort& effort);

struct Pair {
  Spread work, companion;
};
/// Measures two pieces of work in turns, and counts the energy of the first.
Pair measure_together(const comm::Communicator& group, const Work& work, const Work& companion, const Effort& effort);

/// Sets the number of OpenMP threads of this process for its lifetime.
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
