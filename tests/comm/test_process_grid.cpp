// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/process_grid.hpp"

#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

using namespace halocline;
using Extents = std::vector<std::int64_t>;
using Grid = std::vector<int>;

namespace {

template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const core::InvalidArgument& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Least surface by trying every tuple of four numbers, counting face sites directly.
struct BruteForce {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  std::vector<Grid> winners;

  BruteForce(const Extents& extents, int ranks, const Extents& required) {
    Grid d(4);
    for (d[0] = 1; d[0] <= ranks; ++d[0])
      for (d[1] = 1; d[1] <= ranks; ++d[1])
        for (d[2] = 1; d[2] <= ranks; ++d[2])
          for (d[3] = 1; d[3] <= ranks; ++d[3]) consider(d, extents, ranks, required);
  }

  void consider(const Grid& d, const Extents& extents, int ranks, const Extents& required) {
    if (d[0] * d[1] * d[2] * d[3] != ranks) return;
    std::int64_t local[4];
    for (std::size_t i = 0; i < 4; ++i) {
      if (extents[i] % d[i] != 0 || extents[i] / d[i] % required[i] != 0) return;
      local[i] = extents[i] / d[i];
    }
    std::int64_t halo = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      std::int64_t face = 1;
      for (std::size_t j = 0; j < 4; ++j) face *= j == i ? 1 : local[j];
      if (d[i] > 1) halo += 2 * ranks * face;
    }
    if (halo < best) winners.clear();
    if (halo <= best) winners.push_back(d);
    best = std::min(best, halo);
  }
};

}  // namespace

TEST_CASE("process grid: faces are numbered 2 axis + (direction > 0)") {
  for (int i = 0; i < 8; ++i) {
    const comm::Face face = comm::Face::from_index(i);
    CHECK(face.index() == i);
    CHECK(face.opposite().index() == (i ^ 1));
    CHECK(face.opposite().opposite() == face);
  }
}

TEST_CASE("process grid: a process alone is its own neighbour on periodic axes") {
  const comm::ProcessGrid grid(comm::Communicator::self(), {1, 1, 1}, {true, false, true});
  CHECK(grid.ndim() == 3);
  CHECK(grid.neighbour({0, 1}) == 0);
  CHECK(grid.neighbour({0, -1}) == 0);
  CHECK(grid.neighbour({1, 1}) == -1);
  CHECK(grid.neighbour({1, -1}) == -1);
  CHECK_THROWS_AS(static_cast<void>(grid.neighbour({3, 1})), core::InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(grid.neighbour({0, 2})), core::InvalidArgument);
}

TEST_CASE("process grid: sizes that do not fit are refused with both numbers") {
  const auto self = comm::Communicator::self();
  CHECK(contains(refusal([&] { comm::ProcessGrid(self, {2, 3}); }), "2 x 3"));
  CHECK(contains(refusal([&] { comm::ProcessGrid(self, {2, 3}); }), "multiply to 1"));
  CHECK(contains(refusal([&] { comm::ProcessGrid(self, {}); }), "at least one"));
  CHECK(contains(refusal([&] { comm::ProcessGrid(self, {-1, -1}); }), "at least one process"));
  CHECK(contains(refusal([&] { comm::ProcessGrid(self, {1, 1}, {true}); }), "one for each axis"));
  CHECK_THROWS_AS(static_cast<void>(comm::ProcessGrid(self, {1}).coords_of(1)), core::InvalidArgument);
  const std::vector<int> outside{1};
  CHECK_THROWS_AS(static_cast<void>(comm::ProcessGrid(self, {1}).rank_of(outside)), core::InvalidArgument);
}

TEST_CASE("process grid: an order of ranks that is no permutation is refused with the place at fault") {
  const auto self = comm::Communicator::self();
  const std::vector<int> two{0, 1}, outside{1}, negative{-1}, good{0};
  CHECK(contains(refusal([&] { comm::ProcessGrid(self, {1}, {}, two); }), "an order of 2 ranks"));
  CHECK(contains(refusal([&] { comm::ProcessGrid(self, {1}, {}, outside); }), "rank 1 at place 0"));
  CHECK(contains(refusal([&] { comm::ProcessGrid(self, {1}, {}, negative); }), "rank -1 at place 0"));
  CHECK(comm::ProcessGrid(self, {1}, {}, good).rank_of(good) == 0);
}

TEST_CASE("least surface: no grid moves less halo, by brute force") {
  const Extents even{2, 2, 2, 2};
  const std::vector<Extents> lattices{{4, 4, 4, 4},  {8, 8, 8, 16},   {4, 6, 8, 12},
                                      {32, 6, 4, 6}, {12, 12, 4, 24}, {16, 2, 2, 2}};
  int tried = 0;
  for (const Extents& extents : lattices) {
    for (int ranks = 1; ranks <= 16; ++ranks) {
      const BruteForce brute(extents, ranks, even);
      if (brute.winners.empty()) {
        CHECK_THROWS_AS(static_cast<void>(comm::least_surface_grid(extents, ranks, even)), core::InvalidArgument);
        continue;
      }
      const Grid chosen = comm::least_surface_grid(extents, ranks, even);
      // Of equals the winner has most processes along t, then z, then y.
      Grid expected = brute.winners.front();
      for (const Grid& g : brute.winners) {
        if (std::lexicographical_compare(expected.rbegin(), expected.rend(), g.rbegin(), g.rend())) expected = g;
      }
      CHECK(chosen == expected);
      CHECK(comm::least_surface_grid(extents, ranks) == expected);  // even local extents are preferred
      ++tried;
    }
  }
  CHECK(tried > 40);
}

TEST_CASE("least surface: ties split the slowest axis first") {
  CHECK(comm::least_surface_grid(Extents{8, 8, 8, 8}, 2) == Grid{1, 1, 1, 2});
  CHECK(comm::least_surface_grid(Extents{8, 8, 8, 8}, 4) == Grid{1, 1, 1, 4});
  CHECK(comm::least_surface_grid(Extents{8, 8, 8, 16}, 1) == Grid{1, 1, 1, 1});
}

TEST_CASE("least surface: odd local extents are taken only where nothing else will do, and never in x") {
  CHECK(comm::least_surface_grid(Extents{4, 4, 4, 6}, 3) == Grid{1, 1, 1, 3});
  CHECK(comm::least_surface_grid(Extents{4, 5, 4, 4}, 5) == Grid{1, 5, 1, 1});
  CHECK_THROWS_AS(static_cast<void>(comm::least_surface_grid(Extents{6, 4, 4, 4}, 9)), core::InvalidArgument);
  CHECK(comm::least_surface_grid(Extents{5, 5}, 5, Extents{1, 1}) == Grid{1, 5});
}

TEST_CASE("grid choice: what is impossible is refused with what is possible") {
  const Extents lattice{4, 4, 4, 4};
  CHECK(contains(refusal([&] { static_cast<void>(comm::least_surface_grid(lattice, 3)); }), "1, 2, 4, 8"));
  CHECK(contains(refusal([&] { static_cast<void>(comm::least_surface_grid(lattice, 257)); }), "256 sites"));
  CHECK(contains(refusal([&] { static_cast<void>(comm::least_surface_grid(Extents{0, 4}, 1)); }), "positive"));
  CHECK(contains(refusal([&] { static_cast<void>(comm::least_surface_grid(lattice, 0)); }), "at least one"));
  CHECK(contains(refusal([&] { static_cast<void>(comm::least_surface_grid(lattice, 1, Extents{2})); }), "each"));
  const Extents huge(4, std::int64_t{1} << 20);
  CHECK(contains(refusal([&] { static_cast<void>(comm::least_surface_grid(huge, 2)); }), "64-bit"));

  const Grid good{2, 1, 1, 1}, bad{1, 1, 1, 3}, too_many{4, 1, 1, 1};
  CHECK_NOTHROW(comm::check_grid(lattice, good, 2));
  CHECK(contains(refusal([&] { comm::check_grid(lattice, bad, 2); }), "1 x 1 x 1 x 2"));
  CHECK(contains(refusal([&] { comm::check_grid(lattice, too_many, 4); }), "possible are: 1 x 1 x 1 x 4"));
  CHECK(contains(refusal([&] { comm::check_grid(lattice, bad, 3); }), "nearest possible"));
}
