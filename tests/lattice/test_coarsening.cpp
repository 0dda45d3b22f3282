// SPDX-License-Identifier: Apache-2.0
// Shapes of coarse levels on many processes, by hand.

#include "halocline/lattice/coarsening.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace halocline::lattice;
using Grid = std::array<int, 4>;
using Extents = Coordinates<4>;

TEST_CASE("coarsening: 1728 processes end with one, and without gathering with one site each") {
  const std::vector<int> dims{6, 12, 6, 4};
  const auto shapes = level_shapes(dims, {8, 8, 8, 8}, {});
  REQUIRE(shapes.size() == 4);
  CHECK(shapes[0].global == Extents{12, 24, 12, 8});
  CHECK(shapes[0].local == Extents{2, 2, 2, 2});
  CHECK(shapes[0].processes == Grid{6, 12, 6, 4});
  CHECK(!shapes[0].gathers());
  CHECK(shapes[1].global == Extents{6, 12, 6, 4});
  CHECK(shapes[1].spread == Extents{1, 1, 1, 1});
  CHECK(shapes[1].local == Extents{2, 2, 2, 2});
  CHECK(shapes[1].processes == Grid{3, 6, 3, 2});
  CHECK(shapes[2].global == Extents{3, 6, 3, 2});
  CHECK(shapes[2].sites() == 108);
  CHECK(product<4>(shapes[2].local) * shapes[2].processes[0] * shapes[2].processes[1] * shapes[2].processes[2] *
            shapes[2].processes[3] ==
        108);
  CHECK(product<4>(shapes[2].local) >= 16);
  CHECK(!has_parities(shapes[2].global, shapes[2].local));
  CHECK(shapes[3].global == Extents{1, 3, 1, 1});
  CHECK(shapes[3].local == shapes[3].global);
  CHECK(shapes[3].processes == Grid{1, 1, 1, 1});
  const auto spread = level_shapes(dims, {8, 8, 8, 8}, {.gather_below = 1});
  REQUIRE(spread.size() == 2);
  CHECK(spread.back().local == Extents{1, 1, 1, 1});
  CHECK(!spread.back().gathers());
}

TEST_CASE("coarsening: nearest divisors, parities, and a number of levels that is asked for") {
  CHECK(nearest_divisors({12, 8, 6, 5}, {4, 4, 4, 4}) == Extents{4, 4, 3, 5});
  CHECK(has_parities({2, 4, 2, 2}, {1, 1, 1, 2}));
  CHECK(!has_parities({2, 4, 2, 2}, {1, 1, 1, 1}));
  CHECK(!has_parities({3, 4, 2, 2}, {3, 4, 2, 2}));
  const std::vector<int> one{1, 1, 1, 1};
  CHECK(level_shapes(one, {16, 16, 16, 16}, {.levels = 2}).size() == 1);
  const auto many = level_shapes(one, {16, 16, 16, 16}, {.levels = 8});
  REQUIRE(many.size() == 3);  // 4^4, 2^4 and one site
  CHECK(many.back().sites() == 1);
}
