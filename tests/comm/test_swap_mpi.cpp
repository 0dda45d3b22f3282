// SPDX-License-Identifier: Apache-2.0
//
// Swaps of messages between memory of the caller's: both arrive, in any number at a time.

#include <doctest/doctest.h>

#include "halocline/comm/group/swap.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <cstddef>
#include <thread>
#include <vector>

using namespace halocline;

TEST_CASE("swap: every rank gets what every other sent it, lengths differing both ways") {
  const comm::Communicator world = comm::world();
  const int me = world.rank();
  const auto length = [](int from, int to) { return static_cast<std::size_t>(1 + 700 * from + 31 * to); };
  const auto value = [](int from, int to) { return static_cast<std::byte>(16 * from + to + 1); };
  std::vector<std::vector<std::byte>> out, in;
  std::vector<comm::Swap> swaps;
  for (int other = 0; other < world.size(); ++other) {
    out.emplace_back(length(me, other), value(me, other));
    in.emplace_back(length(other, me));
  }
  for (int other = 0; other < world.size(); ++other) {
    const auto at = static_cast<std::size_t>(other);
    if (other != me) swaps.emplace_back(world, out[at], in[at], other, 5);
  }
  for (comm::Swap& swap : swaps)
    while (!swap.done()) std::this_thread::yield();
  for (int other = 0; other < world.size(); ++other) {
    const auto at = static_cast<std::size_t>(other);
    if (other != me) CHECK(in[at] == std::vector<std::byte>(length(other, me), value(other, me)));
  }
}

TEST_CASE("swap: a partner that is no other rank is refused, and an empty swap is done") {
  const comm::Communicator world = comm::world();
  std::vector<std::byte> mine(8), theirs(8);
  for (const int partner : {-1, world.rank(), world.size()})
    CHECK_THROWS_AS(comm::Swap(world, mine, theirs, partner, 0), core::InvalidArgument);
  CHECK(comm::Swap().done());
}
