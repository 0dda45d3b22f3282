// SPDX-License-Identifier: Apache-2.0
//
// The heatbath of the Wilson gauge action: exact identities, known limits and conserved quantities.

#include "halocline/qcd/gauge/heatbath.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include "halocline/qcd/field/su3_projection.hpp"
#include "halocline/qcd/gauge/observables.hpp"
#include "qcd/gauge/some_links.hpp"

using namespace halocline;
using lattice::Coordinates;
using qcd::Su3;
using qcd::gauge::heatbath_sweep;
using qcd::gauge::HeatbathParameters;

namespace {

/// W = U_mu(x) times its staples, each plane with its weight, written out site by site.
Su3<double> link_times_staples(const qcd::GaugeField& gauge, const Coordinates<4>& x, int mu, double xi0) {
  auto at = [&](int axis, int steps, Coordinates<4> from) {
    from[static_cast<std::size_t>(axis)] += steps;
    return from;
  };
  Su3<double> sum = Su3<double>::zero();
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    const double weight = mu == 3 || nu == 3 ? xi0 : 1 / xi0;
    const auto ahead = at(mu, 1, x), down = at(nu, -1, x), ahead_down = at(nu, -1, at(mu, 1, x));
    sum +=
        weight * times_adjoint(times_adjoint(gauge.link(ahead, nu), gauge.link(at(nu, 1, x), mu)), gauge.link(x, nu));
    sum +=
        weight * (adjoint_times(gauge.link(ahead_down, nu), adjoint_times(gauge.link(down, mu), gauge.link(down, nu))));
  }
  return gauge.link(x, mu) * sum;
}

/// Both sides of the Schwinger-Dyson equation <Re tr W> = beta / 8 <|W_antihermitian traceless|^2>, summed over the
/// links mu. It follows from the invariance of the Haar measure of one link under U -> (1 + i eps T_a) U, a = 1 ... 8.
std::array<double, 2> schwinger_dyson(const qcd::GaugeField& gauge, double beta, double xi0, int mu) {
  std::array<double, 2> sides{};
  for (std::int64_t site = 0; site < gauge.geometry().local_volume(); ++site) {
    const auto x = lattice::coordinates_of<4>(site, gauge.geometry().local());
    const Su3<double> w = link_times_staples(gauge, x, mu, xi0);
    const Su3<double> force = qcd::traceless_antihermitian(w);
    sides[0] += trace(w).re;
    sides[1] += beta / 8 * real_trace_times_adjoint(force, force);
  }
  return sides;
}

}  // namespace

TEST_CASE("heatbath: fulfils the Schwinger-Dyson equation of a link, isotropic and not") {
  struct Case {
    double beta, xi0;
    int steps;
  };
  for (const Case& c : {Case{5.7, 1, 0}, Case{5.6, 2, 1}}) {
    const double xi0 = c.xi0;
    CAPTURE(xi0);
    qcd::GaugeField gauge(test::geometry_alone({4, 6, 4, 8}));
    const HeatbathParameters parameters{c.beta, c.steps, 11, xi0};
    double space[2] = {}, time[2] = {};
    for (std::uint64_t sweep = 0; sweep < 100; ++sweep) {
      heatbath_sweep(gauge, parameters, sweep);
      if (sweep < 30 || sweep % 2 == 1) continue;
      for (int mu = 0; mu < 4; ++mu) {
        const auto sides = schwinger_dyson(gauge, c.beta, xi0, mu);
        for (std::size_t side = 0; side < 2; ++side) (mu == 3 ? time : space)[side] += sides[side];
      }
    }
    // 35 samples of 768 links or more: a statistical error near 0.3 % a direction.
    CHECK(space[1] / space[0] == doctest::Approx(1).epsilon(0.008));
    CHECK(time[1] / time[0] == doctest::Approx(1).epsilon(0.015));
  }
}

TEST_CASE("heatbath: the plaquette at beta = 6 is the one everybody finds") {
  // 0.59368 in infinite volume (G. Boyd et al., Nucl. Phys. B 469 (1996) 419).
  qcd::GaugeField gauge(test::geometry_alone({8, 8, 8, 8}));
  double sum = 0;
  constexpr int thermalisation = 30, sweeps = 40;
  for (std::uint64_t sweep = 0; sweep < thermalisation + sweeps; ++sweep) {
    heatbath_sweep(gauge, {6.0, 1, 3}, sweep);
    if (sweep >= thermalisation) sum += qcd::gauge::plaquette(gauge) / sweeps;
  }
  CHECK(std::abs(sum - 0.5937) < 0.002);  // deviation of one field 0.0025, of 40 correlated ones about 0.0006
  CHECK(gauge.unitarity_violation() < 1e-13);
}

TEST_CASE("heatbath: at strong coupling the plaquette is beta / 18 + beta^2 / 216, at none it is zero") {
  qcd::GaugeField gauge(test::geometry_alone({8, 6, 4, 8}));
  for (const double beta : {0.0, 0.5}) {
    double sum = 0;
    constexpr int sweeps = 40;
    for (std::uint64_t sweep = 0; sweep < sweeps + 5; ++sweep) {
      heatbath_sweep(gauge, {beta, 0, 8}, sweep);
      if (sweep >= 5) sum += qcd::gauge::plaquette(gauge) / sweeps;
    }
    // Re tr / 3 of a random matrix has the deviation 1 / sqrt 18.
    const double deviation = 1 / std::sqrt(18.0 * 6 * static_cast<double>(gauge.geometry().local_volume()) * sweeps);
    CHECK(std::abs(sum - (beta / 18 + beta * beta / 216)) < 4.5 * deviation);
  }
}

TEST_CASE("over-relaxation: conserves the action to rounding and moves every link far") {
  for (const double xi0 : {1.0, 2.5}) {
    CAPTURE(xi0);
    auto gauge = test::some_links(test::geometry_alone({4, 6, 8, 4}), 0.5);
    auto action = [&] {
      const auto planes = qcd::gauge::plaquette_planes(gauge);
      return (planes[0] + planes[1] + planes[3]) / xi0 + xi0 * (planes[2] + planes[4] + planes[5]);
    };
    const double before = action();
    const auto links = gauge.to_canonical();
    for (int sweep = 0; sweep < 10; ++sweep) qcd::gauge::overrelaxation_sweep(gauge, xi0);
    CHECK(action() == doctest::Approx(before).epsilon(1e-13));
    const auto moved = gauge.to_canonical();
    double least = 1e9;
    for (std::size_t link = 0; link < links.size(); link += 9) {
      double distance = 0;
      for (std::size_t i = 0; i < 9; ++i) distance += std::norm(moved[link + i] - links[link + i]);
      least = std::min(least, distance);
    }
    CHECK(least > 1e-3);
    CHECK(gauge.unitarity_violation() < 1e-13);
  }
}

TEST_CASE("heatbath: the field does not depend on the number of threads") {
#if defined(_OPENMP)
  std::vector<std::complex<double>> first;
  const int usual = omp_get_max_threads();
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    auto gauge = test::some_links(test::geometry_alone({6, 4, 2, 10}));
    for (std::uint64_t sweep = 0; sweep < 3; ++sweep) heatbath_sweep(gauge, {5.5, 2, 21}, sweep);
    if (threads == 1) first = gauge.to_canonical();
    CHECK(gauge.to_canonical() == first);  // bit for bit
  }
  omp_set_num_threads(usual);
#else
  MESSAGE("skipped: built without OpenMP");
#endif
}

TEST_CASE("heatbath: another seed or another sweep gives another field, the same ones the same, ghosts are right") {
  const auto geometry = test::geometry_alone({4, 4, 4, 4});
  auto field_of = [&](std::uint64_t seed, std::uint64_t sweep, int depth) {
    auto gauge = test::some_links(geometry, 1.0, depth);
    heatbath_sweep(gauge, {6.0, 1, seed}, sweep);
    auto again = qcd::GaugeField::from_canonical(geometry, gauge.to_canonical(), depth);
    bool same = true;
    for (int mu = 0; mu < 4; ++mu)
      same = same && gauge.link({-1, 4, -1, 4}, mu).e[0][0].re == again.link({-1, 4, -1, 4}, mu).e[0][0].re;
    CHECK(same);
    return gauge.to_canonical();
  };
  const auto field = field_of(1, 1, 1);
  CHECK(field_of(1, 1, 3) == field);
  CHECK(field_of(2, 1, 1) != field);
  CHECK(field_of(1, 2, 1) != field);
  CHECK(field_of(1ULL << 40 | 1, 1, 1) != field);
}

TEST_CASE("heatbath: impossible parameters are refused, a NaN is reported") {
  qcd::GaugeField gauge(test::geometry_alone({4, 4, 4, 4}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(heatbath_sweep(gauge, {-1.0, 0, 1}, 0), core::InvalidArgument);
  CHECK_THROWS_AS(heatbath_sweep(gauge, {nan, 0, 1}, 0), core::InvalidArgument);
  CHECK_THROWS_AS(heatbath_sweep(gauge, {6.0, -1, 1}, 0), core::InvalidArgument);
  CHECK_THROWS_AS(heatbath_sweep(gauge, {6.0, 0, 1, 0.0}, 0), core::InvalidArgument);
  CHECK_THROWS_AS(heatbath_sweep(gauge, {6.0, 0, 1}, 1ULL << 32), core::InvalidArgument);
  CHECK(gauge.unitarity_violation() == 0);  // nothing was touched
  qcd::GaugeField odd(test::geometry_alone({4, 4, 3, 4}));
  CHECK_THROWS_WITH_AS(heatbath_sweep(odd, {6.0, 0, 1}, 0), doctest::Contains("axis 2 has 3 sites"),
                       core::InvalidArgument);
  gauge.set_link({1, 1, 1, 1}, 2, nan * Su3<double>::unit());
  CHECK_THROWS_AS(heatbath_sweep(gauge, {6.0, 0, 1}, 0), core::Error);
}
