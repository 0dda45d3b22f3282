// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/smear.hpp"
#include "halocline/qcd/gauge/topological_charge.hpp"
#include "qcd/gauge/sample_fields.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace halocline;
using lattice::Coordinates;
using qcd::GaugeField;
using qcd::Su3;
namespace gauge = qcd::gauge;
using gauge::SmearedAxes;

namespace {

constexpr SmearedAxes both_kinds[2] = {SmearedAxes::all, SmearedAxes::spatial};

/// Sum of the staples of a link, walked with periodic wrapping: no ghosts, no packs.
Su3<double> staples(const GaugeField& u, const Coordinates<4>& x, int mu, int axes) {
  const auto& extents = u.geometry().local();
  auto neighbour = [&](Coordinates<4> y, int axis, int step) {
    y[axis] = (y[axis] + step + extents[axis]) % extents[axis];
    return y;
  };
  Su3<double> sum = Su3<double>::zero();
  for (int nu = 0; nu < axes; ++nu) {
    if (nu == mu) continue;
    const auto up = neighbour(x, nu, 1), down = neighbour(x, nu, -1), ahead = neighbour(x, mu, 1);
    sum += u.link(x, nu) * u.link(up, mu) * adjoint(u.link(ahead, nu));
    sum += adjoint(u.link(down, nu)) * u.link(down, mu) * u.link(neighbour(ahead, nu, -1), nu);
  }
  return sum;
}

/// exp(i Q) U with Q of Morningstar and Peardon's eqs. 2 and 3, exp by its series.
Su3<double> stout_link(const GaugeField& u, const Coordinates<4>& x, int mu, double rho, int axes) {
  const Su3<double> omega = rho * (staples(u, x, mu, axes) * adjoint(u.link(x, mu)));
  Su3<double> iq = -0.5 * (adjoint(omega) - omega);
  const core::Complex<double> third{trace(iq).re / 3, trace(iq).im / 3};
  for (int i = 0; i < 3; ++i) iq.e[i][i] -= third;
  Su3<double> sum = Su3<double>::unit(), term = Su3<double>::unit();
  for (int n = 1; n < 40; ++n) {
    term = (1.0 / n) * (term * iq);
    sum += term;
  }
  return sum * u.link(x, mu);
}

}  // namespace

TEST_CASE("stout: equals the definition, link by link") {
  const auto geometry = sample::geometry({10, 4, 6, 2});
  const auto u = sample::field(geometry, 0.5);
  for (auto kind : both_kinds) {
    GaugeField smeared = u;
    gauge::smear_stout(smeared, {.rho = 0.12, .steps = 1, .axes = kind});
    const int axes = kind == SmearedAxes::all ? 4 : 3;
    double largest = 0;
    sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
      for (int mu = 0; mu < axes; ++mu)
        largest = std::max(largest, sample::distance(smeared.link(x, mu), stout_link(u, x, mu, 0.12, axes)));
    });
    CHECK(largest < 50e-16);
    CHECK(smeared.unitarity_violation() < 20e-16);
  }
}

TEST_CASE("APE: the link has the largest trace with the weighted sum of itself and its staples") {
  const auto geometry = sample::geometry({10, 4, 6, 2});
  const auto u = sample::field(geometry, 0.4);
  for (auto kind : both_kinds) {
    GaugeField smeared = u;
    gauge::smear_ape(smeared, {.alpha = 0.6, .steps = 1, .axes = kind});
    const int axes = kind == SmearedAxes::all ? 4 : 3;
    double torque = 0, least_gain = 10;
    sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
      for (int mu = 0; mu < axes; ++mu) {
        const auto link = u.link(x, mu), found = smeared.link(x, mu);
        const auto m = 0.4 * link + (0.6 / (2 * (axes - 1))) * staples(u, x, mu, axes);
        torque = std::max(torque,
                          sample::distance(qcd::traceless_antihermitian(times_adjoint(m, found)), Su3<double>::zero()));
        least_gain = std::min(least_gain, real_trace_times_adjoint(m, found) - real_trace_times_adjoint(m, link));
      }
    });
    CHECK(torque < 1e-14);
    CHECK(least_gain > 0);
    CHECK(smeared.unitarity_violation() < 20e-16);
  }
}

TEST_CASE("smearing: commutes with gauge transformations") {
  const auto u = sample::field(sample::geometry({6, 4, 2, 4}), 0.5);
  const auto v = sample::transformed(u, 4);
  for (auto kind : both_kinds) {
    GaugeField a = u, b = v;
    gauge::smear_stout(a, {.rho = 0.1, .steps = 3, .axes = kind});
    gauge::smear_stout(b, {.rho = 0.1, .steps = 3, .axes = kind});
    CHECK(sample::distance(sample::transformed(a, 4), b) < 1e-13);
    a = u;
    b = v;
    gauge::smear_ape(a, {.alpha = 0.5, .steps = 3, .axes = kind});
    gauge::smear_ape(b, {.alpha = 0.5, .steps = 3, .axes = kind});
    CHECK(sample::distance(sample::transformed(a, 4), b) < 1e-13);
  }
}

TEST_CASE("smearing: raises the plaquette, and n steps are n times one") {
  const auto u = sample::field(sample::geometry({4, 6, 4, 4}), 0.6);
  auto plaquette = [](const GaugeField& field) { return gauge::clover_observables(field).plaquette; };
  GaugeField stout = u, ape = u;
  double last_stout = plaquette(u), last_ape = last_stout;
  for (int step = 0; step < 3; ++step) {
    gauge::smear_stout(stout, {.rho = 0.1, .steps = 1});
    gauge::smear_ape(ape, {.alpha = 0.5, .steps = 1});
    CHECK(plaquette(stout) > last_stout + 0.01);
    CHECK(plaquette(ape) > last_ape + 0.01);
    last_stout = plaquette(stout);
    last_ape = plaquette(ape);
  }
  GaugeField at_once = u;
  gauge::smear_stout(at_once, {.rho = 0.1, .steps = 3});
  CHECK(sample::distance(at_once, stout) == 0);
  at_once = u;
  gauge::smear_ape(at_once, {.alpha = 0.5, .steps = 3});
  CHECK(sample::distance(at_once, ape) == 0);
}

TEST_CASE("smearing: weights that would roughen the links are refused") {
  auto u = sample::field(sample::geometry({4, 4, 2, 6}), 0.5);
  const GaugeField before = u;
  for (const double rho : {-1.0, -1e-9, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    CHECK_THROWS_WITH_AS(gauge::smear_stout(u, {.rho = rho}), doctest::Contains("rho = "), core::InvalidArgument);
  for (const double alpha : {-0.1, 1.1, static_cast<double>(NAN)})
    CHECK_THROWS_WITH_AS(gauge::smear_ape(u, {.alpha = alpha}), doctest::Contains("alpha = "), core::InvalidArgument);
  CHECK(sample::distance(u, before) == 0);
}

TEST_CASE("smearing: no step, no weight and unit links change nothing; spatial smearing keeps the links in time") {
  const auto geometry = sample::geometry({4, 4, 2, 6});
  const auto u = sample::field(geometry, 0.5);
  GaugeField v = u;
  gauge::smear_stout(v, {.steps = 0});
  gauge::smear_ape(v, {.steps = 0});
  CHECK(sample::distance(u, v) == 0);
  gauge::smear_stout(v, {.rho = 0});
  gauge::smear_ape(v, {.alpha = 0});
  CHECK(sample::distance(u, v) < 20e-16);
  GaugeField unit(geometry);
  gauge::smear_stout(unit, {.steps = 2});
  gauge::smear_ape(unit, {.steps = 2});
  CHECK(sample::distance(unit, GaugeField(geometry)) < 20e-16);
  v = u;
  gauge::smear_stout(v, {.rho = 0.1, .steps = 2, .axes = SmearedAxes::spatial});
  gauge::smear_ape(v, {.alpha = 0.5, .steps = 2, .axes = SmearedAxes::spatial});
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    REQUIRE(sample::distance(u.link(x, 3), v.link(x, 3)) == 0);
    for (int mu = 0; mu < 3; ++mu) REQUIRE(sample::distance(u.link(x, mu), v.link(x, mu)) > 1e-3);
  });
}

TEST_CASE("smearing: parameters that mean nothing are refused") {
  GaugeField u(sample::geometry({4, 4, 4, 4}));
  CHECK_THROWS_AS(gauge::smear_ape(u, {.alpha = -0.1}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::smear_ape(u, {.alpha = 1.5}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::smear_ape(u, {.alpha = std::nan("")}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::smear_ape(u, {.steps = -1}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::smear_stout(u, {.steps = -1}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::smear_stout(u, {.rho = INFINITY}), core::InvalidArgument);
}
