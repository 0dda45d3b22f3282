// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/sums/field_sum.hpp"

#include "halocline/comm/group/world.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <thread>
#include <vector>

using namespace halocline;
using comm::Communicator;

TEST_CASE("field sum: the bits of a sum in rank order up to eight processes, beside other communication") {
  const Communicator world = comm::world();
  constexpr std::size_t values = 40'003;
  comm::FieldSum sum(world, values);
  std::mt19937 random(static_cast<unsigned>(world.rank()));
  for (int round = 0; round < 4; ++round) {
    std::vector<double> field(values);
    for (std::size_t i = 0; i < values; ++i)
      field[i] = 1.0 / (1.0 + static_cast<double>(i % 977) + 3.0 * world.rank() + round);
    std::vector<double> in_order = field, sums(values);
    sum.begin(field);
    if (random() % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    world.sum(in_order);
    if (round % 2 == 0)
      while (!sum.advance()) std::this_thread::yield();
    sum.wait(sums);
    REQUIRE(world.size() <= comm::FieldSum::most_in_a_row);
    CHECK(world.all(sums == in_order));
  }
}
