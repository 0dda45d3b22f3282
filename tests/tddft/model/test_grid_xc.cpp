// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/grid_xc.hpp"

#include "tddft/ions/ion_systems.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <numbers>
#include <string>

namespace halocline::tddft {
namespace {

using test::alone;
using test::ion_system;
using test::some_density;

constexpr double pi = std::numbers::pi;

/// Densities of the spins: the second is the first one backwards, a third of it.
std::vector<double> densities(const System& system, int spins) {
  std::vector<double> n = some_density(system.grid, alone(system).box());
  if (spins == 2) {
    std::vector<double> other(n.rbegin(), n.rend());
    for (const double value : other) n.push_back(value / 3);
  }
  return n;
}

}  // namespace

TEST_CASE("xc on the grid: the potential is the derivative of the energy at every point, however rough the density") {
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated})
    for (const int spins : {1, 2})
      for (const char* name : {"pbe", "blyp"}) {
        CAPTURE(name);
        CAPTURE(spins);
        const System system = ion_system(boundary);
        const Decomposition decomposition = alone(system);
        Stencil stencil(decomposition);
        GridExchangeCorrelation xc(name, spins);
        std::vector<double> n = densities(system, spins), v(n.size()), unused(n.size());
        static_cast<void>(xc.evaluate(v, n, stencil, comm::Communicator::self()));
        for (const std::size_t i : {std::size_t{0}, std::size_t{17}, n.size() / 2 + 5, n.size() - 1}) {
          const double before = n[i], step = 1e-4 * before;
          n[i] = before + step;
          const double more = xc.evaluate(unused, n, stencil, comm::Communicator::self());
          n[i] = before - step;
          const double less = xc.evaluate(unused, n, stencil, comm::Communicator::self());
          n[i] = before;
          CHECK(v[i] == doctest::Approx((more - less) / (2 * step)).epsilon(1e-6));
        }
      }
}

TEST_CASE("xc on the grid: a Gaussian of charge has the energy and potential of its radial integral") {
  System system = ion_system(Boundary::periodic);
  system.grid = {{40, 36, 38}, {0.3, 0.33, 0.31}, Boundary::periodic};
  const Decomposition decomposition = alone(system);
  const Grid& grid = system.grid;
  Stencil stencil(decomposition);
  const double a = 0.5, charge = 2;
  const auto density = [&](double r) { return charge * std::pow(a / pi, 1.5) * std::exp(-a * r * r); };
  std::vector<double> n, radius;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x) {
        const double dx = grid.position(0, x) - 6.05, dy = grid.position(1, y) - 5.9, dz = grid.position(2, z) - 5.8;
        radius.push_back(std::sqrt(dx * dx + dy * dy + dz * dz));
        n.push_back(density(radius.back()));
      }
  for (const std::string name : {"pbe", "revpbe", "blyp"}) {
    CAPTURE(name);
    GridExchangeCorrelation xc(name, 1);
    std::vector<double> v(n.size());
    const double energy = xc.evaluate(v, n, stencil, comm::Communicator::self()) * grid.point_volume();
    const ExchangeCorrelation& functional = xc.functional();
    // Energy, and v = df/dn - (r^2 w)' / r^2, with the derivative by differences of the flux.
    const auto flux = [&](double r) {
      double ignored = 0, value = density(r);
      std::array<double, 3> w{};
      const std::array<double, 3> slope{-2 * a * r * value, 0, 0};
      static_cast<void>(functional.evaluate({&ignored, 1}, w, {&value, 1}, slope));
      return std::pair{w[0], ignored};
    };
    constexpr int intervals = 2000;
    constexpr double h = 7.0 / intervals;
    double sum = 0;
    for (int i = 0; i <= intervals; ++i) {
      const double r = h * i, weight = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
      double ignored = 0, value = density(r);
      std::array<double, 3> w{};
      const std::array<double, 3> slope{-2 * a * r * value, 0, 0};
      sum += weight * h / 3 * 4 * pi * r * r * functional.evaluate({&ignored, 1}, w, {&value, 1}, slope);
    }
    CHECK(energy == doctest::Approx(sum).epsilon(1e-5));
    double worst = 0;
    for (std::size_t i = 0; i < n.size(); i += 37) {
      const double r = radius[i], d = 1e-3;
      if (r < 0.5 || r > 2) continue;
      const double divergence =
          ((r + d) * (r + d) * flux(r + d).first - (r - d) * (r - d) * flux(r - d).first) / (2 * d * r * r);
      worst = std::max(worst, std::abs(v[i] - (flux(r).second - divergence)));
    }
    CHECK(worst < 1e-3);  // of 0.7; PBE bends more than the density
  }
}

TEST_CASE("xc on the grid: a local functional is evaluated point by point") {
  const System system = ion_system(Boundary::isolated);
  const Decomposition decomposition = alone(system);
  Stencil stencil(decomposition);
  const std::vector<double> n = densities(system, 2);
  std::vector<double> v(n.size()), expected(n.size());
  GridExchangeCorrelation xc("pz", 2);
  CHECK(xc.evaluate(v, n, stencil, comm::Communicator::self()) == ExchangeCorrelation("pz", 2).evaluate(expected, n));
  CHECK(v == expected);
}

}  // namespace halocline::tddft
