// SPDX-License-Identifier: Apache-2.0
//
// Point charges in a periodic cell: Madelung's constants, and the laws that an Ewald sum must obey.

#include "halocline/tddft/ions/detail/ewald.hpp"

#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace halocline::tddft::detail {
namespace {

struct Crystal {
  std::vector<double> charges;
  std::vector<Vec3> positions;  ///< in units of the cubic cell
};

/// Charges on the four points of a face-centred cubic cell, moved by `at`.
void add_fcc(Crystal& crystal, double charge, double at) {
  for (const Vec3& r : {Vec3{0, 0, 0}, Vec3{0, .5, .5}, Vec3{.5, 0, .5}, Vec3{.5, .5, 0}}) {
    crystal.charges.push_back(charge);
    crystal.positions.push_back({r[0] + at, r[1] + at, r[2] + at});
  }
}

Crystal fcc_pair(double first, double second, double at) {
  Crystal crystal;
  add_fcc(crystal, first, 0);
  add_fcc(crystal, second, at);
  return crystal;
}

std::vector<Vec3> scaled(const Crystal& crystal, double a) {
  std::vector<Vec3> positions = crystal.positions;
  for (Vec3& r : positions)
    for (double& x : r) x *= a;
  return positions;
}

/// Four charges without symmetry in a cell of three lengths.
const Vec3 box{7.1, 5.3, 9.7};
const std::vector<double> some_charges{4, -1, 3, 1.5};
const std::vector<Vec3> some_positions{{0.3, 0.2, 0.1}, {2.9, 4.4, 1.0}, {5.5, 1.7, 6.6}, {1.1, 3.3, 8.8}};

std::array<Vec3, 3> edges_of(const Vec3& lengths) {
  return {{{lengths[0], 0, 0}, {0, lengths[1], 0}, {0, 0, lengths[2]}}};
}

}  // namespace

TEST_CASE("ewald: Madelung's constants of rock salt, caesium chloride and zinc blende") {
  const double a = 3.7;
  const auto salt = ewald(edges_of({a, a, a}), fcc_pair(1, -1, 0.5).charges, scaled(fcc_pair(1, -1, 0.5), a));
  CHECK(salt.energy / 4 * (a / 2) == doctest::Approx(-1.747564594633182).epsilon(1e-12));
  const std::vector<double> pair{1, -1};
  const auto caesium = ewald(edges_of({a, a, a}), pair, std::vector<Vec3>{{0, 0, 0}, {a / 2, a / 2, a / 2}});
  CHECK(caesium.energy * a * std::sqrt(3.0) / 2 == doctest::Approx(-1.762674773070988).epsilon(1e-12));
  const auto blende = ewald(edges_of({a, a, a}), fcc_pair(1, -1, 0.25).charges, scaled(fcc_pair(1, -1, 0.25), a));
  CHECK(blende.energy / 4 * a * std::sqrt(3.0) / 4 == doctest::Approx(-1.638055053388789).epsilon(1e-12));
}

TEST_CASE("ewald: silicon has the published energy, and no forces") {
  const double a = 10.26;
  const Crystal crystal = fcc_pair(4, 4, 0.25);
  const auto sum = ewald(edges_of({a, a, a}), crystal.charges, scaled(crystal, a));
  CHECK(sum.energy == doctest::Approx(-33.60185914).epsilon(3e-10));
  for (const Vec3& f : sum.forces)
    for (const double component : f) CHECK(std::abs(component) < 1e-13);
}

TEST_CASE("ewald: the result does not depend on how charges are split") {
  const auto expected = ewald(edges_of(box), some_charges, some_positions);
  for (const double eta : {0.15, 0.3, 0.6, 1.1}) {
    const auto sum = ewald(edges_of(box), some_charges, some_positions, eta);
    CHECK(sum.energy == doctest::Approx(expected.energy).epsilon(1e-12));
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis)
        CHECK(std::abs(sum.forces[i][axis] - expected.forces[i][axis]) < 1e-12);
  }
}

TEST_CASE("ewald: a doubled cell has twice the energy, and shifts and images change nothing") {
  const double energy = ewald(edges_of(box), some_charges, some_positions).energy;
  auto charges = some_charges;
  auto positions = some_positions;
  for (std::size_t i = 0; i < 4; ++i) {
    charges.push_back(some_charges[i]);
    positions.push_back({some_positions[i][0], some_positions[i][1] + box[1], some_positions[i][2]});
  }
  CHECK(ewald(edges_of({box[0], 2 * box[1], box[2]}), charges, positions).energy ==
        doctest::Approx(2 * energy).epsilon(1e-12));
  auto moved = some_positions;
  for (std::size_t i = 0; i < 4; ++i) {
    moved[i][0] += 0.77 + 3 * box[0] * static_cast<double>(i);
    moved[i][2] -= 2.2 + box[2] * static_cast<double>(i % 2);
  }
  CHECK(ewald(edges_of(box), some_charges, moved).energy == doctest::Approx(energy).epsilon(1e-12));
}

TEST_CASE("ewald: forces are minus the derivatives of the energy and add up to nothing") {
  const auto sum = ewald(edges_of(box), some_charges, some_positions);
  Vec3 total{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      total[axis] += sum.forces[i][axis];
      const double h = 1e-3;
      std::array<double, 2> energy{};
      for (int side = 0; side < 2; ++side) {
        auto positions = some_positions;
        positions[i][axis] += side == 0 ? -h : h;
        energy[static_cast<std::size_t>(side)] = ewald(edges_of(box), some_charges, positions).energy;
      }
      CHECK(sum.forces[i][axis] == doctest::Approx((energy[0] - energy[1]) / (2 * h)).epsilon(1e-5));
    }
  for (const double component : total) CHECK(std::abs(component) < 1e-12);
}

TEST_CASE("ewald: one charge in a cube has Wigner's energy") {
  // -2.837297479 q^2 / (2 a): the simple cubic lattice on its background.
  const std::vector<double> charge{2.5};
  const auto sum = ewald(edges_of({4, 4, 4}), charge, std::vector<Vec3>{{1, 2, 3}});
  CHECK(sum.energy == doctest::Approx(-2.837297479480619 * 2.5 * 2.5 / 8).epsilon(1e-10));
}

TEST_CASE("ewald: the primitive cell of rock salt has a quarter of the cube's energy, and its constant") {
  const double a = 3.7;
  const std::array<Vec3, 3> primitive{{{0, a / 2, a / 2}, {a / 2, 0, a / 2}, {a / 2, a / 2, 0}}};
  const std::vector<double> pair{1, -1};
  const auto salt = ewald(primitive, pair, std::vector<Vec3>{{0, 0, 0}, {a / 2, a / 2, a / 2}});
  CHECK(salt.energy * (a / 2) == doctest::Approx(-1.747564594633182).epsilon(1e-12));
}

TEST_CASE("ewald: other edges of the same lattice, and edges turned with the charges, change nothing") {
  const auto expected = ewald(edges_of(box), some_charges, some_positions);
  auto edges = edges_of(box);
  for (std::size_t c = 0; c < 3; ++c) edges[1][c] += edges[0][c];  // oblique edges of the same lattice
  const auto same = ewald(edges, some_charges, some_positions);
  CHECK(same.energy == doctest::Approx(expected.energy).epsilon(1e-12));
  const double c = std::cos(0.7), s = std::sin(0.7);
  const auto turn = [&](const Vec3& v) { return Vec3{c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]}; };
  std::vector<Vec3> positions;
  for (const Vec3& r : some_positions) positions.push_back(turn(r));
  for (Vec3& edge : edges) edge = turn(edge);
  const auto sum = ewald(edges, some_charges, positions);
  CHECK(sum.energy == doctest::Approx(expected.energy).epsilon(1e-12));
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3 force = turn(expected.forces[i]);
    for (std::size_t axis = 0; axis < 3; ++axis) CHECK(std::abs(sum.forces[i][axis] - force[axis]) < 1e-12);
  }
}

namespace {

Grid open_grid(const Vec3& lengths, const std::array<bool, 3>& open) {
  Grid grid;
  grid.extent = {10, 10, 10};
  for (std::size_t a = 0; a < 3; ++a) grid.spacing[a] = lengths[a] / 10;
  grid.open = open;
  return grid;
}

}  // namespace

TEST_CASE("ewald: Madelung's constants of a square sheet and of a chain of alternating charges") {
  const double d = 2.3;
  const std::vector<double> charges{1, -1, 1, -1};
  const std::vector<Vec3> square{{0, 0, 4}, {d, 0, 4}, {d, d, 4}, {0, d, 4}};
  for (const double length : {18.0, 31.0}) {
    const auto sheet = ewald(open_grid({2 * d, 2 * d, length}, {false, false, true}), charges, square);
    CHECK(sheet.energy / 2 * d == doctest::Approx(-1.6155426267128247).epsilon(1e-11));
    const std::vector<double> pair{1, -1};
    const std::vector<Vec3> line{{3, 0.5, 4}, {3, 0.5 + d, 4}};
    const auto chain = ewald(open_grid({length, 2 * d, length + 3}, {true, false, true}), pair, line);
    CHECK(chain.energy * d == doctest::Approx(-2 * std::log(2.0)).epsilon(1e-6));
  }
}

TEST_CASE("ewald: two charged sheets attract by the field of a condenser, whatever the vacuum") {
  const double a = 9.0, z = 1.5;
  const std::vector<double> charges{1, -1};
  double before = 0;
  for (const double length : {22.0, 40.0}) {
    const Grid grid = open_grid({a, a, length}, {false, false, true});
    // Far apart, the sheets are smooth to each other: the energy grows by 2 pi / A times the distance.
    const auto near = ewald(grid, charges, std::vector<Vec3>{{0, 0, z}, {0.5 * a, 0.5 * a, z + 7}});
    const auto far = ewald(grid, charges, std::vector<Vec3>{{0, 0, z}, {0.5 * a, 0.5 * a, z + 8}});
    CHECK(far.energy - near.energy == doctest::Approx(2 * 3.14159265358979 / (a * a)).epsilon(0.02));
    CHECK(near.forces[0][2] == doctest::Approx(2 * 3.14159265358979 / (a * a)).epsilon(0.02));
    if (before != 0) CHECK(near.energy == doctest::Approx(before).epsilon(1e-10));
    before = near.energy;
  }
}

TEST_CASE("ewald: forces of slabs and wires are slopes of the energy, and the split of charges does not matter") {
  const std::vector<double> charges{4, -1, 3, 1.5};
  const std::vector<Vec3> positions{{0.3, 0.2, 9.1}, {2.9, 4.4, 8.0}, {5.5, 1.7, 10.6}, {1.1, 3.3, 11.8}};
  for (const std::array<bool, 3>& open : {std::array{false, false, true}, std::array{true, false, true}}) {
    const Grid grid = open_grid({open[0] ? 24.0 : 7.1, 5.3, 26.0}, open);
    const auto sum = ewald(grid, charges, positions);
    const double tolerance = open[0] ? 2e-5 : 1e-10;  // the Bessel functions of a wire decay slowly with the radius
    const auto other = ewald(grid, charges, positions, 1.6);
    CHECK(other.energy == doctest::Approx(sum.energy).epsilon(tolerance));
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double step = 1e-4;
        std::vector<Vec3> moved = positions;
        moved[i][axis] += step;
        const double up = ewald(grid, charges, moved).energy;
        moved[i][axis] -= 2 * step;
        const double down = ewald(grid, charges, moved).energy;
        CHECK(sum.forces[i][axis] == doctest::Approx((down - up) / (2 * step)).epsilon(1e-5));
      }
  }
}

TEST_CASE("ewald: atoms that see their images across the vacuum are refused") {
  const std::vector<double> pair{1, 1};
  const Grid grid = open_grid({6, 6, 20}, {false, false, true});
  CHECK_NOTHROW(static_cast<void>(ewald(grid, pair, std::vector<Vec3>{{0, 0, 17}, {0, 0, 3}})));  // over the border
  CHECK_THROWS_AS(static_cast<void>(ewald(grid, pair, std::vector<Vec3>{{0, 0, 5}, {0, 0, 14}})),
                  core::InvalidArgument);
}

}  // namespace halocline::tddft::detail
