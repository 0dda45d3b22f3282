// SPDX-License-Identifier: Apache-2.0
//
// Messages between rank 0 and every other rank: each arrives whole, in its own buffer, again and again, and a rank that
// stays away is an error.

#include <doctest/doctest.h>

#include "halocline/comm/group/star.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

using namespace halocline;
using comm::Star;

namespace {

std::byte value(int rank, int round, std::size_t i) {
  return static_cast<std::byte>((31 * static_cast<std::size_t>(rank) + 7 * static_cast<std::size_t>(round) + i) % 251);
}
void fill(std::span<std::byte> bytes, int rank, int round) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value(rank, round, i);
}
bool holds(std::span<const std::byte> bytes, int rank, int round) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != value(rank, round, i)) return false;
  return true;
}

/// Messages to rank 0, and doubled ones back.
void there_and_back(Star& star, int round) {
  const int me = star.communicator().rank(), ranks = star.communicator().size();
  if (me != 0) {
    fill(star.buffer(me), me, round);
    star.send(me);
    CHECK(star.next() == me);
    CHECK(star.next() == -1);
    star.receive(me);
    CHECK(star.next() == me);
    CHECK(holds(star.buffer(me), me + 100, round));
    return;
  }
  std::vector<int> seen;
  for (int r = 1; r < ranks; ++r) star.receive(r);
  for (int r; (r = star.next()) >= 0;) {
    CHECK(holds(star.buffer(r), r, round));
    seen.push_back(r);
  }
  std::ranges::sort(seen);
  CHECK(seen.size() == static_cast<std::size_t>(ranks - 1));
  CHECK(std::ranges::adjacent_find(seen) == seen.end());
  for (int r = 1; r < ranks; ++r) {
    fill(star.buffer(r), r + 100, round);
    star.send(r);
  }
  int sent = 0;
  while (star.next() >= 0) ++sent;
  CHECK(sent == ranks - 1);
}

}  // namespace

TEST_CASE("star: messages of every rank reach rank 0 whole and come back, of any length, with and without a limit") {
  const comm::Communicator world = comm::world();
  for (const double limit : {60.0, std::numeric_limits<double>::infinity()}) {
    Star star(world.split(0, world.rank()), limit);
    int round = 0;
    // Lengths around the size beyond which MPI waits for the receiver, and shorter ones after longer ones.
    for (const std::size_t bytes : {1u, 4096u, 300001u, 17u}) {
      star.resize(bytes);
      there_and_back(star, ++round);
    }
  }
}

TEST_CASE("star: buffers of other ranks, a message under way and times that are not positive are refused") {
  const comm::Communicator world = comm::world();
  Star star(world.split(0, world.rank()), 60.0);
  star.resize(8);
  const int me = world.rank();
  CHECK_THROWS_AS(star.buffer(me == 0 ? 0 : me - 1), core::InvalidArgument);
  CHECK_THROWS_AS(star.send(world.size()), core::InvalidArgument);
  CHECK(star.next() == -1);
  for (const double wrong : {0.0, -1.0}) CHECK_THROWS_AS(Star(world, wrong), core::InvalidArgument);
  if (world.size() == 1) return;
  const int partner = me == 0 ? 1 : me;
  if (me > 1) return;  // no message for them
  me == 0 ? star.receive(partner) : star.send(partner);
  CHECK_THROWS_AS(star.resize(16), core::InvalidArgument);
  CHECK_THROWS_AS(star.send(partner), core::InvalidArgument);
  CHECK(star.next() == partner);
}

TEST_CASE("star: a message of another length is an error that gives both lengths") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;  // nobody sends
  Star star(world.split(0, world.rank()), 60.0);
  star.resize(world.rank() == 1 ? 4 : 8);
  if (world.rank() == 1) {
    star.send(1);
    CHECK(star.next() == 1);
  }
  if (world.rank() == 0) {
    star.receive(1);
    CHECK_THROWS_WITH_AS(star.next(), "rank 0: received 4 bytes from rank 1, expected 8", core::Error);
  }
}

TEST_CASE("star: a rank that stays away is an error that names it, and nothing can be sent afterwards") {
  const comm::Communicator world = comm::world();
  Star star(world.split(0, world.rank()), 0.2);
  star.resize(64);
  const int absent = world.size() - 1;
  if (world.size() > 1 && world.rank() == 0) {
    star.receive(absent);
    try {
      star.next();
      FAIL("the wait for a message that nobody sends has ended");
    } catch (const core::Error& error) {
      const std::string sentence = error.what();
      CAPTURE(sentence);
      CHECK(sentence.find("rank 0: rank " + std::to_string(absent) + " has not sent its message within 0.2 s") == 0);
    }
    CHECK_THROWS_AS(star.send(absent), core::Error);
    CHECK(star.next() == -1);
  }
  world.barrier();
}
