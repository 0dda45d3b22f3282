// SPDX-License-Identifier: Apache-2.0
// Laws of the ways back into SU(3), in double and in packs.

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "halocline/core/pack.hpp"
#include "halocline/qcd/field/su3_projection.hpp"

using namespace halocline;
using qcd::Su3;

namespace {

Su3<double> random_matrix(std::mt19937_64& engine, double width) {
  std::normal_distribution<double> normal(0, width);
  Su3<double> m;
  for (auto& row : m.e)
    for (auto& z : row) z = {normal(engine), normal(engine)};
  return m;
}

double distance(const Su3<double>& a, const Su3<double>& b) {
  const auto d = a - b;
  return std::sqrt(qcd::real_trace_times_adjoint(d, d));
}

double unitarity_violation(const Su3<double>& u) {
  const auto det = qcd::determinant(u);
  return distance(qcd::times_adjoint(u, u), Su3<double>::unit()) + std::hypot(det.re - 1, det.im);
}

/// exp(a) - u in the Frobenius norm, exp by its Taylor series in long double, halved 8 times.
double distance_to_series(const Su3<double>& a, const Su3<double>& u) {
  using Real = long double;
  Su3<Real> b, sum = Su3<Real>::unit(), term = Su3<Real>::unit();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) b.e[i][j] = {a.e[i][j].re / Real(256), a.e[i][j].im / Real(256)};
  for (int n = 1; n < 60; ++n) {
    term = Real(1) / Real(n) * (term * b);
    sum += term;
  }
  for (int k = 0; k < 8; ++k) sum = sum * sum;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum.e[i][j] -= {Real(u.e[i][j].re), Real(u.e[i][j].im)};
  return static_cast<double>(std::sqrt(qcd::real_trace_times_adjoint(sum, sum)));
}

}  // namespace

TEST_CASE("su3: reunitarise returns to the group and leaves members alone") {
  std::mt19937_64 engine(1);
  for (int k = 0; k < 20; ++k) {
    auto u = random_matrix(engine, 1);
    qcd::reunitarise(u);
    CHECK(unitarity_violation(u) < 20e-16);
    auto again = u;
    qcd::reunitarise(again);
    CHECK(distance(u, again) < 20e-16);
  }
}

TEST_CASE("su3: exponential equals the Taylor series, small, large and degenerate") {
  std::mt19937_64 engine(2);
  for (double width : {0.0, 1e-300, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 3.0, 20.0}) {
    for (int k = 0; k < 10; ++k) {
      const auto a = qcd::traceless_antihermitian(random_matrix(engine, width));
      const auto u = qcd::exponential(a);
      const double size = 1 + std::sqrt(qcd::real_trace_times_adjoint(a, a));
      CAPTURE(width);
      CHECK(distance_to_series(a, u) < 100e-16 * size);
      CHECK(unitarity_violation(u) < 100e-16 * size);
    }
  }
  Su3<double> degenerate = Su3<double>::zero();  // two equal eigenvalues, where the closed form divides by zero
  degenerate.e[0][0].im = degenerate.e[1][1].im = 0.7;
  degenerate.e[2][2].im = -1.4;
  CHECK(distance_to_series(degenerate, qcd::exponential(degenerate)) < 20e-16);
}

TEST_CASE("su3: exp(a) exp(-a) is one") {
  std::mt19937_64 engine(3);
  const auto a = qcd::traceless_antihermitian(random_matrix(engine, 0.8));
  CHECK(distance(qcd::exponential(a) * qcd::exponential(-1.0 * a), Su3<double>::unit()) < 50e-16);
}

TEST_CASE("su3: the projection is stationary and no other matrix nearby has a larger trace") {
  std::mt19937_64 engine(4);
  for (int k = 0; k < 20; ++k) {
    Su3<double> link = random_matrix(engine, 1);
    qcd::reunitarise(link);
    const auto m = link + random_matrix(engine, 0.3);
    const auto v = qcd::project_maximal_trace(m, link);
    CHECK(unitarity_violation(v) < 20e-16);
    const auto force = qcd::traceless_antihermitian(qcd::times_adjoint(m, v));
    CHECK(std::sqrt(qcd::real_trace_times_adjoint(force, force)) < 1e-14);
    const double best = qcd::real_trace_times_adjoint(v, m);
    for (int trial = 0; trial < 20; ++trial) {
      const auto turn = qcd::exponential(qcd::traceless_antihermitian(random_matrix(engine, 0.2)));
      CHECK(qcd::real_trace_times_adjoint(turn * v, m) < best);
    }
    CHECK(distance(qcd::project_maximal_trace(5.0 * link, Su3<double>::unit()), link) < 1e-14);
  }
  CHECK(distance(qcd::project_maximal_trace(Su3<double>::zero()), Su3<double>::unit()) == 0);
}

TEST_CASE("su3: a pack of sites gives in each lane what a double gives") {
  using P = core::Pack<double, 8>;
  std::mt19937_64 engine(5);
  Su3<P> m;
  Su3<double> one[8];
  for (int lane = 0; lane < 8; ++lane) {
    one[lane] = random_matrix(engine, 0.1 * (1 + 3 * lane));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        m.e[i][j].re.set(lane, one[lane].e[i][j].re);
        m.e[i][j].im.set(lane, one[lane].e[i][j].im);
      }
  }
  auto lane_of = [](const Su3<P>& u, int lane) {
    Su3<double> s;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) s.e[i][j] = {u.e[i][j].re[lane], u.e[i][j].im[lane]};
    return s;
  };
  const auto exponentials = qcd::exponential(qcd::traceless_antihermitian(m));
  const auto projections = qcd::project_maximal_trace(m);
  for (int lane = 0; lane < 8; ++lane) {
    CHECK(distance(lane_of(exponentials, lane), qcd::exponential(qcd::traceless_antihermitian(one[lane]))) < 1e-14);
    CHECK(distance(lane_of(projections, lane), qcd::project_maximal_trace(one[lane])) < 1e-12);
  }
}
