// SPDX-License-Identifier: Apache-2.0
//
// The nucleon: every Wick contraction written index by index, and the laws that tie sign conventions down.

#include <doctest/doctest.h>

#include <numbers>

#include "halocline/core/error.hpp"
#include "halocline/qcd/measure/nucleon.hpp"
#include "qcd/measure/measure_test.hpp"

namespace {

using namespace halocline;
using namespace halocline::test;
using qcd::measure::Momentum;
using qcd::measure::NucleonCorrelator;

int epsilon(int a, int b, int c) { return (b - a) * (c - b) * (c - a) / 2; }

Matrix4 diquark_gamma() {  // C gamma5 with C = gamma_y gamma_t
  return times(times(reference_gamma()[1], reference_gamma()[3]), reference_gamma5());
}

// < O Obar > at one site: u_a^T G d_b u_c at the sink, ubar_c' (dbar_b' Gbar ubar_a'^T) at the source with
// Gbar = gamma_t G^dagger gamma_t, direct minus exchange.
std::array<Complex, 16> plain_site(const Propagator& u, const Propagator& d, std::int64_t site) {
  const Matrix4 g = diquark_gamma();
  const Matrix4 bar = times(times(reference_gamma()[3], dagger(g)), reference_gamma()[3]);
  std::array<Complex, 16> sum{};
  for (int colours = 0; colours < 729; ++colours) {
    const int a = colours % 3, b = colours / 3 % 3, c = colours / 9 % 3;
    const int a2 = colours / 27 % 3, b2 = colours / 81 % 3, c2 = colours / 243;
    const int sign = epsilon(a, b, c) * epsilon(a2, b2, c2);
    if (sign == 0) continue;
    for (int alpha = 0; alpha < 4; ++alpha)
      for (int beta = 0; beta < 4; ++beta)
        for (int rho = 0; rho < 4; ++rho)
          for (int sigma = 0; sigma < 4; ++sigma) {
            const Complex gammas = g[static_cast<std::size_t>(alpha)][static_cast<std::size_t>(beta)] *
                                   bar[static_cast<std::size_t>(rho)][static_cast<std::size_t>(sigma)];
            if (gammas == Complex(0)) continue;
            const Complex factor = static_cast<double>(sign) * gammas * d(site, beta, b, rho, b2);
            for (int row = 0; row < 4; ++row)
              for (int column = 0; column < 4; ++column)
                sum[static_cast<std::size_t>(4 * row + column)] +=
                    factor * (u(site, alpha, a, sigma, a2) * u(site, row, c, column, c2) -
                              u(site, alpha, a, column, c2) * u(site, row, c, sigma, a2));
          }
  }
  return sum;
}

const Site small{2, 2, 2, 6};

std::vector<Complex> unit_links(const Site& extents) {
  std::vector<Complex> links(static_cast<std::size_t>(36 * lattice::product<4>(extents)));
  for (std::size_t i = 0; i < links.size(); ++i) links[i] = i % 9 % 4 == 0 ? 1 : 0;
  return links;
}

ReferenceOperator small_operator(const std::vector<Complex>& links, Complex boundary_t) {
  return {small, links, {.mass = 0.5, .csw = 0.7, .boundary = {1, 1, 1, boundary_t}}};
}

}  // namespace

TEST_CASE("nucleon: equals both contractions written index by index") {
  const Site extents{2, 3, 3, 4};  // 18 sites a slice: the last block is partly filled
  const GeometryPointer geometry = alone(extents);
  const Site x0{1, 0, 2, 2};
  const Propagator u = random_propagator(geometry, x0, 11), d = random_propagator(geometry, x0, 12);
  const std::vector<Momentum> momenta{{0, 0, 0}, {1, 1, -1}};
  const Complex phase = std::polar(1.0, 0.4);
  for (const auto* down : {&d, &u}) {
    std::vector<std::vector<Complex>> expected(2, std::vector<Complex>(4 * 16));
    for (std::int64_t site = 0; site < geometry->global_volume(); ++site) {
      const Site x = lattice::coordinates_of<4>(site, extents);
      const auto g = plain_site(u, *down, site);
      const auto t = static_cast<std::size_t>((x[3] - x0[3] + 4) % 4);
      for (std::size_t p = 0; p < 2; ++p) {
        double angle = 0;
        for (std::size_t i = 0; i < 3; ++i)
          angle -= 2 * std::numbers::pi * momenta[p][i] * static_cast<double>(x[i] - x0[i]) /
                   static_cast<double>(extents[i]);
        const Complex wave = std::polar(1.0, angle) * (x[3] < x0[3] ? phase * phase * phase : 1.0);
        for (std::size_t i = 0; i < 16; ++i) expected[p][16 * t + i] += wave * g[i];
      }
    }
    const auto result = qcd::measure::nucleon(u, *down, phase, momenta);
    REQUIRE(result.size() == 2);
    for (std::size_t p = 0; p < 2; ++p) {
      std::vector<Complex> values;
      for (const auto& g : result[p].values) values.insert(values.end(), g.begin(), g.end());
      CHECK(distance(values, expected[p]) < 1e-13);  // 18 sites x 864 products of order ten, in another order
    }
  }
}

TEST_CASE("nucleon: the projections are traces with (1 +- gamma_t)/2") {
  NucleonCorrelator g;
  g.values.resize(1);
  for (std::size_t i = 0; i < 16; ++i)
    g.values[0][i] = {0.3 * static_cast<double>(i) - 1, std::sin(static_cast<double>(i))};
  for (const int parity : {1, -1}) {
    Complex trace = 0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        trace += 0.5 * ((i == j ? 1.0 : 0.0) + static_cast<double>(parity) * reference_gamma()[3][i][j]) *
                 g.values[0][4 * j + i];
    CHECK(std::abs(g.project(parity)[0] - trace) < 1e-14);
  }
  CHECK_THROWS_AS(g.project(0), core::InvalidArgument);
}

TEST_CASE("nucleon: forwards in time the positive projection is positive, backwards its partner comes with minus") {
  const Site extents{4, 4, 4, 12};
  const GeometryPointer geometry = alone(extents);
  const ReferenceOperator d(extents, unit_links(extents), {.mass = 0.4, .boundary = {1, 1, 1, -1}});
  const Propagator s = point_propagator(geometry, d, {0, 0, 0, 0}, 1e-11);
  const auto g = qcd::measure::nucleon(s, s, -1);
  const auto plus = g.project(1), minus = g.project(-1);
  for (std::size_t t = 0; t < 12; ++t) CHECK(std::abs(plus[t].imag()) < 1e-12 * plus[0].real());
  for (std::size_t t = 0; t < 5; ++t) CHECK(plus[t].real() > 0);
  CHECK(plus[1].real() > 2 * plus[2].real());  // heavy: it falls
  CHECK(plus[2].real() > 2 * plus[3].real());
  for (std::size_t t = 1; t < 12; ++t) CHECK(std::abs(plus[t] + minus[12 - t]) < 1e-9 * std::abs(plus[t]));
}

TEST_CASE("nucleon: reflecting the gauge field in time exchanges the parities") {
  const GeometryPointer geometry = alone(small);
  const auto links = random_links(*geometry, 21);
  std::vector<Complex> reflected(links.size());
  for (std::int64_t i = 0; i < geometry->local_volume(); ++i) {
    const Site x = lattice::coordinates_of<4>(i, small);
    Site mirror = x, below = x;
    mirror[3] = (small[3] - x[3]) % small[3];
    below[3] = (2 * small[3] - x[3] - 1) % small[3];
    for (int mu = 0; mu < 3; ++mu)
      set_link(reflected, i, mu, link_of(links, lattice::linear_index<4>(mirror, small), mu));
    set_link(reflected, i, 3, dagger(link_of(links, lattice::linear_index<4>(below, small), 3)));
  }
  for (const double boundary : {-1.0, 1.0}) {
    const Propagator s = point_propagator(geometry, small_operator(links, boundary), {0, 0, 0, 0});
    const Propagator r = point_propagator(geometry, small_operator(reflected, boundary), {0, 0, 0, 0});
    const auto forth = qcd::measure::nucleon(s, s, boundary).project(1);
    const auto back = qcd::measure::nucleon(r, r, boundary).project(-1);
    for (std::size_t t = 1; t < 6; ++t) CHECK(std::abs(forth[t] - boundary * back[6 - t]) < 1e-10 * std::abs(forth[t]));
  }
}

TEST_CASE("nucleon: gauge invariant, and the same wherever source and gauge field are moved together") {
  const GeometryPointer geometry = alone(small);
  const auto links = random_links(*geometry, 22);
  const Site shift{1, 0, 1, 4};
  std::vector<Complex> moved(links.size());
  for (std::int64_t i = 0; i < geometry->local_volume(); ++i) {
    Site x = lattice::coordinates_of<4>(i, small);
    for (std::size_t axis = 0; axis < 4; ++axis) x[axis] = (x[axis] + shift[axis]) % small[axis];
    for (int mu = 0; mu < 4; ++mu) set_link(moved, lattice::linear_index<4>(x, small), mu, link_of(links, i, mu));
  }
  const std::vector<Momentum> momenta{{0, 0, 0}, {1, 0, 1}};
  const auto here = point_propagator(geometry, small_operator(links, -1), {0, 0, 0, 0});
  const auto there = point_propagator(geometry, small_operator(moved, -1), shift);
  const auto turned = point_propagator(geometry, small_operator(transformed_links(small, links, 23), -1), {0, 0, 0, 0});
  const auto a = qcd::measure::nucleon(here, here, -1, momenta);
  const auto b = qcd::measure::nucleon(there, there, -1, momenta);
  const auto c = qcd::measure::nucleon(turned, turned, -1, momenta);
  for (std::size_t p = 0; p < 2; ++p)
    for (const int parity : {1, -1}) {
      CHECK(distance(b[p].project(parity), a[p].project(parity)) < 1e-10);
      CHECK(distance(c[p].project(parity), a[p].project(parity)) < 1e-10);
    }
  // without the sign of the slices that crossed the boundary it would not be
  const auto periodic = qcd::measure::nucleon(there, there, 1, momenta);
  CHECK(distance(periodic[0].project(1), a[0].project(1)) > 1e-4);
}
