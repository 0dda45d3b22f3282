// SPDX-License-Identifier: Apache-2.0
//
// Messages between rank 0 and the others on simulated ranks: any delays give the same bytes, and a rank that has
// stopped or ended is reported after the time limit of the simulated clock.

#include <doctest/doctest.h>

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/star.hpp"
#include "halocline/comm/simulation/simulation.hpp"
#include "halocline/core/error.hpp"

#include <cstddef>
#include <string>

using namespace halocline;
using comm::Communicator;
using comm::Star;

namespace {

/// The error of rank 0, which waits for a message of every other rank; empty without one.
std::string failure(const comm::SimulationOptions& options) {
  std::string sentence;
  comm::simulate(4, options, [&](const Communicator& group) {
    Star star(group, 0.05);
    star.resize(8);
    const int me = group.rank();
    // The rank of the options has not sent when it stops.
    const bool late = me == options.stalled_rank || me == options.dead_rank;
    while (late && group.backend().now() < 1e-2) group.backend().idle();
    try {
      if (me > 0) star.send(me);
      for (int r = 1; me == 0 && r < 4; ++r) star.receive(r);
      while (star.next() >= 0) {
      }
    } catch (const core::Error& error) {
      if (me == 0) sentence = error.what();
    }
  });
  return sentence;
}

}  // namespace

TEST_CASE("star: simulated delays do not change what arrives") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const int ranks : {1, 2, 3, 7}) {
      int wrong = 0, messages = 0;
      comm::simulate(ranks, {.seed = seed, .pause_probability = 0.2}, [&](const Communicator& group) {
        Star star(group, 10.0);
        star.resize(1000);
        const int me = group.rank();
        for (int round = 0; round < 5; ++round) {
          const auto mark = [&](int rank) { return static_cast<std::byte>(16 * round + rank); };
          if (me > 0) {
            star.buffer(me).back() = mark(me);
            star.send(me);
          }
          for (int r = 1; me == 0 && r < ranks; ++r) star.receive(r);
          for (int r; (r = star.next()) >= 0;) {
            wrong += star.buffer(r).back() != mark(r);
            ++messages;
          }
        }
      });
      CHECK(wrong == 0);
      CHECK(messages == 2 * 5 * (ranks - 1));  // each is counted by its sender and by rank 0
    }
}

TEST_CASE("star: a stalled rank and an ended one are errors, no hangs") {
  CHECK(failure({.seed = 3}).empty());
  const std::string stalled = failure({.seed = 3, .stalled_rank = 2, .stalled_after = 1e-3});
  CHECK(stalled.find("rank 2 has not sent its message within 0.05 s") != std::string::npos);
  const std::string dead = failure({.seed = 3, .dead_rank = 3, .dead_after = 1e-3});
  CHECK(dead.find("rank 3 has ended and has not sent its message") != std::string::npos);
}
