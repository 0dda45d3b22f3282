// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/fix.hpp"
#include "halocline/qcd/gauge/topological_charge.hpp"
#include "qcd/gauge/sample_fields.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace halocline;
using lattice::Coordinates;
using qcd::GaugeField;
using qcd::Su3;
namespace gauge = qcd::gauge;

namespace {

/// theta from its definition, walked with periodic wrapping: no ghosts, no packs.
double theta_by_definition(const GaugeField& u, int axes) {
  const auto& extents = u.geometry().local();
  auto potential = [&](const Coordinates<4>& x, int mu) {  // i A
    const auto link = u.link(x, mu);
    Su3<double> a = 0.5 * (link - adjoint(link));
    const double mean = trace(a).im / 3;
    for (int i = 0; i < 3; ++i) a.e[i][i].im -= mean;
    return a;
  };
  double sum = 0;
  sample::for_each_site(u.geometry(), [&](const Coordinates<4>& x) {
    Su3<double> divergence = Su3<double>::zero();
    for (int mu = 0; mu < axes; ++mu) {
      auto back = x;
      back[mu] = (back[mu] + extents[mu] - 1) % extents[mu];
      divergence += potential(x, mu) - potential(back, mu);
    }
    sum += real_trace_times_adjoint(divergence, divergence) / 3;
  });
  return sum / static_cast<double>(u.geometry().local_volume());
}

}  // namespace

TEST_CASE("gauge fixing: theta is the mean square divergence of A") {
  const auto u = sample::field(sample::geometry({10, 4, 6, 2}), 0.5);
  CHECK(std::abs(gauge::landau_theta(u) / theta_by_definition(u, 4) - 1) < 1e-13);
  CHECK(std::abs(gauge::coulomb_theta(u) / theta_by_definition(u, 3) - 1) < 1e-13);
}

TEST_CASE("gauge fixing: pure gauge in Landau gauge is the unit field up to a constant") {
  const auto geometry = sample::geometry({6, 4, 4, 10});
  auto u = sample::transformed(GaugeField(geometry), 2, 0.5);
  CHECK(gauge::landau_theta(u) > 0.1);
  const auto report = gauge::fix_landau(u, {.tolerance = 1e-26});
  CHECK(report.converged);
  CHECK(std::abs(report.functional - 1) < 1e-13);
  CHECK(sample::distance(u, GaugeField(geometry)) < 1e-11);
}

TEST_CASE("gauge fixing: pure gauge in Coulomb gauge has unit links in space and constant ones in time") {
  const auto geometry = sample::geometry({6, 4, 4, 2});
  auto u = sample::transformed(GaugeField(geometry), 3, 0.5);
  const auto report = gauge::fix_coulomb(u, {.tolerance = 1e-26});
  CHECK(report.converged);
  double space = 0, time = 0;
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    for (int mu = 0; mu < 3; ++mu) space = std::max(space, sample::distance(u.link(x, mu), Su3<double>::unit()));
    time = std::max(time, sample::distance(u.link(x, 3), u.link({0, 0, 0, x[3]}, 3)));
  });
  CHECK(space < 1e-11);
  CHECK(time < 1e-10);
}

TEST_CASE("gauge fixing: the functional never falls, with and without over-relaxation, from a random field") {
  for (double omega : {1.0, 1.7, 1.95}) {
    auto u = sample::field(sample::geometry({4, 6, 4, 2}), 0);
    const auto report =
        gauge::fix_landau(u, {.tolerance = 1e-20, .max_iterations = 60, .omega = omega, .check_every = 1});
    REQUIRE(report.history.size() > 10);
    for (std::size_t k = 1; k < report.history.size(); ++k)
      REQUIRE(report.history[k].functional > report.history[k - 1].functional - 1e-14);
    CHECK(report.functional > report.history[0].functional + 0.1);
  }
}

TEST_CASE("gauge fixing: reaches its tolerance on a rough field and changes no gauge-invariant number") {
  const auto start = sample::field(sample::geometry({4, 4, 6, 4}), 0.5);
  const auto before = gauge::clover_observables(start);
  for (bool landau : {true, false}) {
    auto u = start;
    const gauge::FixParameters parameters{.tolerance = 1e-18};
    const auto report = landau ? gauge::fix_landau(u, parameters) : gauge::fix_coulomb(u, parameters);
    CHECK(report.converged);
    CHECK(report.reason == "converged");
    CHECK(report.theta <= 1e-18);
    CHECK(theta_by_definition(u, landau ? 4 : 3) < 1.01e-18);
    CHECK(report.iterations == report.history.back().iterations);
    const auto after = gauge::clover_observables(u);
    CHECK(std::abs(after.plaquette - before.plaquette) < 1e-14);
    CHECK(std::abs(after.energy_clover - before.energy_clover) < 1e-12);
    CHECK(std::abs(after.topological_charge - before.topological_charge) < 1e-13);
    CHECK(u.unitarity_violation() < 20e-16);
    const auto again = landau ? gauge::fix_landau(u, parameters) : gauge::fix_coulomb(u, parameters);
    CHECK(again.iterations == 0);
  }
}

TEST_CASE("gauge fixing: of two gauge copies of a smooth field ends at the same functional") {
  const auto u = sample::smooth_field(sample::geometry({4, 4, 4, 8}), 0.05);
  auto a = u, b = sample::transformed(u, 8, 0.3);
  const gauge::FixParameters parameters{.tolerance = 1e-24};
  const auto first = gauge::fix_landau(a, parameters), second = gauge::fix_landau(b, parameters);
  REQUIRE(first.converged);
  REQUIRE(second.converged);
  CHECK(std::abs(first.functional - second.functional) < 1e-13);
}

TEST_CASE("gauge fixing: over-relaxation needs fewer iterations") {
  const auto start = sample::field(sample::geometry({8, 4, 4, 8}), 0.3);
  auto plain = start, over = start;
  const auto slow = gauge::fix_landau(plain, {.tolerance = 1e-16, .omega = 1.0});
  const auto fast = gauge::fix_landau(over, {.tolerance = 1e-16, .omega = 1.5});
  REQUIRE(slow.converged);
  REQUIRE(fast.converged);
  CHECK(2 * fast.iterations < slow.iterations);
}

TEST_CASE("gauge fixing: says why it stopped") {
  const auto start = sample::field(sample::geometry({4, 4, 4, 4}), 0);
  auto u = start;
  const auto limited = gauge::fix_landau(u, {.max_iterations = 7});
  CHECK(limited.reason == "iteration limit");
  CHECK(limited.iterations == 7);
  CHECK_FALSE(limited.converged);
  u = start;
  const auto cancelled =
      gauge::fix_coulomb(u, {.check_every = 5}, [](const gauge::FixPoint& point) { return point.iterations < 10; });
  CHECK(cancelled.reason == "cancelled");
  CHECK(cancelled.iterations == 10);
  u.set_link({1, 2, 3, 0}, 2, std::nan("") * start.link({0, 0, 0, 0}, 0));
  u.exchange_ghosts();
  const auto broken = gauge::fix_landau(u);
  CHECK(broken.reason == "not finite");
  CHECK_FALSE(broken.converged);
}

TEST_CASE("gauge fixing: parameters that mean nothing and odd lattices are refused") {
  GaugeField u(sample::geometry({4, 4, 4, 4}));
  CHECK_THROWS_AS(gauge::fix_landau(u, {.tolerance = 0}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::fix_landau(u, {.max_iterations = -1}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::fix_landau(u, {.omega = 2}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::fix_coulomb(u, {.omega = 0.5}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::fix_coulomb(u, {.check_every = 0}), core::InvalidArgument);
  GaugeField odd(sample::geometry({4, 3, 4, 4}));
  CHECK_THROWS_AS(gauge::fix_landau(odd), core::InvalidArgument);
}
