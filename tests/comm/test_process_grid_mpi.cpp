// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <utility>
#include <vector>

using namespace halocline;
using comm::Face;
using comm::ProcessGrid;

TEST_CASE("process grid: ranks run lexicographically with x fastest, and neighbours point at each other") {
  const comm::Communicator world = comm::world();
  const int n = world.size();
  const std::vector<std::vector<int>> shapes = n == 8
                                                   ? std::vector<std::vector<int>>{{8}, {2, 4}, {2, 2, 2}, {1, 4, 1, 2}}
                                                   : std::vector<std::vector<int>>{{n}, {1, n}, {n, 1, 1}};
  for (const auto& dims : shapes) {
    for (const bool periodic : {true, false}) {
      const ProcessGrid grid(world, dims, std::vector<bool>(dims.size(), periodic));
      CHECK(grid.coords_of(grid.rank()) == std::vector<int>(grid.coords().begin(), grid.coords().end()));
      std::set<std::vector<int>> all;
      for (int rank = 0; rank < n; ++rank) {
        const std::vector<int> c = grid.coords_of(rank);
        all.insert(c);
        CHECK(grid.rank_of(c) == rank);
        int expected = 0, stride = 1;
        for (std::size_t i = 0; i < dims.size(); ++i) {
          expected += stride * c[i];
          stride *= dims[i];
        }
        CHECK(expected == rank);
        for (int f = 0; f < 2 * grid.ndim(); ++f) {
          const Face face = Face::from_index(f);
          const int other = grid.neighbour_of(rank, face);
          const int beyond = c[static_cast<std::size_t>(face.axis)] + face.direction;
          const bool over = beyond < 0 || beyond >= dims[static_cast<std::size_t>(face.axis)];
          CHECK((other == -1) == (over && !periodic));
          if (other >= 0) CHECK(grid.neighbour_of(other, face.opposite()) == rank);
        }
      }
      CHECK(all.size() == static_cast<std::size_t>(n));
    }
  }
}

TEST_CASE("process grid: a permutation of the ranks moves processes, and places stay neighbours") {
  const comm::Communicator world = comm::world();
  const int n = world.size();
  const std::vector<int> dims = n % 2 == 0 ? std::vector<int>{2, n / 2} : std::vector<int>{n, 1};
  const ProcessGrid plain(world, dims);
  std::vector<int> ranks;  // 5 and 7 share no factor with 1, 2, 3 or 8
  for (int place = 0; place < n; ++place) ranks.push_back((5 * place + 7) % n);
  const ProcessGrid grid(world, dims, {}, ranks);
  for (int place = 0; place < n; ++place) {
    const std::vector<int> coords = plain.coords_of(place);
    const int rank = ranks[static_cast<std::size_t>(place)];
    CHECK(grid.rank_of(coords) == rank);
    CHECK(grid.coords_of(rank) == coords);
    if (rank == world.rank()) CHECK(std::vector<int>(grid.coords().begin(), grid.coords().end()) == coords);
    for (int f = 0; f < 2 * grid.ndim(); ++f) {
      const int beside = plain.neighbour_of(place, Face::from_index(f));
      CHECK(grid.neighbour_of(rank, Face::from_index(f)) == ranks[static_cast<std::size_t>(beside)]);
    }
  }
}

TEST_CASE("process grid: ranks with different or broken permutations all get the error") {
  const comm::Communicator world = comm::world();
  const int n = world.size();
  if (n == 1) return;
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  if (world.rank() == n - 1) std::swap(ranks[0], ranks[1]);
  CHECK_THROWS_AS(ProcessGrid(world, {n}, {}, ranks), core::InvalidArgument);
  std::iota(ranks.begin(), ranks.end(), 0);
  if (world.rank() == 0) ranks[0] = ranks[1];
  CHECK_THROWS_AS(ProcessGrid(world, {n}, {}, ranks), core::InvalidArgument);
}

TEST_CASE("process grid: ranks that were given different grids all get the error") {
  const comm::Communicator world = comm::world();
  const int n = world.size();
  if (n == 1) return;
  const std::vector<int> mine = world.rank() == n - 1 ? std::vector<int>{n, 1} : std::vector<int>{1, n};
  CHECK_THROWS_AS(ProcessGrid(world, mine), core::InvalidArgument);
  const std::vector<int> wrong_on_one = world.rank() == 0 ? std::vector<int>{n + 1} : std::vector<int>{n};
  CHECK_THROWS_AS(ProcessGrid(world, wrong_on_one), core::InvalidArgument);
  const std::vector<bool> ends{world.rank() == 0};
  CHECK_THROWS_AS(ProcessGrid(world, {n}, ends), core::InvalidArgument);
}
