// SPDX-License-Identifier: Apache-2.0
//
// The directions of the Laplacian: their second derivatives add up to it, and lattices have those of their symmetry.

#include "halocline/tddft/base/directions.hpp"

#include "halocline/core/error.hpp"
#include "tddft/base/skew_grids.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace halocline::tddft {
namespace {

using namespace test;

/// The sum of weight v v^T, which must be the unit matrix.
void check_completeness(const Grid& grid) {
  const auto directions = laplacian_directions(grid);
  REQUIRE(directions.size() >= 3);
  REQUIRE(directions.size() <= 6);
  std::array<Vec3, 3> sum{};
  for (const Direction& d : directions) {
    CHECK(d.weight >= 0);
    const Vec3 v = combined({double(d.steps[0]), double(d.steps[1]), double(d.steps[2])}, grid.steps());
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) sum[i][j] += d.weight * v[i] * v[j];
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) CHECK(std::abs(sum[i][j] - (i == j ? 1 : 0)) < 1e-12);
}

}  // namespace

TEST_CASE("directions: their second derivatives add up to the Laplacian") {
  check_completeness({{8, 9, 10}, {0.5, 0.6, 0.4}, Boundary::periodic});
  for (const Vec3& spacing : {Vec3{0.5, 0.5, 0.5}, {0.5, 0.45, 0.55}})
    for (const Grid& grid : skew_grids({8, 9, 10}, spacing)) {
      check_completeness(grid);
      Grid other = grid;
      other.axes = turned(other.axes);
      check_completeness(other);
    }
}

TEST_CASE("directions: the axes of an orthogonal grid, six neighbours of a face-centred one, four of a hexagonal one") {
  const auto box = laplacian_directions({{8, 9, 10}, {0.5, 0.25, 0.4}, Boundary::periodic});
  REQUIRE(box.size() == 3);
  CHECK(box[1].steps == std::array{0, 1, 0});
  CHECK(box[1].weight == 16.0);
  const auto fcc = laplacian_directions(skew_grid(Lattice::face_centred, {8, 8, 8}, {0.5, 0.5, 0.5}));
  REQUIRE(fcc.size() == 6);
  for (const Direction& d : fcc) CHECK(d.weight == doctest::Approx(2.0).epsilon(1e-13));
  const auto hexagonal = laplacian_directions(skew_grid(Lattice::hexagonal, {8, 8, 8}, {0.5, 0.5, 0.4}));
  REQUIRE(hexagonal.size() == 4);
  for (const std::size_t d : {0, 1, 3}) CHECK(hexagonal[d].weight == doctest::Approx(8.0 / 3).epsilon(1e-13));
  CHECK(hexagonal[2].weight == doctest::Approx(6.25).epsilon(1e-13));
}

TEST_CASE("directions: edges in a plane, and edges that are not the shortest, are refused") {
  Grid grid{{8, 8, 8}, {0.5, 0.5, 0.5}, Boundary::periodic};
  grid.axes = {{{1, 0, 0}, {0, 1, 0}, {std::sqrt(0.5), std::sqrt(0.5), 0}}};
  CHECK_THROWS_WITH_AS(laplacian_directions(grid), doctest::Contains("in one plane"), core::InvalidArgument);
  const double length = std::hypot(3.0, 1.0);
  grid.axes = {{{1, 0, 0}, {3 / length, 1 / length, 0}, {0, 0, 1}}};
  grid.spacing = {0.5, 0.5 * length, 0.5};
  CHECK_THROWS_WITH_AS(laplacian_directions(grid), doctest::Contains("niggli_reduce"), core::InvalidArgument);
}

}  // namespace halocline::tddft
