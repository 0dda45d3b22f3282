// SPDX-License-Identifier: Apache-2.0
// Functionals with gradients at a point: against their formulas, their limits, their own slopes, and published
// energies.
#include "halocline/tddft/xc/xc.hpp"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <numbers>
#include <string>
#include <vector>

namespace halocline::tddft {
namespace {

constexpr double pi = std::numbers::pi;

/// Energy in a volume, potential and flux of two spins at a point.
struct Point {
  double energy;
  std::array<double, 2> v;
  std::array<double, 6> flux;
};

using Densities = std::array<double, 2>;
using Gradients = std::array<double, 6>;  // (spin, axis)

Point at(const ExchangeCorrelation& functional, const Densities& n, const Gradients& gradient) {
  Point point{};
  point.energy = functional.evaluate(point.v, point.flux, n, gradient);
  return point;
}

/// Without spin.
struct PlainPoint {
  double energy, v;
  std::array<double, 3> flux;
};
PlainPoint at(const ExchangeCorrelation& functional, double n, const std::array<double, 3>& gradient) {
  PlainPoint point{};
  point.energy = functional.evaluate({&point.v, 1}, point.flux, {&n, 1}, gradient);
  return point;
}

const std::vector<std::string> names{"pbe", "pbesol", "revpbe", "blyp", "gga_x_pw91+gga_c_pw91", "lda_x+gga_c_pbe"};

/// Enhancement of exchange over the local one: 1 + kappa - kappa / (1 + mu s^2 / kappa).
double pbe_exchange(double n, double slope, double kappa, double mu) {
  const double s = slope / (2 * std::cbrt(3 * pi * pi) * std::pow(n, 4.0 / 3));
  return -0.75 * std::cbrt(3 / pi) * std::pow(n, 4.0 / 3) * (1 + kappa - kappa / (1 + mu * s * s / kappa));
}

}  // namespace

TEST_CASE("xc with gradients: the exchange of PBE and its relatives are the formulas of their papers") {
  constexpr double mu = 0.06672455060314922 * pi * pi / 3;  // of PBE
  for (const double n : {1e-3, 0.05, 0.7})
    for (const double slope : {0.0, 0.3 * n, 2 * n, 10 * n}) {
      const std::array<double, 3> along{0.6 * slope, 0, -0.8 * slope};
      CHECK(at({"gga_x_pbe", 1}, n, along).energy == doctest::Approx(pbe_exchange(n, slope, 0.804, mu)).epsilon(1e-9));
      CHECK(at({"gga_x_pbe_r", 1}, n, along).energy ==
            doctest::Approx(pbe_exchange(n, slope, 1.245, mu)).epsilon(1e-9));
      CHECK(at({"gga_x_pbe_sol", 1}, n, along).energy ==
            doctest::Approx(pbe_exchange(n, slope, 0.804, 10.0 / 81)).epsilon(1e-9));
    }
}

TEST_CASE("xc with gradients: without a gradient PBE is the local functional of Perdew and Wang") {
  const ExchangeCorrelation local("pw", 2);
  for (const char* name : {"pbe", "pbesol", "revpbe"}) {
    const ExchangeCorrelation functional(name, 2);
    for (const Densities& n : {Densities{0.01, 0.01}, {0.3, 0.1}, {2.0, 0.5}}) {
      std::array<double, 2> v{};
      const double energy = local.evaluate(v, n);
      const Point point = at(functional, n, {});
      CHECK(point.energy == doctest::Approx(energy).epsilon(1e-6));
      for (std::size_t s = 0; s < 2; ++s) CHECK(point.v[s] == doctest::Approx(v[s]).epsilon(1e-6));
      for (const double w : point.flux) CHECK(w == 0);
    }
  }
}

TEST_CASE("xc with gradients: potential and flux are the slopes of the energy in each spin") {
  const Densities n{0.12, 0.07};
  const Gradients gradient{0.1, -0.05, 0.02, 0.03, 0.08, -0.06};
  for (const std::string& name : names) {
    CAPTURE(name);
    const ExchangeCorrelation functional(name, 2);
    CHECK(functional.has_gradients());
    const Point here = at(functional, n, gradient);
    constexpr double step = 1e-5;
    for (std::size_t s = 0; s < 2; ++s) {
      Densities more = n, less = n;
      more[s] += step;
      less[s] -= step;
      const double slope = (at(functional, more, gradient).energy - at(functional, less, gradient).energy) / (2 * step);
      CHECK(here.v[s] == doctest::Approx(slope).epsilon(1e-6));
    }
    for (std::size_t k = 0; k < 6; ++k) {
      Gradients more = gradient, less = gradient;
      more[k] += step;
      less[k] -= step;
      const double slope = (at(functional, n, more).energy - at(functional, n, less).energy) / (2 * step);
      CHECK(std::abs(here.flux[k] - slope) < 1e-8);
    }
  }
}

TEST_CASE("xc with gradients: two equal spins are none; spins and axes may change places") {
  for (const std::string& name : names) {
    CAPTURE(name);
    const ExchangeCorrelation one(name, 1), two(name, 2);
    const PlainPoint plain = at(one, 0.2, {0.1, -0.2, 0.05});
    const Point equal = at(two, {0.1, 0.1}, {0.05, -0.1, 0.025, 0.05, -0.1, 0.025});
    CHECK(equal.energy == doctest::Approx(plain.energy).epsilon(1e-12));
    for (std::size_t k = 0; k < 6; ++k) CHECK(equal.flux[k] == doctest::Approx(plain.flux[k % 3]).epsilon(1e-10));
    for (std::size_t s = 0; s < 2; ++s) CHECK(equal.v[s] == doctest::Approx(plain.v).epsilon(1e-10));
    const Point a = at(two, {0.1, 0.3}, {0.05, -0.1, 0.02, 0.01, 0.2, -0.1});
    const Point b = at(two, {0.3, 0.1}, {0.01, 0.2, -0.1, 0.05, -0.1, 0.02});
    CHECK(a.energy == doctest::Approx(b.energy).epsilon(1e-13));
    for (std::size_t k = 0; k < 6; ++k) CHECK(a.flux[k] == doctest::Approx(b.flux[(k + 3) % 6]).epsilon(1e-11));
  }
}

TEST_CASE("xc with gradients: no electrons and very few are harmless") {
  for (const std::string& name : names)
    for (const double n : {0.0, -1e-3, 1e-300, 1e-20, 1e-12})
      for (const double relative : {0.0, 1.0, 5.0}) {
        CAPTURE(name);
        CAPTURE(n);
        const double slope = relative * std::abs(n);
        const Point point = at({name, 2}, {n, n}, {slope, 0, 0, 0, slope, 0});
        CHECK(std::isfinite(point.energy));
        for (const double v : point.v) CHECK(std::abs(v) < 1e-2);
        for (const double w : point.flux) CHECK(std::isfinite(w));
      }
}

TEST_CASE("xc with gradients: the hydrogen atom has the published energies of PBE") {
  // n = exp(-2 r) / pi in one spin; J. P. Perdew, K. Burke, M. Ernzerhof give -0.3059 and -0.0060 hartree.
  const auto energy = [](const std::string& name) {
    const ExchangeCorrelation functional(name, 2);
    constexpr int intervals = 4000;
    constexpr double reach = 20, h = reach / intervals;
    double sum = 0;
    for (int i = 0; i <= intervals; ++i) {
      const double r = h * i, n = std::exp(-2 * r) / pi, weight = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
      sum += weight * h / 3 * 4 * pi * r * r * at(functional, {n, 0}, {-2 * n, 0, 0, 0, 0, 0}).energy;
    }
    return sum;
  };
  CHECK(energy("gga_x_pbe") == doctest::Approx(-0.3059).epsilon(2e-4));
  CHECK(energy("gga_c_pbe") == doctest::Approx(-0.0060).epsilon(1e-2));
  CHECK(energy("gga_x_b88") == doctest::Approx(-0.3098).epsilon(5e-4));
  CHECK(std::abs(energy("gga_c_lyp")) < 1e-10);  // LYP gives a single electron no correlation
}

}  // namespace halocline::tddft
