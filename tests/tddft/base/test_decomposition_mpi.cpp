// SPDX-License-Identifier: Apache-2.0

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/base/orbitals.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>

namespace halocline::tddft {
namespace {

System system_of(int states, std::array<int, 3> k) {
  System system;
  system.grid = {{17, 19, 32}, {0.5, 0.5, 0.5}, Boundary::periodic};
  system.jellium = JelliumSphere{1.0, 2.0, {}};
  system.channels = monkhorst_pack(system.grid, k);
  system.electrons = 2;
  system.states = states;
  return system;
}

/// Every division of the ranks that the system allows.
std::vector<ProcessCounts> divisions(int ranks, const System& system) {
  std::vector<ProcessCounts> all;
  for (int k = 1; k <= std::min<int>(ranks, static_cast<int>(system.channels.size())); ++k)
    for (int o = 1; o <= std::min(ranks, (system.states + 3) / 4); ++o)
      for (int x = 1; x <= 4; ++x)
        for (int y = 1; y <= 4; ++y)
          for (int z = 1; z <= 8; ++z)
            if (k * o * x * y * z == ranks) all.push_back({k, o, {x, y, z}});
  return all;
}

TEST_CASE("division: every orbital of every channel has every point exactly once") {
  const comm::Communicator world = comm::world();
  const System system = system_of(10, {2, 1, 1});
  const auto all = divisions(world.size(), system);
  REQUIRE(!all.empty());
  for (const ProcessCounts& counts : all) {
    CAPTURE(counts.text());
    const Decomposition division(world, system, counts);
    const std::int64_t blocks = division.all_blocks(), points = system.grid.points();
    REQUIRE(blocks == 3);
    std::vector<std::uint64_t> seen(static_cast<std::size_t>(2 * blocks * points), 0);
    const Box& box = division.box();
    for (std::int64_t channel = division.channels().begin; channel < division.channels().end; ++channel)
      for (std::int64_t block = division.blocks().begin; block < division.blocks().end; ++block)
        for (std::int64_t z = 0; z < box.extent[2]; ++z)
          for (std::int64_t y = 0; y < box.extent[1]; ++y)
            for (std::int64_t x = 0; x < box.extent[0]; ++x) {
              const std::int64_t point = x + box.offset[0] + 17 * (y + box.offset[1] + 19 * (z + box.offset[2]));
              ++seen[static_cast<std::size_t>(point + points * (block + blocks * channel))];
            }
    world.sum(std::span(seen));
    CHECK(std::all_of(seen.begin(), seen.end(), [](std::uint64_t n) { return n == 1; }));
    CHECK(Orbitals(division).values().size() ==
          static_cast<std::size_t>(division.channels().size() * division.blocks().size() * box.points() * 8));
  }
}

TEST_CASE("division: groups hold what they are said to share, and box_of tells where the others are") {
  const comm::Communicator world = comm::world();
  const System system = system_of(10, {2, 1, 1});
  for (const ProcessCounts& counts : divisions(world.size(), system)) {
    CAPTURE(counts.text());
    const Decomposition division(world, system, counts);
    CHECK(division.space().size() == counts.space[0] * counts.space[1] * counts.space[2]);
    CHECK(division.orbitals().size() == counts.orbitals);
    CHECK(division.box_mates().size() == counts.channels * counts.orbitals);
    const auto same = [](const comm::Communicator& group, std::array<double, 6> values) {
      std::array<double, 6> low = values, high = values;
      group.min(low);
      group.max(high);
      return low == high;
    };
    const Box& box = division.box();
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    CHECK(same(division.box_mates(), {number(box.offset[0]), number(box.offset[1]), number(box.offset[2]),
                                      number(box.extent[0]), number(box.extent[1]), number(box.extent[2])}));
    CHECK(same(division.space(), {number(division.channels().begin), number(division.channels().end),
                                  number(division.blocks().begin), number(division.blocks().end), 0, 0}));
    CHECK(same(division.orbitals(), {number(box.offset[0]), number(box.offset[1]), number(box.offset[2]),
                                     number(division.channels().begin), 0, 0}));
    CHECK(box.offset == division.box_of(division.space().rank()).offset);
    for (std::int64_t block = 0; block < division.all_blocks(); ++block) {
      const bool mine = block >= division.blocks().begin && block < division.blocks().end;
      CHECK(mine == (division.orbital_part_of(block) == division.orbitals().rank()));
    }
  }
}

TEST_CASE("division: an impossible one is refused on every rank") {
  const comm::Communicator world = comm::world();
  const System system = system_of(10, {2, 1, 1});
  CHECK_THROWS_AS(Decomposition(world, system, {world.size() + 1, 1, {1, 1, 1}}), core::InvalidArgument);
  CHECK_THROWS_AS(Decomposition(world, system, {1, 4 * world.size(), {1, 1, 1}}), core::InvalidArgument);
  if (world.size() > 4)
    CHECK_THROWS_AS(Decomposition(world, system, {1, 1, {world.size(), 1, 1}}), core::InvalidArgument);
}

}  // namespace
}  // namespace halocline::tddft
