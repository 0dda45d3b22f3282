// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/flow.hpp"
#include "halocline/qcd/gauge/smear.hpp"
#include "qcd/gauge/sample_fields.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace halocline;
using lattice::Coordinates;
using qcd::GaugeField;
using qcd::Su3;
namespace gauge = qcd::gauge;

namespace {

GaugeField flowed(GaugeField u, double t, int steps) {
  for (int k = 0; k < steps; ++k) gauge::flow_step(u, t / steps);
  return u;
}

}  // namespace

TEST_CASE("flow: the error falls with the third power of the step") {
  const auto u = sample::field(sample::geometry({4, 2, 4, 2}), 0.4);
  const auto exact = flowed(u, 0.2, 160);
  const double coarse = sample::distance(flowed(u, 0.2, 5), exact);
  const double middle = sample::distance(flowed(u, 0.2, 10), exact);
  const double fine = sample::distance(flowed(u, 0.2, 20), exact);
  CHECK(coarse > 1e-7);  // far above rounding
  CHECK(coarse / middle > 6);
  CHECK(coarse / middle < 11);
  CHECK(middle / fine > 7);
  CHECK(middle / fine < 9.5);
}

TEST_CASE("flow: its beginning is stout smearing with rho the step") {
  const auto u = sample::field(sample::geometry({4, 4, 4, 4}), 0.4);
  double distance[2];
  for (int k = 0; k < 2; ++k) {
    const double step = 0.01 / (1 << k);
    GaugeField stout = u;
    gauge::smear_stout(stout, {.rho = step});
    distance[k] = sample::distance(stout, flowed(u, step, 1));
  }
  CHECK(distance[0] / distance[1] > 3.5);  // Euler's method: a second-order difference in one step
  CHECK(distance[0] / distance[1] < 4.5);
}

TEST_CASE("flow: a weak plane wave decays as exp(-4 sin^2(p/2) t)") {
  const auto geometry = sample::geometry({8, 2, 2, 4});
  const double p = 2 * std::numbers::pi / 8, amplitude = 1e-4;
  GaugeField u(geometry);
  auto angle = [&](const Coordinates<4>& x) { return amplitude * std::cos(p * static_cast<double>(x[0])); };
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    Su3<double> link = Su3<double>::unit();
    link.e[1][1] = {std::cos(angle(x)), std::sin(angle(x))};
    link.e[2][2] = core::conj(link.e[1][1]);
    u.set_link(x, 1, link);
  });
  u.exchange_ghosts();
  const double t = 0.7, decay = std::exp(-4 * std::pow(std::sin(p / 2), 2) * t);
  const auto v = flowed(u, t, 35);
  double largest = 0;
  sample::for_each_site(*geometry, [&](const Coordinates<4>& x) {
    largest = std::max(largest, std::abs(v.link(x, 1).e[1][1].im - decay * angle(x)));
  });
  CHECK(largest < 1e-6 * amplitude);  // step^3 and amplitude^2
}

TEST_CASE("flow: the plaquette only rises, the energy falls, the links stay in the group") {
  auto u = sample::field(sample::geometry({4, 4, 4, 6}), 0);
  const auto report = gauge::wilson_flow(u, {.t_max = 0.5, .step = 0.05});
  REQUIRE(report.points.size() == 11);
  CHECK(report.reason == "reached t_max");
  CHECK(report.steps == 10);
  CHECK(report.points.back().t == 0.5);
  for (std::size_t k = 1; k < report.points.size(); ++k) {
    CHECK(report.points[k].plaquette > report.points[k - 1].plaquette);
    CHECK(report.points[k].energy_plaquette < report.points[k - 1].energy_plaquette);
  }
  CHECK(u.unitarity_violation() < 100e-16);
}

TEST_CASE("flow: unit links stay where they are, with t^2 E = 0 and no scale") {
  const auto geometry = sample::geometry({4, 4, 2, 4});
  GaugeField u(geometry);
  const auto report = gauge::wilson_flow(u, {.t_max = 1, .step = 0.1});
  CHECK(sample::distance(u, GaugeField(geometry)) == 0);
  for (const auto& point : report.points) {
    CHECK(std::abs(point.t2_energy_plaquette()) < 1e-14);
    CHECK(std::abs(point.t2_energy_clover()) < 1e-14);
  }
  CHECK_FALSE(report.t0.has_value());
  CHECK_FALSE(report.w0.has_value());
}

TEST_CASE("flow: commutes with gauge transformations") {
  const auto u = sample::field(sample::geometry({6, 4, 2, 4}), 0.5);
  CHECK(sample::distance(sample::transformed(flowed(u, 0.3, 5), 6), flowed(sample::transformed(u, 6), 0.3, 5)) < 1e-13);
}

TEST_CASE("flow: the adaptive step keeps its tolerance and needs fewer steps later") {
  const auto start = sample::field(sample::geometry({4, 4, 4, 4}), 0.7);
  const auto exact = flowed(start, 1, 400);
  GaugeField u = start;
  const auto report = gauge::wilson_flow(u, {.t_max = 1, .step = 0.5, .adaptive = true, .tolerance = 1e-5});
  CHECK(report.points.back().t == 1);
  CHECK(report.rejected > 0);  // the first step asked for is far too long
  CHECK(sample::distance(u, exact) < 1e-5 * report.steps);
  const auto& points = report.points;
  REQUIRE(points.size() > 6);
  CHECK(points[points.size() - 2].t - points[points.size() - 3].t > 1.5 * (points[1].t - points[0].t));
  GaugeField fixed = start;
  const auto same = gauge::wilson_flow(fixed, {.t_max = 1, .step = 1.0 / 64});
  CHECK(std::abs(same.points.back().energy_clover - points.back().energy_clover) < 1e-4);
}

TEST_CASE("flow: t0 and w0 of curves with a known crossing") {
  std::vector<gauge::FlowPoint> points;
  for (int k = 1; k <= 30; ++k) {
    const double t = 0.1 * k;
    gauge::FlowPoint point;
    point.t = t;
    point.energy_clover = (0.02 * t + 0.05 * t * t) / (t * t);
    points.push_back(point);
  }
  // 0.02 t + 0.05 t^2 = 0.3; t (0.02 + 0.1 t) = 0.3. A parabola is interpolated exactly.
  const double t0 = (-0.02 + std::sqrt(0.0004 + 0.06)) / 0.1, w0_squared = (-0.02 + std::sqrt(0.0004 + 0.12)) / 0.2;
  CHECK(std::abs(gauge::flow_scale_t0(points).value() - t0) < 1e-12);
  CHECK(std::abs(gauge::flow_scale_w0(points).value() - std::sqrt(w0_squared)) < 1e-12);
  CHECK_FALSE(gauge::flow_scale_t0(points, 10).has_value());
  CHECK_FALSE(gauge::flow_scale_w0(std::span(points).first(2)).has_value());
  CHECK_FALSE(gauge::flow_scale_t0({}).has_value());
}

TEST_CASE("flow: the caller can stop it, and the points wanted are kept") {
  auto u = sample::field(sample::geometry({4, 4, 2, 2}), 0.4);
  const auto report = gauge::wilson_flow(u, {.t_max = 1, .step = 0.1, .measure_every = 3},
                                         [](const gauge::FlowPoint& point) { return point.t < 0.5; });
  CHECK(report.reason == "cancelled");
  CHECK(report.steps == 6);
  REQUIRE(report.points.size() == 3);
  CHECK(std::abs(report.points[1].t - 0.3) < 1e-15);
  // an uneven last step
  const auto rest = gauge::wilson_flow(u, {.t_max = 0.25, .step = 0.1, .measure_every = 100});
  CHECK(rest.steps == 3);
  REQUIRE(rest.points.size() == 2);
  CHECK(rest.points[1].t == 0.25);
}

TEST_CASE("flow: parameters that mean nothing are refused, and links that are not numbers do not loop") {
  GaugeField u(sample::geometry({4, 4, 2, 2}));
  CHECK_THROWS_AS(gauge::flow_step(u, 0), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::wilson_flow(u, {.t_max = -1}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::wilson_flow(u, {.step = std::nan("")}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::wilson_flow(u, {.measure_every = 0}), core::InvalidArgument);
  CHECK_THROWS_AS(gauge::wilson_flow(u, {.adaptive = true, .tolerance = 1e-15}), core::InvalidArgument);
  Su3<double> bad = Su3<double>::unit();
  bad.e[1][2].im = std::nan("");
  u.set_link({1, 1, 1, 1}, 0, bad);
  u.exchange_ghosts();
  CHECK_THROWS_AS(gauge::wilson_flow(u, {.adaptive = true}), core::Error);
}
