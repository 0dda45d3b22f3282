// SPDX-License-Identifier: Apache-2.0
//
// Solutions of staggered quarks: the free propagator against its closed form in momentum space, the Ward identity, and
// the residuals of every way to solve by the reference.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "halocline/qcd/staggered/reference.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;
using Coordinates = lattice::Coordinates<4>;

Numbers point_source(std::int64_t volume, int colour) {
  Numbers source(static_cast<std::size_t>(3 * volume));
  source[static_cast<std::size_t>(colour)] = 1;
  return source;
}

/// (D^dagger D)^-1 of free quarks, from the origin to x, which may lie outside of the lattice: D^dagger D is
/// m^2 + sum_mu f(p_mu)^2 for plane waves, with f(p) = sin p, or 9/8 sin p - 1/24 sin 3p with long links.
class FreeQuark {
public:
  FreeQuark(const Coordinates& extents, const StaggeredAction& action) : extents_(extents), action_(action) {
    for (std::int64_t k = 0; k < lattice::product<4>(extents); ++k) {
      const auto n = lattice::coordinates_of<4>(k, extents);
      std::array<double, 4> p{};
      double square = action.mass * action.mass;
      for (int mu = 0; mu < 4; ++mu) {
        p[mu] = (2 * std::numbers::pi * double(n[mu]) + std::arg(action.boundary[mu])) / double(extents[mu]);
        const double f = std::sin(p[mu]) * (has_long() ? 9.0 / 8 : 1.0) - (has_long() ? std::sin(3 * p[mu]) / 24 : 0);
        square += f * f;
      }
      momenta_.push_back(p);
      weight_.push_back(1 / square / double(lattice::product<4>(extents)));
    }
  }
  Number scalar(const Coordinates& x) const {
    Number sum = 0;
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      double angle = 0;
      for (int mu = 0; mu < 4; ++mu) angle += momenta_[k][mu] * double(x[mu]);
      sum += weight_[k] * std::polar(1.0, angle);
    }
    return sum;
  }
  /// D^-1 = D^dagger (D^dagger D)^-1
  Number quark(const Coordinates& x) const {
    Number sum = action_.mass * scalar(x);
    const std::array<std::int64_t, 4> exponent{x[3], x[3] + x[0], x[3] + x[0] + x[1], 0};
    for (int mu = 0; mu < 4; ++mu) {
      const double eta = exponent[mu] % 2 == 0 ? 1 : -1;
      for (const int steps : {1, 3}) {
        if (steps == 3 && !has_long()) continue;
        auto up = x, down = x;
        up[mu] += steps;
        down[mu] -= steps;
        const double weight = steps == 3 ? -1.0 / 24 : has_long() ? 9.0 / 8 : 1.0;
        sum -= 0.5 * eta * weight * (scalar(up) - scalar(down));
      }
    }
    return sum;
  }

private:
  bool has_long() const { return action_.has_long_links(); }

  Coordinates extents_;
  StaggeredAction action_;
  std::vector<std::array<double, 4>> momenta_;
  std::vector<double> weight_;
};

double residual(const GaugeField& u, const StaggeredAction& action, const Numbers& x, const Numbers& b) {
  Numbers dx(x.size());
  staggered::apply_reference(dx, x, gauge::staggered_links(u, action), action);
  return test::relative_distance(dx, b);
}

GaugeField rough_links(const Coordinates& extents) {
  return GaugeField::from_canonical(test::one_process(extents), test::random_links(lattice::product<4>(extents), 31));
}

}  // namespace

TEST_CASE("staggered quark: the free propagator is its closed form") {
  constexpr Coordinates extents{4, 6, 4, 8};
  const GaugeField u(test::one_process(extents));
  for (const auto kind : {StaggeredKind::one_link, StaggeredKind::asqtad, StaggeredKind::hisq}) {
    StaggeredAction action{.mass = 0.17, .kind = kind};
    action.boundary = {std::polar(1.0, 0.3), 1., 1., -1.};
    QuarkSolver solver(u, action, {.kind = "cg", .tolerance = 1e-14, .precision = "double"});
    const auto source = point_source(u.geometry().local_volume(), 1);
    Numbers x(source.size());
    CHECK(solver.solve(x, source).converged);
    const FreeQuark free(extents, action);
    double off = 0, size = 0;
    for (std::int64_t site = 0; site < u.geometry().local_volume(); ++site)
      for (int c = 0; c < 3; ++c) {
        const Number expected = c == 1 ? free.quark(lattice::coordinates_of<4>(site, extents)) : 0;
        off = std::max(off, std::abs(x[static_cast<std::size_t>(3 * site + c)] - expected));
        size = std::max(size, std::abs(expected));
      }
    INFO(name(kind));
    CHECK(off < 1e-12 * size);
  }
}

TEST_CASE("staggered quark: every way to solve reaches the residual of the reference") {
  constexpr Coordinates extents{8, 4, 8, 8};
  const GaugeField u = rough_links(extents);
  const StaggeredAction action{.mass = 0.1};
  std::vector<Numbers> sources;
  for (unsigned i = 0; i < 3; ++i) sources.push_back(test::random_numbers(3 * u.geometry().local_volume(), 40 + i));
  const std::vector<std::span<const Number>> given(sources.begin(), sources.end());
  for (const char* kind : {"auto", "cg", "block-cg"})
    for (const char* precision : {"mixed", "double"})
      for (const bool even_odd : {true, false}) {
        if (std::string(kind) == "auto" && !even_odd) continue;
        QuarkSolver solver(u, action, {.kind = kind, .tolerance = 1e-10, .precision = precision, .even_odd = even_odd});
        std::vector<Numbers> x(3, Numbers(sources[0].size()));
        const std::vector<std::span<Number>> room(x.begin(), x.end());
        const auto reports = solver.solve(room, given);
        INFO(kind, " ", precision, " even_odd ", even_odd);
        for (std::size_t i = 0; i < 3; ++i) {
          CHECK(reports[i].converged);
          CHECK(residual(u, action, x[i], sources[i]) < 2e-10);
        }
      }
}

TEST_CASE("staggered quark: the Schur complement is solved without its normal equations") {
  constexpr Coordinates extents{8, 4, 4, 8};
  const GaugeField u = rough_links(extents);
  const StaggeredAction action{.mass = 0.1};
  const auto source = test::random_numbers(3 * u.geometry().local_volume(), 3);
  const auto iterations = [&](bool even_odd) {
    QuarkSolver solver(u, action, {.kind = "cg", .tolerance = 1e-10, .precision = "double", .even_odd = even_odd});
    Numbers x(source.size());
    return solver.solve(x, source).iterations;
  };
  // The normal equations of D have the condition number of its Schur complement. Those of the Schur complement would
  // have its square, and take many times as long.
  CHECK(iterations(true) < 1.2 * iterations(false));
}

TEST_CASE("staggered quark: the Ward identity of the pion") {
  // D + D^dagger = 2 m gives S + S^dagger = 2 m S^dagger S; so m sum_x |S(x, 0)|^2 = Re tr S(0, 0).
  constexpr Coordinates extents{4, 4, 4, 8};
  const GaugeField u = rough_links(extents);
  const StaggeredAction action{.mass = 0.05};
  QuarkSolver solver(u, action, {.tolerance = 1e-12});
  double pion = 0, condensate = 0;
  for (int colour = 0; colour < 3; ++colour) {
    const auto source = point_source(u.geometry().local_volume(), colour);
    Numbers x(source.size());
    CHECK(solver.solve(x, source).converged);
    for (const Number& z : x) pion += std::norm(z);
    condensate += x[static_cast<std::size_t>(colour)].real();
  }
  CHECK(action.mass * pion == doctest::Approx(condensate).epsilon(1e-10));
}

TEST_CASE("staggered quark: several masses from one solve") {
  constexpr Coordinates extents{8, 4, 4, 8};
  const GaugeField u = rough_links(extents);
  const StaggeredAction action{.mass = 0.08};
  auto source = test::random_numbers(3 * u.geometry().local_volume(), 12);
  const std::vector<double> masses{0.08, 0.2, 0.5};
  std::vector<double> shifts;
  for (const double m : masses) shifts.push_back(m * m - action.mass * action.mass);
  QuarkSolver solver(u, action, {.tolerance = 1e-11});
  for (const bool even_odd : {false, true}) {
    if (even_odd)
      for (std::int64_t site = 0; site < u.geometry().local_volume(); ++site)
        if (u.geometry().parity(lattice::coordinates_of<4>(site, extents)) == 1)
          for (int c = 0; c < 3; ++c) source[static_cast<std::size_t>(3 * site + c)] = 0;
    std::vector<Numbers> x(masses.size(), Numbers(source.size()));
    const std::vector<std::span<Number>> room(x.begin(), x.end());
    for (const auto& report : solver.solve_shifted(room, shifts, source, even_odd)) CHECK(report.converged);
    for (std::size_t i = 0; i < masses.size(); ++i) {
      // (D^dagger D) x = source for each mass
      const StaggeredAction other{.mass = masses[i]};
      const auto links = gauge::staggered_links(u, other);
      Numbers dx(source.size()), ddx(source.size());
      staggered::apply_reference(dx, x[i], links, other);
      staggered::apply_reference(ddx, dx, links, other, true);
      CHECK(test::relative_distance(ddx, source) < 1e-10);
    }
  }
}

TEST_CASE("staggered quark: refusals say what serves") {
  const GaugeField u = rough_links({4, 4, 4, 4});
  const StaggeredAction action{.mass = 0.1};
  for (const char* kind : {"bicgstab", "multigrid", "schwarz", "gcr", "deflated-cg"})
    CHECK_THROWS_WITH_AS(QuarkSolver(u, action, {.kind = kind}), doctest::Contains("does not solve staggered quarks"),
                         core::InvalidArgument);
  QuarkSolver solver(u, action);
  Numbers spinor(static_cast<std::size_t>(12 * u.geometry().local_volume())), x(spinor.size());
  CHECK_THROWS_WITH_AS(solver.solve(x, spinor), doctest::Contains("[t][z][y][x][colour]"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(solver.refresh(u, WilsonCloverAction{.mass = 0.1}), doctest::Contains("another kind"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(wilson_part(action), doctest::Contains("staggered"), core::InvalidArgument);
}

}  // namespace halocline::qcd
