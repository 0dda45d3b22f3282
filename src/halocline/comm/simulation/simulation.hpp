// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Simulates many ranks inside one thread, with a simulated clock. Every repetition gives the same run.
///
/// `simulate(ranks, options, program)` calls `program(group)` once for every rank, each on a stack of its own. One
/// rank runs at a time. Whenever it waits (for a message, a collective, a face) another rank goes on. A seeded
/// generator draws this rank, and also the delays of the simulated network (transport `simulated`). So a seed is one
/// interleaving out of very many, and every failure can be repeated. Time is simulated too. It stands still while any
/// rank can run, and then jumps to the next event: a message arrives, say, or a pause ends. Time limits count this
/// time, so a stalled rank costs no real waiting.
///
/// The program gets a Communicator like any other. Process grids, exchanges, reductions and all code built on them
/// run on it unchanged.

#include "halocline/comm/group/communicator.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace halocline::comm {

/// The simulated machine and network. Times in seconds of the simulated clock.
struct SimulationOptions {
  std::uint64_t seed = 1;
  int ranks_per_node = 0;  ///< consecutive ranks that share memory; 0: all of them
  double latency = 1e-6;   ///< least time of a message
  double jitter = 5e-6;    ///< longest extra time of each piece of a message, drawn at random
  double bytes_per_second = 1e10;
  std::size_t piece_bytes = 256;    ///< a message travels in pieces of this size, which may overtake each other
  double pause_probability = 0.0;   ///< that a rank pauses before a communication
  double pause = 1e-4;              ///< longest such pause
  double damage_probability = 0.0;  ///< for each message of transport `simulated`, that one of its bits is flipped
  int stalled_rank = -1;            ///< this rank stops for ever; -1: none
  double stalled_after = 0.0;       ///< when it stops
  int dead_rank = -1;               ///< this rank ends without a word, and the others can know it; -1: none
  double dead_after = 0.0;          ///< when it ends
};

/// The figures of a finished simulation.
struct SimulationReport {
  double seconds = 0;          ///< simulated
  std::uint64_t switches = 0;  ///< switches from one rank to another
  std::uint64_t messages = 0;  ///< messages put by transport `simulated`
};

/// Runs the program on all ranks to their ends.
/// @throws InvalidArgument  fewer than 1 rank, or options out of range
/// @throws core::Error      when all ranks wait and nothing is under way (a deadlock)
/// Also throws the exception that the program threw on the lowest such rank, after all ranks have ended. A rank that
/// an option stops is no error. The stacks of ranks that are stopped, or wait for ever, are unwound at the end, by an
/// exception of no known type.
/// Collective: no. A simulated rank that calls it runs a simulation of its own, while its own clock stands still.
/// Cost: a stack of 256 KiB a rank, touched as far as used; tens of nanoseconds a turn and an event.
SimulationReport simulate(int ranks, const SimulationOptions& options,
                          const std::function<void(const Communicator&)>& program);

}  // namespace halocline::comm
