// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cstddef>
#include <thread>
#include <vector>

#include "halocline/core/team_barrier.hpp"

namespace halocline::core {

TEST_CASE("team barrier: what was written before is seen by all after, thousands of times, with few cores and many") {
  for (const int threads : {1, 2, 3, 5}) {
    TeamBarrier barrier;
    constexpr int rounds = 3000;
    std::vector<int> written(static_cast<std::size_t>(threads), 0);  // plain: the barrier alone orders it
    std::vector<int> wrong(static_cast<std::size_t>(threads), 0);
    const auto work = [&](int me) {
      for (int round = 1; round <= rounds; ++round) {
        written[static_cast<std::size_t>(me)] = round;
        barrier.wait(threads);
        for (const int value : written)
          if (value != round) ++wrong[static_cast<std::size_t>(me)];
        barrier.wait(threads);
      }
    };
    std::vector<std::thread> team;
    for (int me = 1; me < threads; ++me) team.emplace_back(work, me);
    work(0);
    for (auto& member : team) member.join();
    for (const int count : wrong) CHECK(count == 0);
  }
}

}  // namespace halocline::core
