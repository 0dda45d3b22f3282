// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/twisted/twisted_clover.hpp"

#include <doctest/doctest.h>

#include <numbers>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "qcd/apply_operator.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using test::apply;
using test::random_links;
using test::random_numbers;
using test::relative_distance;
using Complexes = std::vector<std::complex<double>>;

constexpr lattice::Coordinates<4> extents{4, 6, 8, 4};
constexpr std::int64_t volume = 4 * 6 * 8 * 4;

GaugeField random_gauge(int seed) {
  return GaugeField::from_canonical(test::one_process(extents), random_links(volume, seed));
}

/// gamma5 = diag(1, 1, -1, -1), times a number.
Complexes times_gamma5(Complexes psi, std::complex<double> factor = 1.0) {
  for (std::size_t i = 0; i < psi.size(); ++i) psi[i] *= (i / 3) % 4 < 2 ? factor : -factor;
  return psi;
}

Complexes sum(Complexes a, const Complexes& b, std::complex<double> factor = 1.0) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
  return a;
}

std::vector<WilsonCloverAction> wilson_actions() {
  WilsonCloverAction phases{.mass = -0.1, .csw = 1.3};
  phases.boundary = {std::polar(1.0, 0.3), std::polar(1.0, -0.7), -1.0, std::polar(1.0, 2.0)};
  return {{.mass = -0.3}, {.mass = 0.1, .csw = 1.2}, phases};
}

}  // namespace

TEST_CASE_TEMPLATE("twisted: with mu = 0 it is the Wilson-clover operator to the bit", T, float, double) {
  const GaugeField gauge = random_gauge(1);
  const Complexes psi = random_numbers(volume * 12, 2);
  for (const auto& action : wilson_actions()) {
    const WilsonClover<T> wilson(WilsonSetup(gauge, action));
    const TwistedClover<T> twisted(TwistedSetup(gauge, {action, 0.0}));
    CHECK(twisted.gamma5_hermitian());
    for (const bool dagger : {false, true}) CHECK(apply<T>(twisted, psi, dagger) == apply<T>(wilson, psi, dagger));
    auto in = spinor_field<T>(wilson.layout(), lattice::Subset::full);
    from_canonical<T>(in, psi);
    for (const auto form : {SchurForm::symmetric, SchurForm::asymmetric}) {
      Schur<T> s(twisted, form), expected(wilson, form);
      auto rhs = spinor_field<T>(wilson.layout(), s.subset()), same = rhs, out = rhs, also = rhs;
      s.prepare(rhs, in);
      expected.prepare(same, in);
      CHECK(std::ranges::equal(rhs.span(), same.span()));
      s.apply_dagger(out, rhs);
      expected.apply_dagger(also, rhs);
      CHECK(std::ranges::equal(out.span(), also.span()));
    }
  }
}

TEST_CASE_TEMPLATE("twisted: one object has both signs of mu", T, float, double) {
  const GaugeField gauge = random_gauge(5);
  const Complexes psi = random_numbers(volume * 12, 6);
  const double tolerance = 20 * std::numeric_limits<T>::epsilon();
  for (const auto& action : wilson_actions()) {
    const TwistedClover<T> up(TwistedSetup(gauge, {action, 0.4}));
    const auto down = up.opposite(), again = down->opposite();
    const TwistedClover<T> made(TwistedSetup(gauge, {action, -0.4}));
    CHECK(down->mu() == -0.4);
    auto in = spinor_field<T>(up.layout(), lattice::Subset::full);
    from_canonical<T>(in, psi);
    for (const bool dagger : {false, true}) {
      CHECK(apply<T>(*down, psi, dagger) == apply<T>(made, psi, dagger));
      CHECK(apply<T>(*again, psi, dagger) == apply<T>(up, psi, dagger));
      CHECK(relative_distance(times_gamma5(apply<T>(up, times_gamma5(psi), dagger)), apply<T>(*down, psi, !dagger)) <
            tolerance);
    }
    for (const auto form : {SchurForm::symmetric, SchurForm::asymmetric}) {
      Schur<T> s(*down, form), expected(made, form);
      auto half = spinor_field<T>(up.layout(), s.subset()), out = half, also = half;
      s.prepare(half, in);
      for (const bool dagger : {false, true}) {
        if (dagger) {
          s.apply_dagger(out, half);
          expected.apply_dagger(also, half);
        } else {
          s.apply(out, half);
          expected.apply(also, half);
        }
        Complexes a(psi.size()), b(psi.size());
        to_canonical<T>(a, out);
        to_canonical<T>(b, also);
        CHECK(relative_distance(a, b) < tolerance);
      }
    }
  }
}

TEST_CASE_TEMPLATE("twisted: D(mu) is D + i mu gamma5, for every number of lanes", T, float, double) {
  const GaugeField gauge = random_gauge(3);
  const Complexes psi = random_numbers(volume * 12, 4);
  const double tolerance = 20 * std::numeric_limits<T>::epsilon();
  for (const auto& action : wilson_actions())
    for (const double mu : {0.25, -3.0}) {
      const WilsonClover<double> wilson(WilsonSetup(gauge, action));
      const std::complex<double> i_mu(0, mu);
      for (const int lanes : {1, 4, 16}) {
        const TwistedClover<T> twisted(TwistedSetup(gauge, {action, mu}, lanes));
        CHECK_FALSE(twisted.gamma5_hermitian());
        CHECK(relative_distance(apply<T>(twisted, psi), sum(apply<double>(wilson, psi), times_gamma5(psi, i_mu))) <
              tolerance);
        CHECK(relative_distance(apply<T>(twisted, psi, true),
                                sum(apply<double>(wilson, psi, true), times_gamma5(psi, -i_mu))) < tolerance);
      }
    }
}

TEST_CASE("twisted: D(mu)^dagger is gamma5 D(-mu) gamma5, and D^dagger D is (gamma5 D)^2 + mu^2") {
  const GaugeField gauge = random_gauge(5);
  const Complexes psi = random_numbers(volume * 12, 6);
  const double mu = 0.7;
  for (const auto& action : wilson_actions()) {
    const TwistedClover<double> up(TwistedSetup(gauge, {action, mu})), down(TwistedSetup(gauge, {action, -mu}));
    const WilsonClover<double> wilson(WilsonSetup(gauge, action));
    const Complexes dagger = apply<double>(up, psi, true);
    CHECK(relative_distance(dagger, times_gamma5(apply<double>(down, times_gamma5(psi)))) < 1e-15);
    const Complexes once = times_gamma5(apply<double>(wilson, psi));
    const Complexes q_squared = times_gamma5(apply<double>(wilson, once));
    CHECK(relative_distance(apply<double>(up, apply<double>(up, psi), true), sum(q_squared, psi, mu * mu)) < 1e-14);
  }
}

TEST_CASE("twisted: the free field has the momentum-space square (m + 4 - sum cos p)^2 + sin^2 p + mu^2") {
  const GaugeField gauge(test::one_process(extents));
  const double mass = 0.3, mu = 0.4;
  WilsonCloverAction action{.mass = mass, .csw = 1.0};  // free links have no field strength
  action.boundary = {1., 1., 1., -1.};
  const TwistedClover<double> d(TwistedSetup(gauge, {action, mu}));
  const std::array<double, 4> n{1, 2, 3, 0.5};
  double m = mass + 4, square = mu * mu;
  std::array<double, 4> p{};
  for (int axis = 0; axis < 4; ++axis) {
    p[axis] = 2 * std::numbers::pi * n[axis] / static_cast<double>(extents[axis]);
    m -= std::cos(p[axis]);
    square += std::sin(p[axis]) * std::sin(p[axis]);
  }
  square += m * m;
  Complexes wave(volume * 12);
  for (std::int64_t site = 0; site < volume; ++site) {
    const auto x = lattice::coordinates_of<4>(site, extents);
    double phase = 0;
    for (int axis = 0; axis < 4; ++axis) phase += p[axis] * static_cast<double>(x[axis]);
    for (int i = 0; i < 12; ++i) wave[12 * site + i] = std::polar(1.0 + 0.1 * i, phase + 0.3 * i);
  }
  const Complexes found = apply<double>(d, apply<double>(d, wave), true);
  for (auto& z : wave) z *= square;
  CHECK(relative_distance(found, wave) < 1e-14);
}

TEST_CASE_TEMPLATE("twisted: the Schur complement gives the half of x back, and its adjoint is its apply_dagger", T,
                   float, double) {
  const GaugeField gauge = random_gauge(7);
  const double tolerance = 50 * std::numeric_limits<T>::epsilon();
  const auto psi = random_numbers(volume * 12, 8), phi = random_numbers(volume * 12, 9);
  for (const auto& action : wilson_actions())
    for (const auto form : {SchurForm::symmetric, SchurForm::asymmetric})
      for (const int parity : {0, 1}) {
        const TwistedClover<T> d(TwistedSetup(gauge, {action, -0.6}));
        Schur<T> s(d, form, parity);
        const SpinorSpace<T> space(d.layout(), s.subset());
        auto x = spinor_field<T>(d.layout(), lattice::Subset::full), b = x, whole = x;
        from_canonical<T>(x, psi);
        d.apply(b, x);
        auto half = space.create(), rhs = half, product = half, y = half, sy = half;
        from_canonical<T>(half, psi);
        from_canonical<T>(y, phi);
        s.prepare(rhs, b);
        s.apply(product, half);
        s.apply_dagger(sy, y);
        solve::Scalar left, right, difference, size;
        space.dot({&left, 1}, y, product);
        space.dot({&right, 1}, sy, half);
        space.dot({&size, 1}, rhs, rhs);
        CHECK(std::abs(left - right) < tolerance * size.real());
        const solve::Scalar minus = -1.0;
        space.axpy({&minus, 1}, rhs, product);
        space.dot({&difference, 1}, product, product);
        CHECK(std::sqrt(difference.real() / size.real()) < tolerance);
        s.reconstruct(whole, half, b);
        Complexes result(psi.size());
        to_canonical<T>(result, whole);
        CHECK(relative_distance(result, psi) < tolerance);
      }
}

TEST_CASE("twisted: a column has the bits that it has alone") {
  const GaugeField gauge = random_gauge(10);
  for (const auto& action : wilson_actions()) {
    const TwistedClover<float> one(TwistedSetup(gauge, {action, 0.2}));
    const auto three = one.with_columns(3);
    auto in = spinor_field<float>(one.layout(), lattice::Subset::full, 3), out = in;
    for (int column = 0; column < 3; ++column)
      from_canonical<float>(in, column, random_numbers(volume * 12, 11 + column));
    three->apply(out, in);
    for (int column = 0; column < 3; ++column) {
      Complexes result(volume * 12);
      to_canonical<float>(result, out, column);
      CHECK(result == apply<float>(one, random_numbers(volume * 12, 11 + column)));
    }
  }
}

TEST_CASE("twisted: impossible parameters are refused") {
  const GaugeField gauge(test::one_process(extents));
  CHECK_THROWS_WITH_AS(TwistedSetup(gauge, {{.mass = 0.1}, std::nan("")}), doctest::Contains("mu is nan"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(TwistedSetup(gauge, {{.mass = -5}, 0.1}), doctest::Contains("must be positive"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd
