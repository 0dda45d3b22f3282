// SPDX-License-Identifier: Apache-2.0
//
// Quarks of domain walls: the free propagator against its closed form in momentum space, and solutions against a plain
// solve of the reference.

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
#include "halocline/qcd/domain_wall/domain_wall.hpp"
#include "halocline/qcd/domain_wall/reference.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/wilson/reference.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::qcd {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;

GaugeField unit_links(const std::shared_ptr<const lattice::Geometry4>& geometry) {
  Numbers links(static_cast<std::size_t>(geometry->local_volume() * 36));
  for (std::size_t i = 0; i < links.size(); i += 9) links[i] = links[i + 4] = links[i + 8] = 1;
  return GaugeField::from_canonical(geometry, links);
}

/// The free quark propagator from the origin, spin `from`, colour 0: (D_ov^-1 - 1) / (1 - m), where
/// D_ov = (1 + m)/2 + (1 - m)/2 gamma5 eps(H), H = gamma5 (b + c) D_W / (2 + (b - c) D_W), and eps is the rational
/// approximation of the sign function to which Ls points lead. For free quarks H^2 is a number.
Numbers closed_form(const lattice::Coordinates<4>& extents, const DomainWallAction& action, int from) {
  const double b = action.b[0].real(), c = action.c[0].real(), m = action.mass;
  const std::int64_t volume = extents[0] * extents[1] * extents[2] * extents[3];
  Numbers out(static_cast<std::size_t>(12 * volume));
  const auto coordinates = [&](std::int64_t i, int axis) {
    for (int below = 0; below < axis; ++below) i /= extents[below];
    return i % extents[axis];
  };
  for (std::int64_t momentum = 0; momentum < volume; ++momentum) {
    std::array<double, 4> p{}, sine{};
    double w = -action.m5, square = 0;
    for (int axis = 0; axis < 4; ++axis) {
      const double twist = std::arg(action.boundary[axis]);
      p[axis] = (2 * std::numbers::pi * double(coordinates(momentum, axis)) + twist) / double(extents[axis]);
      sine[axis] = std::sin(p[axis]);
      w += 1 - std::cos(p[axis]);
      square += sine[axis] * sine[axis];
    }
    // D_W = w + i slash(sine); D_W / (2 + (b - c) D_W) = A + i B slash(sine)
    const double denominator = std::pow(2 + (b - c) * w, 2) + std::pow(b - c, 2) * square;
    const double a_part = (w * (2 + (b - c) * w) + (b - c) * square) / denominator, b_part = 2 / denominator;
    const double h = (b + c) * std::sqrt(a_part * a_part + b_part * b_part * square);
    const double plus = std::pow(1 + h, action.ls), minus = std::pow(1 - h, action.ls);
    const double sign = (plus - minus) / (plus + minus) / h;
    const double alpha = (1 + m) / 2 + (1 - m) / 2 * (b + c) * a_part * sign;
    const double beta = (1 - m) / 2 * (b + c) * b_part * sign;
    const double norm = alpha * alpha + beta * beta * square;
    for (int spin = 0; spin < 4; ++spin) {
      Number slash = 0;
      for (int axis = 0; axis < 4; ++axis) slash += sine[axis] * test::reference_gamma()[axis][spin][from];
      const double one = spin == from ? 1 : 0;
      const Number inverse = (alpha * one - Number(0, 1) * beta * slash) / norm;
      const Number quark = (inverse - one) / (1 - m) / double(volume);
      for (std::int64_t site = 0; site < volume; ++site) {
        double phase = 0;
        for (int axis = 0; axis < 4; ++axis) phase += p[axis] * double(coordinates(site, axis));
        out[static_cast<std::size_t>(12 * site + 3 * spin)] += quark * std::polar(1.0, phase);
      }
    }
  }
  return out;
}

DomainWallAction walls(double b, double c, int ls) {
  DomainWallAction action{.mass = 0.1, .m5 = 1.4, .ls = ls};
  action.b = {b};
  action.c = {c};
  return action;
}

SolverParameters precise(const std::string& kind, const std::string& precision) {
  SolverParameters p;
  p.kind = kind;
  p.precision = precision;
  p.tolerance = 1e-13;
  return p;
}

}  // namespace

TEST_CASE("domain wall: the free quark propagator is its closed form in momentum space") {
  const lattice::Coordinates<4> extents{4, 2, 4, 6};
  const auto geometry = test::one_process(extents);
  const GaugeField gauge = unit_links(geometry);
  for (const auto& action : {walls(1, 0, 8), walls(1.5, 0.5, 6), walls(1, 1, 8), walls(2.3, 0.4, 12)}) {
    QuarkSolver solver(gauge, action, precise("cg", "double"));
    for (const int spin : {0, 3}) {
      Numbers source(static_cast<std::size_t>(geometry->local_volume() * 12)), quark(source.size());
      source[static_cast<std::size_t>(3 * spin)] = 1;
      const auto report = solver.solve(quark, source);
      CAPTURE(action.ls);
      CAPTURE(spin);
      CHECK(report.converged);
      CHECK(test::relative_distance(quark, closed_form(extents, action, spin)) < 1e-12);
    }
  }
}

TEST_CASE("domain wall: as Ls grows, Shamir and Moebius with b - c = 1 tend to one propagator") {
  // Both have the kernel of D_W / (2 + D_W), Moebius times b + c; the sign function does not see the factor.
  const auto geometry = test::one_process({4, 4, 4, 4});
  const GaugeField gauge = gauge::weak_links(geometry, 0.3, 3);
  const Numbers source = test::random_numbers(12 * geometry->local_volume(), 4);
  const auto quark = [&](double b, double c, int ls) {
    Numbers out(source.size());
    QuarkSolver solver(gauge, walls(b, c, ls), precise("cg", "double"));
    CHECK(solver.solve(out, source).converged);
    return out;
  };
  const Numbers shamir8 = quark(1, 0, 8), shamir16 = quark(1, 0, 16), shamir32 = quark(1, 0, 32);
  const double few = test::relative_distance(quark(1, 0, 4), shamir8);
  const double more = test::relative_distance(shamir8, shamir16);
  const double most = test::relative_distance(shamir16, shamir32);
  CHECK(more < 0.5 * few);
  CHECK(most < 0.5 * more);
  // Another action at the same Ls is near the limit, and not the same.
  const double apart = test::relative_distance(quark(1.5, 0.5, 32), shamir32);
  CHECK(apart < most);
  CHECK(apart > 1e-12);
}

TEST_CASE("domain wall: solutions on rough links are those of the reference, by every way") {
  const lattice::Coordinates<4> extents{4, 2, 2, 4};
  const auto geometry = test::one_process(extents);
  const auto volume = geometry->local_volume();
  const auto links = test::random_links(volume, 5);
  const GaugeField gauge = GaugeField::from_canonical(geometry, links);
  DomainWallAction action = walls(1.5, 0.5, 4);
  action.b = {{1.4, 0.2}, 1.1, {1.6, -0.2}, 1.3};
  action.c = {{0.4, 0.2}, 0.1, {0.6, -0.2}, 0.3};
  action.mass = 0.4;
  const auto each = static_cast<std::size_t>(12 * volume);

  // The reference: the source of five dimensions, conjugate gradients on D^dagger D, the quark at the walls.
  const Numbers source = test::random_numbers(12 * volume, 8);
  Numbers b(4 * each), applied(each);
  for (std::size_t i = 0; i < each; ++i) b[(i % 12 < 6 ? 0 : 3 * each) + i] = source[i];
  for (const int s : {0, 3}) {
    const auto part = std::span(b).subspan(std::size_t(s) * each, each);
    wilson::apply_reference(applied, part, gauge, action.wilson());
    for (std::size_t i = 0; i < each; ++i) part[i] -= action.c_at(s) * applied[i];
  }
  const auto d = [&](const Numbers& psi, bool dagger) {
    Numbers out(psi.size());
    domain_wall::apply_reference(out, psi, gauge, action, dagger);
    return out;
  };
  Numbers x(b.size()), residual = d(b, true), direction = residual;
  double rho = std::pow(test::norm(residual), 2);
  for (int iteration = 0; iteration < 2000 && rho > 1e-26; ++iteration) {
    const Numbers dp = d(direction, false);
    const double alpha = rho / std::pow(test::norm(dp), 2);
    const Numbers q = d(dp, true);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * direction[i];
      residual[i] -= alpha * q[i];
    }
    const double next = std::pow(test::norm(residual), 2);
    for (std::size_t i = 0; i < x.size(); ++i) direction[i] = residual[i] + next / rho * direction[i];
    rho = next;
  }
  Numbers expected(each);
  for (std::size_t i = 0; i < each; ++i) expected[i] = x[(i % 12 < 6 ? 3 * each : 0) + i];

  for (const std::string kind : {"auto", "cg", "block-cg"})
    for (const std::string precision : {"mixed", "double"})
      for (const std::string schur : {"auto", "symmetric", "asymmetric", "none"}) {
        SolverParameters p = precise(kind, precision);
        p.tolerance = 1e-11;
        p.even_odd = schur != "none";
        if (p.even_odd) p.schur = schur;
        QuarkSolver solver(gauge, action, p);
        // Three together: the source, zero, and twice the source.
        Numbers twice = source, zero(each);
        for (Number& z : twice) z *= 2;
        Numbers one(each), none(each, 7.0), two(each);
        const std::vector<std::span<Number>> solutions{one, none, two};
        const std::vector<std::span<const Number>> sources{source, zero, twice};
        const auto reports = solver.solve(solutions, sources);
        CAPTURE(kind);
        CAPTURE(precision);
        CAPTURE(schur);
        for (const auto& report : reports) {
          CHECK(report.converged);
          CHECK(report.residual < 1e-11);
        }
        CHECK(test::relative_distance(one, expected) < 1e-8);
        CHECK(none == zero);
        for (Number& z : two) z /= 2;
        CHECK(test::relative_distance(two, expected) < 1e-8);
      }
}

TEST_CASE("domain wall: what a solver cannot do for it is refused") {
  const auto geometry = test::one_process({4, 4, 4, 4});
  const GaugeField gauge = unit_links(geometry);
  const auto said = [&](SolverParameters p, auto use) -> std::string {
    try {
      QuarkSolver solver(gauge, walls(1, 0, 4), p);
      use(solver);
    } catch (const core::InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const auto nothing = [](QuarkSolver&) {};
  for (const std::string kind : {"schwarz", "multigrid", "bicgstab", "gcr", "deflated-cg"})
    CHECK(said(precise(kind, "mixed"), nothing).find("does not solve domain-wall quarks") != std::string::npos);
  Numbers psi(12 * 256), out(12 * 256);
  CHECK(said({}, [&](QuarkSolver& s) { s.apply(out, psi); }).find("[s][t][z][y][x][spin 4][colour 3]") !=
        std::string::npos);
  CHECK(said({}, [&](QuarkSolver& s) {
          const std::vector<std::span<Number>> solutions{out};
          s.solve_shifted(solutions, std::vector<double>{0.1}, psi);
        }).find("[s][t][z][y][x][spin 4][colour 3]") != std::string::npos);
  CHECK(said({}, [&](QuarkSolver& s) { s.refresh(gauge, WilsonCloverAction{}); }).find("another fifth dimension") !=
        std::string::npos);
}

TEST_CASE("domain wall: shifted systems are those of D, in five dimensions, and of its Schur complement") {
  const lattice::Coordinates<4> extents{4, 4, 2, 4};
  const std::int64_t volume = 128;
  auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 5));
  gauge.exchange_ghosts();
  const std::array shifts{0.0, 0.3, 2.0};
  for (const DomainWallAction& action :
       {DomainWallAction{.mass = 0.2, .m5 = 1.2, .ls = 6},
        DomainWallAction{.mass = 0.2, .m5 = 1.4, .ls = 4, .b = {1.5}, .c = {0.5}},
        DomainWallAction{
            .mass = 0.2, .m5 = 1.4, .ls = 4, .b = {{1.5, 0.2}, 1.2, 1.4, 1.3}, .c = {{0.3, -0.1}, 0.2, 0.4, 0.1}}}) {
    const auto length = static_cast<std::size_t>(12 * volume * action.ls), of_point = length / std::size_t(action.ls);
    SolverParameters parameters;
    parameters.tolerance = 1e-11;
    QuarkSolver solver(gauge, action, parameters);
    const Numbers b = test::random_numbers(static_cast<std::int64_t>(length), 8);
    const DomainWall<double> d(DomainWallSetup(gauge, action), action.ls);
    const auto fifth = [&](const Numbers& numbers) {
      auto field = d.field(lattice::Subset::full);
      for (int s = 0; s < action.ls; ++s)
        from_canonical<double>(field, s, std::span(numbers).subspan(std::size_t(s) * of_point, of_point));
      return field;
    };
    const auto numbers_of = [&](const SpinorField<double>& field) {
      Numbers out(length);
      for (int s = 0; s < action.ls; ++s)
        to_canonical<double>(std::span(out).subspan(std::size_t(s) * of_point, of_point), field, s);
      return out;
    };
    for (const bool even_odd : {false, true}) {
      CAPTURE(even_odd);
      std::vector<Numbers> x(3, Numbers(length));
      const auto reports =
          solver.solve_shifted(std::vector<std::span<Number>>(x.begin(), x.end()), shifts, b, even_odd);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(reports[i].converged);
        // M = D, or its Schur complement on the even sites.
        auto out = fifth(x[i]), work = out;
        const auto apply = [&](bool dagger) {
          if (!even_odd) {
            d.apply_full(work, out, dagger);
            out = work;
            return;
          }
          // (A - 1/4 hop A^-1 hop) B
          Schur<double> s(d, SchurForm::asymmetric);
          auto half = d.field(lattice::Subset::even), result = half;
          std::copy_n(out.parity(0), half.size(), half.data());
          if (!dagger) d.from_solution(half, half);
          if (dagger)
            s.apply_dagger(result, half);
          else
            s.apply(result, half);
          if (dagger) d.from_solution(result, result, true);
          std::ranges::fill(out.span(), 0.0);
          std::copy_n(result.data(), result.size(), out.parity(0));
        };
        apply(false);
        apply(true);
        Numbers found = numbers_of(out), expected = b;
        for (std::size_t k = 0; k < length; ++k) found[k] += shifts[i] * x[i][k];
        if (even_odd) {
          auto even = fifth(b);
          std::fill_n(even.parity(1), even.size() / 2, 0.0);
          expected = numbers_of(even);
        }
        CHECK(test::relative_distance(found, expected) < 1e-10);
      }
      if (even_odd) {
        // That this M is the Schur complement of D itself: D (x, z) = (M x, 0) where z = -D_oo^-1 D_oe x.
        auto even = fifth(x[0]);
        Schur<double> s(d, SchurForm::asymmetric);
        auto half = d.field(lattice::Subset::even), y = half;
        std::copy_n(even.parity(0), half.size(), half.data());
        d.from_solution(half, half);
        s.apply(y, half);
        auto full = d.field(lattice::Subset::full), source = full, image = full;
        std::copy_n(y.data(), y.size(), source.parity(0));
        s.reconstruct(full, half, source);  // of the divided operator
        d.to_solution(full, full);
        d.apply_full(image, full);
        CHECK(test::relative_distance(numbers_of(image), numbers_of(source)) < 1e-12);
      }
    }
  }
}

}  // namespace halocline::qcd
