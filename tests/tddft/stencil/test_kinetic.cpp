// SPDX-License-Identifier: Apache-2.0
//
// The kinetic energy density of orbitals and its operator, against plain loops and against laws.

#include "halocline/core/error.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/stencil/cases.hpp"

#include <complex>
#include <doctest/doctest.h>
#include <numbers>

namespace halocline::tddft {
namespace {

using namespace stencil_tests;
using Complex = std::complex<double>;

constexpr Vec3 q{0.3, -0.2, 0.15};
constexpr std::array<double, orbital_lanes> factors{2, 1.5, 0.7, 1};

std::vector<Grid> grids() {
  std::vector<Grid> all = test::skew_grids({9, 8, 8}, {0.4, 0.5, 0.45});
  all.push_back({{9, 8, 11}, {0.4, 0.5, 0.45}, Boundary::periodic});
  all.push_back({{9, 8, 11}, {0.4, 0.5, 0.45}, Boundary::isolated});
  all.push_back({{90, 40, 8}, {0.4, 0.5, 0.45}, Boundary::periodic});  // read from a window
  return all;
}

std::vector<double> fields_of(std::int64_t points, std::int64_t count, std::uint32_t seed) {
  const Values values = random_values(points * count, seed);
  return {values.span().begin(), values.span().end()};
}

}  // namespace

TEST_CASE("kinetic energy density: the operator equals plain loops, with real and imaginary factors") {
  for (const Grid& grid : grids()) {
    CAPTURE(grid.extent[0]);
    CAPTURE(grid.skew());
    const Decomposition alone(comm::Communicator::self(), system_of(grid), ProcessCounts{});
    Stencil stencil(alone);
    const std::int64_t doubles = grid.points() * doubles_per_point;
    const Values psi = random_values(doubles, 1), start = random_values(doubles, 2);
    const std::vector<double> fields = fields_of(grid.points(), 7, 3);
    Values scratch(4 * doubles);
    for (const Complex factor : {Complex(1, 0), Complex(-0.7, 0), Complex(0, 0.4)}) {
      Values out(doubles), expected(doubles);
      std::ranges::copy(start.span(), out.data());
      std::ranges::copy(start.span(), expected.data());
      stencil.add_kinetic_operator(out.data(), psi.data(), fields, q, factor, scratch.data());
      reference::add_kinetic_operator(grid, expected.data(), psi.data(), fields, q, factor);
      CHECK(difference(out.span(), expected.span()) < 1e-13 * scale(grid, q));
    }
  }
}

TEST_CASE("kinetic energy density: the operator's expectation value is its slopes times density and gradient of every "
          "boost") {
  for (const Grid& grid : grids()) {
    CAPTURE(grid.skew());
    const Decomposition alone(comm::Communicator::self(), system_of(grid), ProcessCounts{});
    Stencil stencil(alone);
    const std::int64_t points = grid.points(), doubles = points * doubles_per_point;
    const Values psi = random_values(doubles, 1);
    const std::vector<double> fields = fields_of(points, 7, 3);
    const auto at = [&](const std::vector<double>& of, std::int64_t k, std::int64_t i) {
      return of[static_cast<std::size_t>(k * points + i)];
    };
    Values out(doubles), scratch(4 * doubles);
    stencil.add_kinetic_operator(out.data(), psi.data(), fields, q, 1.0, scratch.data());
    std::vector<double> sums(static_cast<std::size_t>(8 * points), 0.0);
    stencil.add_kinetic(sums, psi.data(), factors);
    double expectation = 0, size = 0, of_density = 0, imaginary = 0;
    for (std::int64_t i = 0; i < doubles; i += 2) {
      const double f = factors[static_cast<std::size_t>(i % doubles_per_point / 2)];
      expectation += f * (psi[i] * out[i] + psi[i + 1] * out[i + 1]);
      imaginary += f * (psi[i] * out[i + 1] - psi[i + 1] * out[i]);
    }
    for (std::int64_t i = 0; i < points; ++i) {
      double density = at(sums, 1, i), slope = 0;
      for (std::int64_t a = 0; a < 3; ++a) {
        const double p = q[static_cast<std::size_t>(a)] - at(fields, 4 + a, i);
        density += 2 * p * at(sums, 2 + a, i) + p * p * at(sums, 0, i);
        of_density += at(fields, 1 + a, i) * at(sums, 5 + a, i);
        slope += at(sums, 5 + a, i) * at(sums, 5 + a, i);
      }
      CHECK(density >= slope / (4 * at(sums, 0, i)) * (1 - 1e-12));
      of_density += 0.5 * at(fields, 0, i) * density;
      size += 0.5 * density;
    }
    CHECK(std::abs(expectation - of_density) < 1e-13 * size);
    CHECK(std::abs(imaginary) < 1e-13 * size);
  }
}

TEST_CASE("kinetic energy density: that of a plane wave is half its momentum squared, to eighth order") {
  const Grid grid{{12, 12, 12}, {0.5, 0.5, 0.5}, Boundary::periodic};
  const Decomposition alone(comm::Communicator::self(), system_of(grid), ProcessCounts{});
  Stencil stencil(alone);
  const double k = 2 * std::numbers::pi / 6;
  Values psi(grid.points() * doubles_per_point);
  for (std::int64_t i = 0; i < psi.size(); i += 2) {
    const double x = 0.5 * static_cast<double>(i / doubles_per_point % 12);
    psi[i] = std::cos(k * x);
    psi[i + 1] = std::sin(k * x);
  }
  std::vector<double> sums(static_cast<std::size_t>(8 * grid.points()), 0.0);
  stencil.add_kinetic(sums, psi.data(), std::array<double, orbital_lanes>{1, 0, 0, 0});
  const auto points = static_cast<std::size_t>(grid.points());
  for (std::size_t i = 0; i < points; i += 97) {
    CHECK(sums[i] == doctest::Approx(1.0).epsilon(1e-14));
    CHECK(sums[points + i] == doctest::Approx(k * k).epsilon(1e-4));
    CHECK(sums[2 * points + i] == doctest::Approx(k).epsilon(1e-4));
    CHECK(std::abs(sums[3 * points + i]) < 1e-14);
  }
}

TEST_CASE("kinetic energy density: fields of another length, and a result in the place of the orbitals, are refused") {
  const Grid grid{{8, 8, 8}, {0.5, 0.5, 0.5}, Boundary::periodic};
  const Decomposition alone(comm::Communicator::self(), system_of(grid), ProcessCounts{});
  Stencil stencil(alone);
  Values psi = random_values(grid.points() * doubles_per_point, 1), scratch(4 * psi.size());
  std::vector<double> fields(static_cast<std::size_t>(7 * grid.points()), 0.0);
  CHECK_THROWS_AS(stencil.add_kinetic(fields, psi.data(), factors), core::InvalidArgument);
  CHECK_THROWS_AS(stencil.add_kinetic_operator(psi.data(), psi.data(), fields, q, 1.0, scratch.data()),
                  core::InvalidArgument);
}

}  // namespace halocline::tddft
