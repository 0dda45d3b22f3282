// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `halo --stress`: very many exchanges in every way that the rules allow, every byte verified.
///
/// The run is cut into legs. Each draws its own process grid, open or periodic axes, and three exchanges of different
/// sizes that share buffers. Each step draws, equally on every rank, which of them to use, which faces to post (all,
/// some, one way only), in how many posts, and whether a reduction runs meanwhile; and on every rank apart, where to
/// pause, in what order and by which call to wait, and when to read. All of it follows from the seed; what the seed
/// does not fix on real processes is their timing. Under the simulated transport it fixes that too, message by message.
///
/// Every word of a message is a function of seed, step, sender and face, so that stale, torn or misplaced data cannot
/// pass.

#include <cstdint>
#include <functional>
#include <string>

#include "bench/carrier.hpp"

namespace halocline::bench {

struct HaloStressCase {
  Carrier carrier{"shared_memory", 2};
  std::int64_t exchanges = 1'000'000;  ///< steps in which all ranks take part
  std::uint64_t seed = 1;
  std::int64_t longest = 4096;  ///< message [bytes]
  double time_limit =
      60.0;  ///< [s] of a wait, of exchanges and of collectives; of the simulated clock under the simulated transport
  int ranks = 4;        ///< simulated: at most so many in a leg, at least 2
  double damage = 0.0;  ///< simulated: the probability that a message is damaged, to see that it is found
};

/// Told after each leg, on every rank: exchanges done, and a few words.
using StressProgress = std::function<void(std::int64_t done, const std::string& words)>;

/// Runs the exchanges; a transport that cannot serve the group is `skipped`. The key "result" counts exchanges,
/// messages, bytes and reductions verified, of all ranks together. `seconds` is a step, its spread over the legs.
/// @param group  all ranks of it take part; under the transport `simulated` a single process, which simulates them
/// @throws core::InvalidArgument  numbers out of range, or an unknown transport; on every rank
/// @throws core::Error            the first wrong byte: rank, face, step, seed, and what was expected; on every rank.
/// Or
///                                what the exchange threw
/// Collective: yes.
Result halo_stress(const comm::Communicator& group, const HaloStressCase& parameters, const StressProgress& progress);

}  // namespace halocline::bench
