// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A run of many ranks inside one thread, with a clock of its own, the same in every repetition.
///
/// `simulate(ranks, options, program)` calls `program(group)` once for every rank, each on a stack of its own. One rank
/// runs at a time; whenever it waits (for a message, a collective, a face) another goes on. Which one is drawn from a
/// seeded generator, and so are the delays of the simulated network (transport `simulated`), so that a seed is one
/// interleaving out of very many, and any failure can be had again. Time is simulated too: it advances by what ranks
/// and messages are said to cost, and jumps to the next event when all ranks wait. Time limits are limits of this time,
/// so a stalled rank costs no real waiting.
///
/// The group that the program gets is a Communicator like any other: process grids, exchanges, reductions and all that
/// stands on them run on it unchanged.

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
  double jitter = 5e-6;    ///< each piece of a message takes up to so much longer, at random
  double bytes_per_second = 1e10;
  std::size_t piece_bytes = 256;    ///< the data of a message travels in pieces of this size, which may overtake
  double pause_probability = 0.0;   ///< at each communication, that a rank pauses first,
  double pause = 1e-4;              ///< for up to so long
  double damage_probability = 0.0;  ///< for each message of transport `simulated`, that one of its bits is flipped
  int stalled_rank = -1;            ///< stops for ever
  double stalled_after = 0.0;       ///< at this time
  int dead_rank = -1;               ///< ends without a word, known to have ended,
  double dead_after = 0.0;          ///< at this time
};

/// What a simulation did.
struct SimulationReport {
  double seconds = 0;          ///< simulated
  std::uint64_t switches = 0;  ///< times that another rank went on
  std::uint64_t messages = 0;  ///< put by transport `simulated`
};

/// Runs the program on all ranks to their ends.
/// @throws InvalidArgument  fewer than 1 rank, or options out of range
/// @throws core::Error      when all ranks wait and nothing is under way (a deadlock); whatever the program threw on
/// the
///                          lowest rank that threw, after all ranks have ended. A rank that an option stops is no
///                          error
/// The stacks of ranks that are stopped, or wait for ever, are unwound at the end, by an exception of no known type.
/// Collective: no; a simulated rank that calls it runs a simulation of its own, while its own clock stands.
/// Cost: a stack of 256 KiB a rank, touched as far as used; tens of nanoseconds a turn and an event.
SimulationReport simulate(int ranks, const SimulationOptions& options,
                          const std::function<void(const Communicator&)>& program);

}  // namespace halocline::comm
