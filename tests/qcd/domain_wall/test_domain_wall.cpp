// SPDX-License-Identifier: Apache-2.0
//
// The domain-wall operator against its definition written out over the plainest Wilson operator, and the laws that it
// obeys.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/domain_wall/domain_wall.hpp"
#include "halocline/qcd/domain_wall/reference.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::qcd {
namespace {

using Number = std::complex<double>;
using Numbers = std::vector<Number>;
constexpr lattice::Coordinates<4> extents{4, 2, 6, 4};
constexpr std::int64_t volume = 4 * 2 * 6 * 4;
constexpr std::size_t each = 12 * volume;

DomainWallAction shamir() {
  DomainWallAction action{.mass = 0.1, .m5 = 1.7, .ls = 6};
  action.boundary = {std::polar(1.0, 0.3), 1.0, -1.0, -1.0};
  return action;
}
DomainWallAction moebius() {
  DomainWallAction action = shamir();
  action.b = {1.5};
  action.c = {0.5};
  return action;
}
/// Complex numbers that differ from s to s.
DomainWallAction zmoebius() {
  DomainWallAction action = shamir();
  action.b = {{1.4, 0.2}, {1.1, -0.3}, {1.6, 0}, {1.2, 0.1}, {1.3, 0.4}, {1.5, -0.1}};
  action.c = {{0.4, 0.2}, {0.1, -0.3}, {0.6, 0}, {0.2, 0.1}, {0.3, 0.4}, {0.5, -0.1}};
  return action;
}

struct Links {
  Numbers numbers = test::random_links(volume, 11);
  std::shared_ptr<const lattice::Geometry4> geometry = test::one_process(extents);
  GaugeField gauge = GaugeField::from_canonical(geometry, numbers);
};

/// D psi, or D^dagger psi, written out over test::ReferenceOperator.
Numbers oracle(const Links& links, const DomainWallAction& action, const Numbers& psi, bool dagger) {
  test::ReferenceParameters parameters;
  parameters.mass = -action.m5;
  parameters.boundary = action.boundary;
  const test::ReferenceOperator wilson({extents[0], extents[1], extents[2], extents[3]}, links.numbers, parameters);
  const int ls = action.ls;
  const auto part = [&](const Numbers& all, int s) {
    return Numbers(all.begin() + std::ptrdiff_t(each) * s, all.begin() + std::ptrdiff_t(each) * (s + 1));
  };
  const auto chiral = [](Numbers v, bool plus) {
    for (std::size_t i = 0; i < v.size(); ++i)
      if ((i % 12 < 6) != plus) v[i] = 0;
    return v;
  };
  Numbers out(psi.size());
  const auto add = [&](int s, Number factor, const Numbers& v) {
    for (std::size_t i = 0; i < each; ++i) out[each * std::size_t(s) + i] += factor * v[i];
  };
  for (int s = 0; s < ls; ++s) {
    const Number b = action.b_at(s), c = action.c_at(s);
    if (!dagger) {
      add(s, b, wilson.apply(part(psi, s)));
      add(s, 1, part(psi, s));
      for (const bool plus : {false, true}) {
        const int from = plus ? (s + ls - 1) % ls : (s + 1) % ls;
        const double factor = s == (plus ? 0 : ls - 1) ? -action.mass : 1.0;
        const Numbers half = chiral(part(psi, from), plus);
        add(s, c * factor, wilson.apply(half));
        add(s, -factor, half);
      }
    } else {
      add(s, std::conj(b), wilson.apply_dagger(part(psi, s)));
      add(s, 1, part(psi, s));
      for (const bool plus : {false, true}) {
        const int to = plus ? (s + ls - 1) % ls : (s + 1) % ls;  // s reads `to` in D, so `to` is given by s here
        const double factor = s == (plus ? 0 : ls - 1) ? -action.mass : 1.0;
        add(to, std::conj(c) * factor, chiral(wilson.apply_dagger(part(psi, s)), plus));
        add(to, -factor, chiral(part(psi, s), plus));
      }
    }
  }
  return out;
}

template <class T>
SpinorField<T> field(const DiracOperator<T>& d, const Numbers& psi) {
  auto out = spinor_field<T>(d.layout(), lattice::Subset::full, d.columns());
  for (int column = 0; column < d.columns(); ++column)
    from_canonical<T>(out, column, std::span(psi).subspan(each * std::size_t(column), each));
  return out;
}
template <class T>
Numbers numbers(const SpinorField<T>& f) {
  Numbers out(each * std::size_t(f.columns()));
  for (int column = 0; column < f.columns(); ++column)
    to_canonical<T>(std::span(out).subspan(each * std::size_t(column), each), f, column);
  return out;
}
Numbers random_spinors(int columns, unsigned seed) { return test::random_numbers(std::int64_t(each) * columns, seed); }

}  // namespace

TEST_CASE("domain wall: the reference is the definition") {
  const Links links;
  for (const auto& action : {shamir(), moebius(), zmoebius()})
    for (const bool dagger : {false, true}) {
      const Numbers psi = random_spinors(action.ls, 3);
      Numbers out(psi.size());
      domain_wall::apply_reference(out, psi, links.gauge, action, dagger);
      CHECK(test::relative_distance(out, oracle(links, action, psi, dagger)) < 1e-14);
    }
}

TEST_CASE_TEMPLATE("domain wall: the operator is the reference", T, float, double) {
  const Links links;
  const double allowed = 20 * std::numeric_limits<T>::epsilon();
  for (const auto& action : {shamir(), moebius(), zmoebius()})
    for (const int lanes : {1, 4, 16})
      for (const int sources : {1, 2})
        for (const int reals : {18, 12}) {
          const DomainWallSetup setup(links.gauge, action, lanes);
          const DomainWall<T> d(setup, action.ls * sources, reals);
          const Numbers psi = random_spinors(action.ls * sources, 3);
          auto in = field<T>(d, psi);
          auto out = spinor_field<T>(d.layout(), lattice::Subset::full, d.columns()), y = out;
          for (const bool dagger : {false, true}) {
            CAPTURE(lanes);
            CAPTURE(sources);
            CAPTURE(dagger);
            d.apply_full(out, in, dagger);
            const Numbers found = numbers(out);
            for (int i = 0; i < sources; ++i) {
              const auto size = each * std::size_t(action.ls);
              const auto one = std::span(psi).subspan(size * std::size_t(i), size);
              Numbers expected(size);
              domain_wall::apply_reference(expected, one, links.gauge, action, dagger);
              CHECK(test::relative_distance(std::span(found).subspan(size * std::size_t(i), size), expected) < allowed);
            }
          }
          // D = (A - 1/2 hop) B
          d.apply_full(out, in);
          const Numbers full = numbers(out);
          d.from_solution(y, in);
          d.apply(out, y);
          CHECK(test::relative_distance(numbers(out), full) < allowed);
          d.to_solution(y, y);
          CHECK(test::relative_distance(numbers(y), psi) < allowed);
        }
}

TEST_CASE_TEMPLATE("domain wall: both Schur complements, their adjoints and the way to a solution", T, float, double) {
  const Links links;
  const double allowed = 50 * std::numeric_limits<T>::epsilon();
  for (const auto& action : {shamir(), moebius(), zmoebius()})
    for (const SchurForm form : {SchurForm::symmetric, SchurForm::asymmetric})
      for (const int parity : {0, 1}) {
        const DomainWallSetup setup(links.gauge, action);
        const DomainWall<T> d(setup, action.ls * 2);
        Schur<T> schur(d, form, parity);
        // y given, source = (A - 1/2 hop) y: its half solves S, and the rest follows.
        const auto y = field<T>(d, random_spinors(d.columns(), 5));
        auto source = y, solution = y;
        d.apply(source, y);
        auto rhs = spinor_field<T>(d.layout(), schur.subset(), d.columns()), found = rhs, half = rhs, other = rhs;
        schur.prepare(rhs, source);
        std::copy_n(y.parity(parity), half.size(), half.data());
        schur.apply(found, half);
        double apart = 0, whole = 0;
        for (std::int64_t i = 0; i < rhs.size(); ++i) {
          apart += std::pow(double(found.data()[i]) - rhs.data()[i], 2);
          whole += std::pow(double(rhs.data()[i]), 2);
        }
        CHECK(std::sqrt(apart / whole) < allowed);
        schur.reconstruct(solution, half, source);
        CHECK(test::relative_distance(numbers(solution), numbers(y)) < allowed);
        // <a, S b> = <S^dagger a, b>
        const auto a = field<T>(d, random_spinors(d.columns(), 6));
        std::copy_n(a.parity(parity), other.size(), other.data());
        schur.apply_dagger(rhs, other);
        double left_re = 0, left_im = 0, right_re = 0, right_im = 0, size = 0;
        const int lanes = d.layout()->lanes();
        for (std::int64_t i = 0; i < found.size(); i += 2 * lanes)
          for (int lane = 0; lane < lanes; ++lane) {
            const auto z = [&](const SpinorField<T>& f) {
              return Number(f.data()[i + lane], f.data()[i + lanes + lane]);
            };
            const Number left = std::conj(z(other)) * z(found), right = std::conj(z(rhs)) * z(half);
            left_re += left.real(), left_im += left.imag(), right_re += right.real(), right_im += right.imag();
            size += std::abs(left);
          }
        CHECK(std::abs(Number(left_re - right_re, left_im - right_im)) < allowed * size);
      }
}

TEST_CASE("domain wall: gamma5 R5 D is hermitian for the action of Shamir") {
  const Links links;
  const auto action = shamir();
  const Numbers psi = random_spinors(action.ls, 3);
  const auto flipped = [&](const Numbers& v) {
    Numbers out(v.size());
    for (int s = 0; s < action.ls; ++s)
      for (std::size_t i = 0; i < each; ++i)
        out[each * std::size_t(s) + i] = (i % 12 < 6 ? 1.0 : -1.0) * v[each * std::size_t(action.ls - 1 - s) + i];
    return out;
  };
  const DomainWallSetup setup(links.gauge, action);
  const DomainWall<double> d(setup, action.ls);
  auto out = spinor_field<double>(d.layout(), lattice::Subset::full, d.columns());
  d.apply_full(out, field<double>(d, flipped(psi)));
  const Numbers turned = flipped(numbers(out));
  d.apply_full(out, field<double>(d, psi), true);
  CHECK(test::relative_distance(turned, numbers(out)) < 1e-14);
}

TEST_CASE("domain wall: the Pauli-Villars operator is the operator of mass 1") {
  const Links links;
  for (const auto& action : {shamir(), zmoebius()}) {
    auto heavy = action;
    heavy.mass = 1;
    const Numbers psi = random_spinors(action.ls, 3);
    const DomainWall<double> d(DomainWallSetup(links.gauge, action), action.ls);
    const auto villars = d.pauli_villars();
    auto out = villars->field(lattice::Subset::full);
    for (const bool dagger : {false, true}) {
      villars->apply_full(out, field<double>(*villars, psi), dagger);
      Numbers expected(psi.size());
      domain_wall::apply_reference(expected, psi, links.gauge, heavy, dagger);
      CHECK(test::relative_distance(numbers(out), expected) < 1e-14);
      // Half of the sites: the terms of the Schur complement have the mass too.
      const DomainWall<double> made(DomainWallSetup(links.gauge, heavy), action.ls);
      const auto in = field<double>(made, psi);
      auto once = made.field(lattice::Subset::full), twice = once;
      for (int parity = 0; parity < 2; ++parity) {
        made.multiply_inverse_diagonal(once, in, parity, dagger);
        villars->multiply_inverse_diagonal(twice, in, parity, dagger);
      }
      CHECK(numbers(once) == numbers(twice));
    }
  }
}

TEST_CASE("domain wall: Shamir is Moebius with b = 1 and c = 0, and a column does not depend on its neighbours") {
  const Links links;
  auto written = shamir();
  written.b.assign(6, 1.0);
  written.c.assign(6, 0.0);
  const Numbers psi = random_spinors(12, 3);
  const auto result = [&](const DomainWallAction& action, int columns) {
    const DomainWallSetup setup(links.gauge, action);
    const DomainWall<double> d(setup, columns);
    auto out = spinor_field<double>(d.layout(), lattice::Subset::full, columns);
    d.apply_full(out, field<double>(d, psi));
    return numbers(out);
  };
  const Numbers both = result(shamir(), 12), one = result(shamir(), 6);
  CHECK(result(written, 12) == both);
  CHECK(Numbers(both.begin(), both.begin() + std::ptrdiff_t(one.size())) == one);
}

TEST_CASE("domain wall: parameters that make no sense are refused with the rule") {
  const Links links;
  const auto said = [&](auto change) -> std::string {
    DomainWallAction action = moebius();
    change(action);
    try {
      const DomainWallSetup setup(links.gauge, action);
      const DomainWall<float> d(setup, action.ls);
    } catch (const core::InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  CHECK(said([](auto&) {}) == "");
  CHECK(said([](auto& a) { a.ls = 7; }).find("even number from 4 to 64") != std::string::npos);
  CHECK(said([](auto& a) { a.ls = 1; }).find("Ls is 1") != std::string::npos);
  CHECK(said([](auto& a) { a.ls = 66; }).find("Ls is 66") != std::string::npos);
  CHECK(said([](auto& a) { a.m5 = 2.0; }).find("between 0 and 2") != std::string::npos);
  CHECK(said([](auto& a) { a.m5 = -1.8; }).find("M5 is positive here") != std::string::npos);
  CHECK(said([](auto& a) { a.b = {0}, a.c = {0}; }).find("both zero at s = 0") != std::string::npos);
  CHECK(said([](auto& a) { a.b = {0}; }).find("cannot be inverted") != std::string::npos);
  CHECK(said([](auto& a) { a.b = {-1 / 2.3}; }).find("give real b >= |c|") != std::string::npos);
  CHECK(said([](auto& a) { a.c = {0.5, 0.5}; }).find("2 numbers c were given for Ls = 6") != std::string::npos);
  CHECK(said([](auto& a) { a.mass = NAN; }).find("finite quark mass") != std::string::npos);
  CHECK(said([](auto& a) { a.boundary[1] = 0.5; }).find("modulus one") != std::string::npos);
  const DomainWallSetup setup(links.gauge, moebius());
  CHECK_THROWS_AS(DomainWall<float>(setup, 7), core::InvalidArgument);
}

}  // namespace halocline::qcd
