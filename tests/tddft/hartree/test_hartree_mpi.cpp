// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/world.hpp"
#include "halocline/tddft/hartree/hartree.hpp"
#include "halocline/tddft/hartree/pencils.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/hartree/densities.hpp"

#include <bit>
#include <doctest/doctest.h>
#include <string>

namespace halocline::tddft {
namespace {

using namespace densities;

/// Every division of the ranks over at most 8 channels, 8 blocks and boxes of 4 points or more.
std::vector<ProcessCounts> divisions(int ranks, const Grid& grid) {
  std::vector<ProcessCounts> all;
  const auto parts = [&](std::size_t axis) { return std::max(1, static_cast<int>(grid.extent[axis] / 4)); };
  for (int k = 1; k <= ranks; ++k)
    for (int o = 1; o <= ranks; ++o)
      for (int x = 1; x <= parts(0); ++x)
        for (int y = 1; y <= parts(1); ++y)
          for (int z = 1; z <= parts(2); ++z)
            if (k * o * x * y * z == ranks) all.push_back({k, o, {x, y, z}});
  return all;
}

/// This process's box of a field on the whole grid.
Values boxed(const Values& whole, const Grid& grid, const Box& box) {
  Grid part = grid;
  part.extent = box.extent;
  return on_indices(part, [&](const std::array<std::int64_t, 3>& i) {
    return whole[index(grid, {i[0] + box.offset[0], i[1] + box.offset[1], i[2] + box.offset[2]})];
  });
}

bool same_everywhere(const comm::Communicator& group, const Values& values) {
  std::vector<std::uint32_t> bits(values.size());
  bool same = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto all = std::bit_cast<std::uint64_t>(values[i]);
    bits[i] = static_cast<std::uint32_t>(all ^ (all >> 32));
  }
  for (int root = 0; root < group.size(); ++root) {
    std::vector<std::uint32_t> theirs = bits;
    group.broadcast(std::as_writable_bytes(std::span(theirs)), root);
    same = same && theirs == bits;
  }
  return group.all(same);
}

void check_all_divisions(const Grid& grid) {
  const comm::Communicator world = comm::world();
  const System system = system_on(grid, 8, 32);
  const Values n = scattered(grid.points(), 7);
  Hartree alone(Decomposition(comm::Communicator::self(), system, {}));
  Values expected(n.size());
  alone.solve(expected, n);

  for (const ProcessCounts& counts : divisions(world.size(), grid)) {
    const Decomposition division(world, system, counts);
    const Values mine = boxed(n, grid, division.box()), wanted = boxed(expected, grid, division.box());
    for (const HartreeShare share : {HartreeShare::redundant, HartreeShare::shared}) {
      CAPTURE(counts.text());
      CAPTURE(static_cast<int>(share));
      Hartree hartree(division, share);
      CHECK(hartree.share() == share);
      for (int repetition = 0; repetition < 2; ++repetition) {  // what a solution leaves in the buffers is harmless
        Values v(mine.size(), std::nan(""));
        hartree.solve(v, mine);
        CHECK(world.all(largest_difference(v, wanted) < 1e-13 * largest(expected)));
        CHECK(same_everywhere(division.box_mates(), v));
      }
    }
  }
}

}  // namespace

TEST_CASE("hartree: every division gives a periodic cell's potential, shared or not") {
  check_all_divisions({{9, 10, 8}, {0.5, 0.4, 0.6}, Boundary::periodic});
}

TEST_CASE("hartree: every division gives an oblique cell's potential, shared or not") {
  for (const Grid& grid : test::skew_grids({9, 10, 8}, {0.5, 0.5, 0.5})) check_all_divisions(grid);
}

TEST_CASE("hartree: every division gives a free potential, shared or not") {
  check_all_divisions({{8, 9, 11}, {0.5, 0.4, 0.6}, Boundary::isolated});
}

TEST_CASE("hartree: more processes than planes, and more than lines of an axis, all work or wait") {
  check_all_divisions({{16, 5, 5}, {0.5, 0.5, 0.5}, Boundary::periodic});
  check_all_divisions({{5, 5, 5}, {0.5, 0.5, 0.5}, Boundary::isolated});
}

TEST_CASE("pencils: rows, and columns of wavenumbers, belong to one process each") {
  const comm::Communicator world = comm::world();
  const Grid grid{{12, 10, 9}, {0.5, 0.5, 0.5}, Boundary::periodic};
  const System system = system_on(grid, 8, 32);
  for (const ProcessCounts& counts : divisions(world.size(), grid)) {
    CAPTURE(counts.text());
    const Decomposition division(world, system, counts);
    for (const bool shared : {false, true}) {
      const Pencils pencils(division, shared, grid.extent);
      std::vector<std::uint64_t> rows(90), columns(70);
      const Rectangle own = pencils.rows();
      for (std::int64_t z = own.z.begin; z < own.z.end; ++z)
        for (std::int64_t y = own.y.begin; y < own.y.end; ++y) ++rows[static_cast<std::size_t>(y + 10 * z)];
      for (std::int64_t ky = pencils.ky().begin; ky < pencils.ky().end; ++ky)
        for (std::int64_t kx = pencils.kx().begin; kx < pencils.kx().end; ++kx)
          ++columns[static_cast<std::size_t>(kx + 7 * ky)];
      const comm::Communicator& group = shared ? division.world() : division.space();
      group.sum(std::span(rows));
      group.sum(std::span(columns));
      CHECK(std::ranges::all_of(rows, [](std::uint64_t count) { return count == 1; }));
      CHECK(std::ranges::all_of(columns, [](std::uint64_t count) { return count == 1; }));
    }
  }
}

TEST_CASE("hartree: the automatic choice is the faster of its trial, the same on all processes, and right") {
  const comm::Communicator world = comm::world();
  const Grid grid{{12, 12, 12}, {0.5, 0.4, 0.6}, Boundary::isolated};
  const System system = system_on(grid, 8, 32);
  const Decomposition division(world, system, {1, world.size(), {1, 1, 1}});
  Hartree hartree(division);
  const bool tried = world.size() > 1;
  CHECK((hartree.seconds_redundant() > 0) == tried);
  CHECK((hartree.seconds_shared() > 0) == tried);
  CHECK((hartree.share() == HartreeShare::shared) == (hartree.seconds_shared() < 0.95 * hartree.seconds_redundant()));
  CHECK(same_everywhere(world, {hartree.seconds_redundant(), hartree.seconds_shared(),
                                static_cast<double>(hartree.share() == HartreeShare::shared)}));
  const Values n = scattered(grid.points(), 5);
  Values v(n.size()), expected(n.size());
  hartree.solve(v, n);
  Hartree(Decomposition(comm::Communicator::self(), system, {})).solve(expected, n);
  CHECK(largest_difference(v, expected) < 1e-13 * largest(expected));
}

}  // namespace halocline::tddft
