// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/base/coulomb_cut.hpp"

#include "halocline/comm/group/communicator.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/hartree/hartree.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace halocline::tddft {
namespace {

using std::numbers::pi;

Grid grid_with(const std::array<bool, 3>& open, const std::array<std::int64_t, 3>& extent = {16, 18, 40}) {
  Grid grid{extent, {0.5, 0.5, 0.5}, Boundary::periodic};
  grid.open = open;
  return grid;
}

/// The potential of a density on the grid, of one process.
std::vector<double> potential_of(const Grid& grid, const std::vector<double>& density) {
  System system;
  system.grid = grid;
  system.electrons = 2;
  system.states = 1;
  const Decomposition alone(comm::Communicator::self(), system, {});
  std::vector<double> v(density.size());
  Hartree(alone, HartreeShare::redundant).solve(v, density);
  return v;
}

}  // namespace

TEST_CASE("coulomb: without open axes it is that of a crystal") {
  const Grid grid = grid_with({});
  CHECK(coulomb_in_waves(grid, {0, 0, 0}) == 0);
  CHECK(coulomb_in_waves(grid, {1, 2, 2}) == doctest::Approx(4 * pi / 9));
}

TEST_CASE("coulomb: a wave of a slab is the integral of exp(-g z) / g over half of the cell") {
  const Grid grid = grid_with({false, false, true});
  const double c = 10;
  for (const double g : {0.0, 0.3, 1.1})
    for (const int n : {0, 1, 2, 5}) {
      const double k = pi * n / c;
      // 2 pi / g exp(-g |z|) is the potential of a wave on a plane; -2 pi |z| for g = 0.
      const int steps = 20000;
      double sum = 0;
      for (int i = 0; i < steps; ++i) {
        const double z = -c + 2 * c * (i + 0.5) / steps;
        sum += (g > 0 ? 2 * pi / g * std::exp(-g * std::abs(z)) : -2 * pi * std::abs(z)) * std::cos(k * z);
      }
      const double expected = sum * 2 * c / steps;
      CHECK(coulomb_in_waves(grid, {g, 0, k}) == doctest::Approx(expected).epsilon(1e-4));
    }
}

TEST_CASE("coulomb: a wave of a wire is the integral of 2 K0 over a disc") {
  const Grid grid = grid_with({true, true, false}, {32, 36, 20});
  const double c = 8;  // half of the shorter edge
  for (const double g : {0.0, 0.2, 0.9})
    for (const double k : {0.0, 0.4, 1.3}) {
      const int steps = 20000;
      double sum = 0;
      for (int i = 0; i < steps; ++i) {
        const double r = c * (i + 0.5) / steps;
        const double line = g > 0 ? 2 * std::cyl_bessel_k(0, g * r) : -2 * std::log(r);
        sum += line * std::cyl_bessel_j(0, k * r) * 2 * pi * r;
      }
      CHECK(coulomb_in_waves(grid, {0, k, g}) == doctest::Approx(sum * c / steps).epsilon(1e-4));
    }
}

TEST_CASE("coulomb: sheets of opposite charge have a step of 4 pi p between them and no field outside") {
  const Grid grid = grid_with({false, false, true});
  std::vector<double> density(static_cast<std::size_t>(grid.points()));
  const auto sheet = [](double z, double at) { return std::exp(-(z - at) * (z - at)) / std::sqrt(pi); };
  for (std::int64_t z = 0; z < 40; ++z)
    for (std::int64_t i = 0; i < 16 * 18; ++i)
      density[static_cast<std::size_t>(i + 16 * 18 * z)] = sheet(0.5 * z, 8) - sheet(0.5 * z, 12);
  const std::vector<double> v = potential_of(grid, density);
  const auto plane = [&](int z) { return v[static_cast<std::size_t>(16 * 18 * z)]; };
  // p = -4 a unit of area; the potential is +-2 pi p far from the sheets, and constant there.
  CHECK(plane(9) == doctest::Approx(8 * pi).epsilon(1e-4));
  CHECK(plane(31) == doctest::Approx(-8 * pi).epsilon(1e-4));
  CHECK(plane(8) == doctest::Approx(plane(9)).epsilon(1e-3));
}

TEST_CASE("coulomb: a compact charge in a slab of large cells has the potential of a point far from it") {
  const Grid grid = grid_with({true, false, true}, {40, 40, 40});
  std::vector<double> density(static_cast<std::size_t>(grid.points()));
  // A wire of charge: its potential falls as -2 lambda ln r.
  for (std::int64_t z = 0; z < 40; ++z)
    for (std::int64_t y = 0; y < 40; ++y)
      for (std::int64_t x = 0; x < 40; ++x) {
        const double dx = 0.5 * x - 10, dz = 0.5 * z - 10;
        density[static_cast<std::size_t>(x + 40 * (y + 40 * z))] = std::exp(-dx * dx - dz * dz) / pi;
      }
  const std::vector<double> v = potential_of(grid, density);
  const auto at = [&](int x) { return v[static_cast<std::size_t>(x + 40 * (7 + 40 * 20))]; };
  for (const int away : {7, 9, 11}) CHECK(at(20 + away) == doctest::Approx(-2 * std::log(0.5 * away)).epsilon(2e-3));
}

TEST_CASE("coulomb: open axes that cannot be are refused") {
  System system;
  system.species = {};
  system.jellium = JelliumSphere{1.0, 2.0, {0, 0, 0}};
  system.electrons = 2;
  system.states = 1;
  system.grid = grid_with({true, true, true});
  CHECK_THROWS_AS(validate(system), core::InvalidArgument);
  system.grid = grid_with({false, false, true});
  CHECK_NOTHROW(validate(system));
  system.grid.boundary = Boundary::isolated;
  CHECK_THROWS_AS(validate(system), core::InvalidArgument);
}

}  // namespace halocline::tddft
