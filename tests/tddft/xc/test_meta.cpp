// SPDX-License-Identifier: Apache-2.0
// Functionals of the kinetic energy density at a point: against their limits, their own slopes, and exact energies.
#include "halocline/core/error.hpp"
#include "halocline/tddft/xc/xc.hpp"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace halocline::tddft {
namespace {

constexpr double pi = std::numbers::pi;
const std::vector<std::string> names{"r2scan", "scan", "tpss"};

struct Point {
  double energy = 0;
  std::array<double, 2> v{}, kinetic_slope{};
  std::array<double, 6> flux{};
};

using Densities = std::array<double, 2>;
using Gradients = std::array<double, 6>;

Point at(const ExchangeCorrelation& functional, const Densities& n, const Gradients& gradient,
         const Densities& kinetic) {
  Point point;
  point.energy = functional.evaluate({.f = {}, .v = point.v, .flux = point.flux, .kinetic_slope = point.kinetic_slope},
                                     {.n = n, .gradient = gradient, .laplacian = {}, .kinetic = kinetic});
  return point;
}

/// Kinetic energy density of a uniform gas of one spin.
double of_gas(double n) { return 0.3 * std::pow(6 * pi * pi, 2.0 / 3) * std::pow(n, 5.0 / 3); }

/// Energy of the hydrogen atom's density, one electron of one spin, by Simpson's rule.
double of_hydrogen(const std::string& name) {
  const ExchangeCorrelation functional(name, 2);
  constexpr int intervals = 4000;
  constexpr double h = 16.0 / intervals;
  double sum = 0;
  for (int i = 1; i <= intervals; ++i) {
    const double r = h * i, n = std::exp(-2 * r) / pi, weight = i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * h / 3 * 4 * pi * r * r * at(functional, {n, 0}, {-2 * n, 0, 0, 0, 0, 0}, {0.5 * n, 0}).energy;
  }
  return sum;
}

}  // namespace

TEST_CASE("meta-GGA: in a uniform gas they are the local functional of Perdew and Wang") {
  const ExchangeCorrelation local("pw", 2);
  for (const std::string& name : names) {
    CAPTURE(name);
    const ExchangeCorrelation functional(name, 2);
    for (const Densities n : {Densities{0.01, 0.01}, Densities{0.2, 0.2}, Densities{0.1, 0.03}}) {
      std::array<double, 2> v{};
      const double expected = local.evaluate(v, n);
      const Point found = at(functional, n, {}, {of_gas(n[0]), of_gas(n[1])});
      CHECK(found.energy == doctest::Approx(expected).epsilon(n[0] == n[1] ? 2e-5 : 3e-3));
    }
  }
}

TEST_CASE("meta-GGA: exchange and correlation of the hydrogen atom, exactly -5/16 hartree") {
  CHECK(of_hydrogen("tpss") == doctest::Approx(-0.3125).epsilon(2e-4));
  CHECK(of_hydrogen("scan") == doctest::Approx(-0.3125).epsilon(1e-3));
  CHECK(of_hydrogen("r2scan") == doctest::Approx(-0.3125).epsilon(2e-3));
  CHECK(std::abs(of_hydrogen("mgga_x_tpss+gga_c_pbe") + 0.3125) > 5e-3);  // PBE has a correlation of one electron
}

TEST_CASE("meta-GGA: potentials, fluxes and kinetic slopes are the derivatives of the energy") {
  const Densities n{0.11, 0.07};
  const Gradients gradient{0.05, -0.02, 0.03, -0.01, 0.04, 0.02};
  // Of the last two, one and both spins are in an empty core.
  for (const auto& [name, kinetic] :
       {std::pair{"r2scan", Densities{0.09, 0.04}}, std::pair{"scan", Densities{0.09, 0.04}},
        std::pair{"tpss", Densities{0.09, 0.04}}, std::pair{"r2scan", Densities{20, 0.04}},
        std::pair{"tpss", Densities{30, 12}}}) {
    CAPTURE(name);
    CAPTURE(kinetic[0]);
    const ExchangeCorrelation functional(name, 2);
    const Point point = at(functional, n, gradient, kinetic);
    const auto slope = [&](const auto& change) {
      const double step = 1e-5;
      return (change(step) - change(-step)) / (2 * step);
    };
    for (std::size_t s = 0; s < 2; ++s) {
      CHECK(point.v[s] == doctest::Approx(slope([&](double step) {
                            Densities moved = n;
                            moved[s] += step;
                            return at(functional, moved, gradient, kinetic).energy;
                          })).epsilon(1e-6));
      CHECK(point.kinetic_slope[s] == doctest::Approx(slope([&](double step) {
                                        Densities moved = kinetic;
                                        moved[s] += step;
                                        return at(functional, n, gradient, moved).energy;
                                      })).epsilon(1e-6));
    }
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(point.flux[i] == doctest::Approx(slope([&](double step) {
                               Gradients moved = gradient;
                               moved[i] += step;
                               return at(functional, n, moved, kinetic).energy;
                             })).epsilon(1e-6));
  }
}

TEST_CASE("tb-mbj: a uniform gas has the local potential, whatever the mean slope; otherwise that shifts it") {
  ExchangeCorrelation functional("tb-mbj", 1), local("pw", 1);
  CHECK(functional.is_potential());
  CHECK(functional.has_kinetic());
  const auto potential = [&](double n, double slope, double laplacian, double kinetic, double mean) {
    functional.set_mean_slope(mean);
    double v = 0, kinetic_slope = 0;
    std::array<double, 3> flux{};
    const std::array<double, 3> gradient{slope, 0, 0};
    static_cast<void>(functional.evaluate({{}, {&v, 1}, flux, {&kinetic_slope, 1}},
                                          {{&n, 1}, gradient, {&laplacian, 1}, {&kinetic, 1}}));
    CHECK(kinetic_slope == 0);
    for (const double w : flux) CHECK(w == 0);
    return v;
  };
  for (const double n : {0.01, 0.1}) {
    double expected = 0;
    static_cast<void>(local.evaluate({&expected, 1}, {&n, 1}));
    const double kinetic = 2 * of_gas(n / 2);
    CHECK(potential(n, 0, 0, kinetic, 0.97) == doctest::Approx(expected).epsilon(0.01));
    CHECK(potential(n, 0, 0, kinetic, 2.5) == doctest::Approx(expected).epsilon(0.02));
  }
  CHECK(std::abs(potential(0.05, 0.04, 0.01, 0.02, 2.5) - potential(0.05, 0.04, 0.01, 0.02, 1.0)) > 0.005);
}

TEST_CASE("tb-mbj: a parameter that is given stays, whatever the density") {
  ExchangeCorrelation given("tb-mbj:1.12", 1), found("tb-mbj", 1);
  CHECK(given.name() == "tb-mbj:1.12");
  CHECK_FALSE(given.has_mean_slope());
  const auto potential = [](ExchangeCorrelation& functional, double mean) {
    functional.set_mean_slope(mean);
    double v = 0, n = 0.05, laplacian = 0.01, kinetic = 0.02, kinetic_slope = 0;
    std::array<double, 3> flux{};
    const std::array<double, 3> gradient{0.04, 0, 0};
    static_cast<void>(functional.evaluate({{}, {&v, 1}, flux, {&kinetic_slope, 1}},
                                          {{&n, 1}, gradient, {&laplacian, 1}, {&kinetic, 1}}));
    return v;
  };
  CHECK(potential(given, 0.5) == potential(given, 2.0));
  CHECK(potential(given, 0.5) == doctest::Approx(potential(found, std::pow(1.132 / 1.023, 2))).epsilon(1e-12));
  for (const char* wrong : {"tb-mbj:", "tb-mbj:x", "tb-mbj:1.1x", "tb-mbj:9"})
    CHECK_THROWS_WITH_AS(ExchangeCorrelation(wrong, 1), doctest::Contains("between 0.5 and 3"), core::InvalidArgument);
}

TEST_CASE("meta-GGA: what is missing is said, and other kinds are refused by name") {
  const ExchangeCorrelation functional("r2scan", 1);
  double n = 0.1, v = 0;
  CHECK(functional.has_kinetic());
  CHECK_FALSE(functional.is_potential());
  CHECK_FALSE(ExchangeCorrelation("pbe", 1).has_kinetic());
  CHECK(ExchangeCorrelation("mgga_x_r2scan+mgga_c_r2scan", 1).name() == "r2scan");
  CHECK_THROWS_WITH_AS(static_cast<void>(functional.evaluate({&v, 1}, {&n, 1})), doctest::Contains("gradients"),
                       core::InvalidArgument);
  std::array<double, 3> three{};
  CHECK_THROWS_WITH_AS(static_cast<void>(functional.evaluate({&v, 1}, three, {&n, 1}, three)),
                       doctest::Contains("kinetic energy densities"), core::InvalidArgument);
  for (const char* refused : {"hyb_gga_xc_b3lyp", "mgga_x_br89", "mgga_k_pc07", "mgga_x_bj06"})
    CHECK_THROWS_WITH_AS(ExchangeCorrelation(refused, 1), doctest::Contains("not available"), core::InvalidArgument);
}

}  // namespace halocline::tddft
