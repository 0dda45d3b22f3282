// SPDX-License-Identifier: Apache-2.0
//
// The stencil with a vector potential that depends on the place, against plain loops and against laws.

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

constexpr std::array<double, orbital_lanes> factors{2, 1.5, 0.7, 1};

std::vector<Grid> local_grids() {
  return {{{9, 8, 11}, {0.4, 0.5, 0.45}, Boundary::periodic},
          {{9, 8, 11}, {0.4, 0.5, 0.45}, Boundary::isolated},
          {{5, 6, 5}, {0.4, 0.5, 0.45}, Boundary::periodic},
          {{90, 40, 8}, {0.4, 0.5, 0.45}, Boundary::periodic}};  // read from a window
}

std::vector<double> numbers(std::int64_t count, std::uint32_t seed) {
  const Values values = random_values(count, seed);
  return {values.span().begin(), values.span().end()};
}

/// The same momentum at every point.
std::vector<double> uniform(std::int64_t points, const Vec3& q) {
  std::vector<double> field;
  for (const double component : q) field.insert(field.end(), static_cast<std::size_t>(points), component);
  return field;
}

}  // namespace

TEST_CASE("local momentum: the stencil equals plain loops, with real and imaginary factors, with and without a base") {
  for (const Grid& grid : local_grids()) {
    CAPTURE(grid.extent[0]);
    Stencil stencil(Decomposition(comm::Communicator::self(), system_of(grid), ProcessCounts{}));
    const std::int64_t blocks = 2, doubles = blocks * grid.points() * doubles_per_point;
    const Values psi = random_values(doubles, 1), base = random_values(doubles, 2), v = random_values(grid.points(), 3);
    const std::vector<double> q = numbers(3 * grid.points(), 4);
    const LocalMomentum local = stencil.local_momentum(q);
    for (const Complex factor : {Complex(0.7, 0), Complex(0, -0.4)})
      for (const double* from : {static_cast<const double*>(nullptr), base.data()}) {
        Values out(doubles), expected(doubles);
        const Combination what{.factor = factor, .shift = 0.3, .base = from, .base_factor = 1.5};
        stencil.apply_local(out.data(), psi.data(), blocks, v.span(), local, what);
        reference::apply_local(grid, expected.data(), psi.data(), blocks, v.span(), q, what);
        CHECK(difference(out.span(), expected.span()) < 1e-14 * scale(grid, {1, 1, 1}));
      }
  }
}

TEST_CASE("local momentum: a uniform one is that of apply(), with k added before or after") {
  const Vec3 k{0.3, -0.2, 0.15}, a{-0.1, 0.4, 0.2}, both{k[0] + a[0], k[1] + a[1], k[2] + a[2]};
  for (const Grid& grid : local_grids()) {
    Stencil stencil(Decomposition(comm::Communicator::self(), system_of(grid), ProcessCounts{}));
    const std::int64_t doubles = grid.points() * doubles_per_point;
    const Values psi = random_values(doubles, 1), v = random_values(grid.points(), 3);
    Values out(doubles), expected(doubles);
    LocalMomentum local = stencil.local_momentum(uniform(grid.points(), a));
    local.add(k);
    stencil.apply_local(out.data(), psi.data(), 1, v.span(), local, {.factor = {0, 1}});
    stencil.apply(expected.data(), psi.data(), 1, v.span(), both, {.factor = {0, 1}});
    CHECK(difference(out.span(), expected.span()) < 1e-14 * scale(grid, both));
  }
}

TEST_CASE("local momentum: H is Hermitian, and the current density its derivative with respect to A(r)") {
  for (const Grid& grid : local_grids()) {
    CAPTURE(grid.extent[0]);
    Stencil stencil(Decomposition(comm::Communicator::self(), system_of(grid), ProcessCounts{}));
    const std::int64_t points = grid.points(), doubles = points * doubles_per_point;
    const Values psi = random_values(doubles, 1);
    const std::vector<double> nothing(static_cast<std::size_t>(points)), a = numbers(3 * points, 4);
    const std::vector<double> direction = numbers(3 * points, 5);
    const Vec3 k{0.3, -0.2, 0.15};
    Values out(doubles);
    // The energy of A + x direction; its imaginary part is zero.
    const auto energy = [&](double x) {
      std::vector<double> q(a);
      for (std::size_t i = 0; i < q.size(); ++i) q[i] += x * direction[i];
      LocalMomentum local = stencil.local_momentum(q);
      local.add(k);
      stencil.apply_local(out.data(), psi.data(), 1, nothing, local);
      double sum = 0, imaginary = 0;
      for (std::int64_t i = 0; i < doubles; i += 2) {
        const double f = factors[static_cast<std::size_t>(i % doubles_per_point / 2)];
        sum += f * (psi[i] * out[i] + psi[i + 1] * out[i + 1]);
        imaginary += f * (psi[i] * out[i + 1] - psi[i + 1] * out[i]);
      }
      CHECK(std::abs(imaginary) < 1e-13 * std::abs(sum));
      return sum;
    };
    std::vector<double> current(static_cast<std::size_t>(3 * points));
    stencil.add_current_density(current, psi.data(), factors, k);
    double slope = 0, size = 0;
    for (std::int64_t i = 0; i < points; ++i) {
      double n = 0;
      for (std::int64_t j = 0; j < doubles_per_point; ++j)
        n += factors[static_cast<std::size_t>(j / 2)] * psi[i * doubles_per_point + j] * psi[i * doubles_per_point + j];
      for (std::int64_t axis = 0; axis < 3; ++axis) {
        const auto place = static_cast<std::size_t>(axis * points + i);
        const double more = direction[place] * (current[place] + n * a[place]);
        slope += more;
        size += std::abs(more);
      }
    }
    // The energy is a quadratic function of A, whose central difference is exact.
    const double x = 0.5, found = (energy(x) - energy(-x)) / (2 * x);
    CHECK(std::abs(found - slope) < 1e-11 * size);
  }
}

TEST_CASE("local momentum: A = grad chi turns the phase of the orbitals and nothing else, to eighth order") {
  // psi exp(-i chi) with A = grad chi has the energy of psi without A. Halving the spacing takes 2^8 off the error.
  const auto energies = [](std::int64_t n) {
    const double length = 6, h = length / static_cast<double>(n), wave = 2 * std::numbers::pi / length;
    const Grid grid{{n, n, n}, {h, h, h}, Boundary::periodic};
    Stencil stencil(Decomposition(comm::Communicator::self(), system_of(grid), ProcessCounts{}));
    const std::int64_t points = grid.points(), doubles = points * doubles_per_point;
    Values psi(doubles), turned(doubles), out(doubles);
    std::vector<double> a(static_cast<std::size_t>(3 * points));
    for (std::int64_t i = 0; i < points; ++i) {
      const double x = h * static_cast<double>(i % n), y = h * static_cast<double>(i / n % n);
      const double chi = 0.3 * std::sin(wave * x) * std::cos(wave * y);
      a[static_cast<std::size_t>(i)] = 0.3 * wave * std::cos(wave * x) * std::cos(wave * y);
      a[static_cast<std::size_t>(points + i)] = -0.3 * wave * std::sin(wave * x) * std::sin(wave * y);
      const Complex u(1 + 0.3 * std::cos(wave * x), 0.2 * std::sin(wave * y)), v = u * std::polar(1.0, -chi);
      psi[i * doubles_per_point] = u.real();
      psi[i * doubles_per_point + 1] = u.imag();
      turned[i * doubles_per_point] = v.real();
      turned[i * doubles_per_point + 1] = v.imag();
    }
    const std::vector<double> nothing(static_cast<std::size_t>(points));
    const auto product = [&](const Values& of) {
      double sum = 0;
      for (std::int64_t i = 0; i < doubles; ++i) sum += of[i] * out[i];
      return sum * grid.point_volume();
    };
    stencil.apply(out.data(), psi.data(), 1, nothing, {});
    const double without = product(psi);
    stencil.apply_local(out.data(), turned.data(), 1, nothing, stencil.local_momentum(a));
    return std::abs(product(turned) - without);
  };
  const double coarse = energies(10), fine = energies(20);
  CHECK(coarse < 1e-2);
  CHECK(fine < coarse / 150);
}

TEST_CASE("local momentum: oblique axes and fields of another length are refused") {
  const Grid grid{{8, 8, 8}, {0.5, 0.5, 0.5}, Boundary::periodic};
  Stencil stencil(Decomposition(comm::Communicator::self(), system_of(grid), ProcessCounts{}));
  const std::vector<double> q(static_cast<std::size_t>(3 * grid.points())), few(7);
  CHECK_THROWS_AS(stencil.local_momentum(few), core::InvalidArgument);
  Values psi(grid.points() * doubles_per_point);
  const LocalMomentum local = stencil.local_momentum(q);
  const std::vector<double> v(static_cast<std::size_t>(grid.points()));
  CHECK_THROWS_AS(stencil.apply_local(psi.data(), psi.data(), 1, v, local), core::InvalidArgument);
  const Grid oblique = test::skew_grids({9, 8, 8}, {0.4, 0.5, 0.45}).front();
  Stencil other(Decomposition(comm::Communicator::self(), system_of(oblique), ProcessCounts{}));
  const std::vector<double> there(static_cast<std::size_t>(3 * oblique.points()));
  CHECK_THROWS_AS(other.local_momentum(there), core::InvalidArgument);
}

}  // namespace halocline::tddft
