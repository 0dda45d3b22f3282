// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `halo --stress`: very many exchanges in every way that the rules allow, every byte verified.
///
/// The run consists of legs. Each leg draws its own process grid, open or periodic axes, and three exchanges of
/// different sizes that share buffers. Each step draws, equally on every rank, which exchanges to use, which faces to
/// post (all, some, one direction only), in how many posts, and whether a reduction runs meanwhile. It also draws,
/// differently on each rank, where to pause, in what order and by which call to wait, and when to read. The seed
/// determines all of these choices. On real processes it does not determine the timing; under the simulated transport
/// it does, message by message.
///
/// Every word of a message is a function of seed, step, sender and face, so stale, torn or misplaced data are detected.

#include <cstdint>
#include <functional>
#include <string>

#include "bench/carrier.hpp"

namespace halocline::bench {

struct HaloStressCase {
  Carrier carrier{"shared_memory", 2};
  std::int64_t exchanges = 1'000'000;  ///< steps in which all ranks take part
  std::uint64_t seed = 1;
  std::int64_t longest = 4096;  ///< largest message [bytes]
  double time_limit =
      60.0;             ///< longest wait of exchanges and collectives [s]; simulated time under the simulated transport
  int ranks = 4;        ///< simulated transport: at most this many in a leg, at least 2
  double damage = 0.0;  ///< simulated transport: probability to damage a message, to test the detection
};

/// Called after each leg, on every rank, with the number of exchanges done and a short text.
using StressProgress = std::function<void(std::int64_t done, const std::string& words)>;

/// Runs the exchanges; `skipped` if a transport cannot serve the group. The key "result" counts the exchanges,
/// messages, bytes and reductions verified, over all ranks. `seconds` is the time of a step, with its spread over the
/// legs.
/// @param group  all of its ranks take part; for the transport `simulated` a single process, which simulates the ranks
/// @throws core::InvalidArgument  numbers out of range, or an unknown transport; on every rank
/// @throws core::Error            the first wrong byte, with rank, face, step, seed and the expected value, or an error
///                                of the exchange; on every rank
/// Collective: yes.
Result halo_stress(const comm::Communicator& group, const HaloStressCase& parameters, const StressProgress& progress);

}  // namespace halocline::bench
