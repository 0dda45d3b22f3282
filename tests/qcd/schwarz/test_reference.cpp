// SPDX-License-Identifier: Apache-2.0
//
// Laws of the oracle. D' is checked against the operator with written-out gamma matrices, D_in against that operator on
// links that vanish across faces, and J and K against the series and splittings that define them.

#include "halocline/qcd/schwarz/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "halocline/core/error.hpp"
#include "qcd/reference_operator.hpp"
#include "qcd/schwarz/sample.hpp"

namespace halocline::qcd::schwarz {
namespace {

using test::one_process;
using test::random_numbers;
using test::relative_distance;
using test::Vector;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

double norm(Reference::View v) {
  double sum = 0;
  for (const auto& z : v) sum += std::norm(z);
  return std::sqrt(sum);
}

Vector plus(Vector a, Reference::View b, std::complex<double> factor = 1) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
  return a;
}

test::ReferenceParameters plain(const WilsonCloverAction& action) {
  test::ReferenceParameters p;
  p.mass = action.mass;
  p.csw = action.csw;
  if (action.csw_t) p.csw_t = *action.csw_t;
  p.boundary = action.boundary;
  for (int mu = 0; mu < 4; ++mu) p.hopping[mu] = action.hopping(mu);
  return p;
}

/// A lattice of odd and even extents on one process.
struct Sample : test::RoughLattice {
  GaugeField gauge;
  explicit Sample(const lattice::Coordinates<4>& box = {8, 6, 3, 4}, unsigned seed = 1)
      : RoughLattice(box, seed), gauge(RoughLattice::gauge(one_process(box))) {}
};

const std::vector<lattice::Coordinates<4>> cuts{{2, 1, 1, 1}, {1, 1, 1, 1}, {2, 3, 1, 2}, {4, 2, 3, 4}};

}  // namespace

TEST_CASE("schwarz: A D' of the reference is the plain operator") {
  const Sample s;
  for (const auto& action : {test::every_term(), WilsonCloverAction{.mass = 0.3}}) {
    const Reference d(s.gauge, action, test::schwarz_parameters({2, 1, 1, 1}));
    const auto expected =
        d.multiply_inverse_clover(test::ReferenceOperator(s.extents, s.links, plain(action)).apply(s.psi));
    // A^-1 A must cancel: the condition number of A on these links is below 100.
    CHECK(relative_distance(d.apply(s.psi), expected) < 100 * epsilon);
  }
}

TEST_CASE("schwarz: D_in and D_out are D'") {
  const Sample s;
  for (const auto& blocks : cuts) {
    const Reference d(s.gauge, test::every_term(), test::schwarz_parameters(blocks));
    CHECK(relative_distance(plus(d.apply_inside(s.psi), d.apply_outside(s.psi)), d.apply(s.psi)) < 10 * epsilon);
  }
}

TEST_CASE("schwarz: D_in is D' where links across faces vanish, periodic edges among them") {
  const Sample s;
  WilsonCloverAction action = test::every_term();
  action.csw = 0;
  action.csw_t.reset();
  for (const auto& blocks : cuts) {
    auto cut = s.links;
    for (std::int64_t site = 0; site < lattice::product<4>(s.extents); ++site) {
      const auto x = lattice::coordinates_of<4>(site, s.extents);
      for (int mu = 0; mu < 4; ++mu) {
        const auto extent = s.extents[mu] / blocks[mu];
        if (x[mu] % extent == extent - 1) std::fill_n(cut.begin() + 36 * site + 9 * mu, 9, std::complex<double>(0));
      }
    }
    const Reference d(s.gauge, action, test::schwarz_parameters(blocks));
    auto expected = test::ReferenceOperator(s.extents, cut, plain(action)).apply(s.psi);
    for (auto& z : expected) z /= action.diagonal();
    CHECK(relative_distance(d.apply_inside(s.psi), expected) < 20 * epsilon);
  }
}

TEST_CASE("schwarz: domains of the reference are boxes coloured by the sum of their coordinates") {
  const Sample s;
  const Reference d(s.gauge, {.mass = 0.3}, test::schwarz_parameters({2, 3, 1, 2}));
  CHECK(d.colour({0, 0, 0, 0}) == 0);
  CHECK(d.colour({3, 1, 2, 1}) == 0);
  CHECK(d.colour({4, 0, 0, 0}) == 1);
  CHECK(d.colour({4, 2, 0, 0}) == 0);
  CHECK(d.colour({4, 2, 0, 2}) == 1);
  CHECK(d.colour({0, 4, 2, 0}) == 0);
  CHECK(d.domain({3, 1, 2, 1}) == 0);
  CHECK(d.domain({4, 5, 2, 3}) == 11);
  const auto both = plus(d.on_colour(s.psi, 0), d.on_colour(s.psi, 1));
  CHECK(relative_distance(both, s.psi) == 0);
}

TEST_CASE("schwarz: unit links take a constant to the mass over the diagonal, away from faces also inside") {
  const lattice::Coordinates<4> extents{8, 6, 4, 6};
  const GaugeField gauge(one_process(extents));
  const WilsonCloverAction action{.mass = 0.37, .boundary = {1., 1., 1., 1.}};
  const auto spinor = random_numbers(12, 3);
  Vector constant;
  for (std::int64_t site = 0; site < lattice::product<4>(extents); ++site)
    constant.insert(constant.end(), spinor.begin(), spinor.end());
  const Reference d(gauge, action, test::schwarz_parameters({2, 1, 1, 2}));
  const auto off_by = [&](const Vector& out, std::int64_t site) {
    double sum = 0;
    for (int k = 0; k < 12; ++k) sum += std::abs(out[12 * site + k] - action.mass / action.diagonal() * spinor[k]);
    return sum;
  };
  const Vector whole = d.apply(constant), inside = d.apply_inside(constant);
  for (std::int64_t site = 0; site < lattice::product<4>(extents); ++site) {
    const auto x = lattice::coordinates_of<4>(site, extents);
    const auto within_x = x[0] % 4, within_t = x[3] % 3;
    const bool touches = within_x == 0 || within_x == 3 || x[1] == 0 || x[1] == 5 || x[2] == 0 || x[2] == 3 ||
                         within_t == 0 || within_t == 2;
    CHECK(off_by(whole, site) < 100 * epsilon);
    CHECK((off_by(inside, site) < 100 * epsilon) != touches);
  }
}

TEST_CASE("schwarz: Jacobi steps are the terms of a geometric series") {
  const Sample s;
  for (int steps : {0, 1, 2, 5}) {
    const Reference d(s.gauge, test::every_term(), test::schwarz_parameters({2, 1, 1, 1}, 4, steps));
    Vector power = s.psi, sum = s.psi;
    for (int k = 0; k < steps; ++k) {
      power = plus(power, d.apply_inside(power), -1);
      sum = plus(sum, power);
    }
    CHECK(relative_distance(d.invert_inside(s.psi), sum) < 20 * epsilon);
  }
}

TEST_CASE("schwarz: a minimal-residual step leaves a rest orthogonal to D_in r, domain by domain") {
  const Sample s;
  const Reference d(s.gauge, test::every_term(), test::schwarz_parameters({2, 3, 1, 1}, 4, 1, "minres"));
  const Vector dr = d.apply_inside(s.psi);
  const Vector rest = plus(s.psi, d.apply_inside(d.invert_inside(s.psi)), -1);
  std::vector<std::complex<double>> product(6);
  for (std::int64_t site = 0; site < lattice::product<4>(s.extents); ++site)
    for (std::int64_t i = 12 * site; i < 12 * site + 12; ++i)
      product[d.domain(lattice::coordinates_of<4>(site, s.extents))] += std::conj(dr[i]) * rest[i];
  for (const auto& p : product) CHECK(std::abs(p) < 1000 * epsilon * norm(dr));
}

TEST_CASE("schwarz: many steps of either kind invert D_in" * doctest::skip(test::takes_samples)) {
  const Sample s;
  WilsonCloverAction heavy = test::every_term();
  heavy.mass = 2;
  for (const std::string inner : {"jacobi", "even-odd", "minres"}) {
    double before = 1;
    for (int steps : {1, 2, 4, 8}) {
      const Reference d(s.gauge, heavy, test::schwarz_parameters({2, 1, 1, 2}, 4, steps, inner));
      const double rest = relative_distance(d.apply_inside(d.invert_inside(s.psi)), s.psi);
      CHECK(rest < before);
      before = rest;
    }
    const Reference d(s.gauge, heavy, test::schwarz_parameters({2, 1, 1, 2}, 4, 100, inner));
    CHECK(relative_distance(d.apply_inside(d.invert_inside(s.psi)), s.psi) < 20 * epsilon);
  }
}

TEST_CASE("schwarz: even-odd steps make two steps of Jacobi on even sites, and leave no residual there") {
  const Sample s;
  const lattice::Coordinates<4> blocks{2, 1, 1, 2};
  const Reference jacobi(s.gauge, test::every_term(), test::schwarz_parameters(blocks, 1, 4));
  const Reference even_odd(s.gauge, test::every_term(), test::schwarz_parameters(blocks, 1, 2, "even-odd"));
  const Vector x = jacobi.invert_inside(s.psi), y = even_odd.invert_inside(s.psi), dy = even_odd.apply_inside(y);
  const auto& local = s.gauge.geometry().local();
  double different = 0;
  for (std::int64_t site = 0; site < s.gauge.geometry().local_volume(); ++site) {
    const auto at = lattice::coordinates_of<4>(site, local);
    std::int64_t within = 0;
    for (int axis = 0; axis < 4; ++axis) within += at[axis] % (local[axis] / blocks[axis]);
    for (std::int64_t i = 12 * site; i < 12 * site + 12; ++i) {
      const auto n = static_cast<std::size_t>(i);
      if (within % 2 == 0) {
        CHECK(std::abs(x[n] - y[n]) < 100 * epsilon);
        CHECK(std::abs(dy[n] - s.psi[n]) < 100 * epsilon);
      } else {
        different = std::max(different, std::abs(x[n] - y[n]));
      }
    }
  }
  CHECK(different > 1e-3);
}

TEST_CASE("schwarz: minimal residual leaves a domain alone where nothing is left") {
  const Sample s;
  const Reference d(s.gauge, test::every_term(), test::schwarz_parameters({2, 1, 1, 1}, 2, 3, "minres"));
  const Vector half = d.on_colour(s.psi, 1);
  const Vector x = d.invert_inside(half);
  CHECK(norm(d.on_colour(x, 0)) == 0);
  CHECK(norm(x) > 0);
  CHECK(norm(d.precondition(Vector(s.psi.size()))) == 0);
}

TEST_CASE("schwarz: D' K b without an application of D' is D' applied to K b" * doctest::skip(test::takes_samples)) {
  const Sample s;
  for (const std::string inner : {"jacobi", "even-odd", "minres"})
    for (const auto& blocks : cuts) {
      const Reference d(s.gauge, test::every_term(), test::schwarz_parameters(blocks, 3, 2, inner));
      CHECK(relative_distance(d.apply(d.precondition(s.psi)), d.apply_preconditioned(s.psi)) < 50 * epsilon);
    }
}

TEST_CASE("schwarz: nsap counts the powers of 1 - D' K_1" * doctest::skip(test::takes_samples)) {
  const Sample s;
  for (const auto& blocks : cuts) {
    const Reference first(s.gauge, test::every_term(), test::schwarz_parameters(blocks, 0));
    Vector power = s.psi, sum = s.psi;
    for (int k = 0; k < 3; ++k) {
      power = plus(power, first.apply_preconditioned(power), -1);
      sum = plus(sum, power);
    }
    const Reference all(s.gauge, test::every_term(), test::schwarz_parameters(blocks, 3));
    CHECK(relative_distance(all.precondition(s.psi), first.precondition(sum)) < 50 * epsilon);
  }
}

TEST_CASE("schwarz: one sweep is the colours one after the other") {
  const Sample s;
  const Reference d(s.gauge, test::every_term(), test::schwarz_parameters({2, 3, 1, 2}, 0));
  const Vector z0 = d.on_colour(d.invert_inside(s.psi), 0);
  const Vector r = plus(s.psi, d.apply(z0), -1);
  const Vector z1 = d.on_colour(d.invert_inside(r), 1);
  CHECK(relative_distance(d.precondition(s.psi), plus(z0, z1)) < 10 * epsilon);
}

TEST_CASE("schwarz: an exact inverse leaves nothing on the last colour, but what equal neighbours send" *
          doctest::skip(test::takes_samples)) {
  const Sample s({8, 4, 4, 4}, 5);
  WilsonCloverAction heavy = test::every_term();
  heavy.mass = 2;
  const auto rest = [&](const lattice::Coordinates<4>& blocks) {
    const Reference d(s.gauge, heavy, test::schwarz_parameters(blocks, 0, 100));
    return norm(d.on_colour(plus(s.psi, d.apply_preconditioned(s.psi), -1), 1)) / norm(s.psi);
  };
  CHECK(rest({2, 2, 2, 2}) < 20 * epsilon);
  CHECK(rest({4, 2, 4, 2}) < 20 * epsilon);
  // One domain along t: it is its own neighbour across the edge, and its own z comes back.
  CHECK(rest({2, 2, 2, 1}) > 1e-3);
}

TEST_CASE("schwarz: sweeps converge to the inverse of D'" * doctest::skip(test::takes_samples)) {
  const Sample s;
  WilsonCloverAction heavy = test::every_term();
  heavy.mass = 1;
  for (const auto& blocks : cuts) {
    double before = 1;
    for (int nsap : {0, 2, 5, 10}) {
      const Reference d(s.gauge, heavy, test::schwarz_parameters(blocks, nsap));
      const double rest = relative_distance(d.apply_preconditioned(s.psi), s.psi);
      CHECK(rest < 0.7 * before);
      before = rest;
    }
    const Reference d(s.gauge, heavy, test::schwarz_parameters(blocks, 60));
    CHECK(relative_distance(d.apply(d.precondition(s.psi)), s.psi) < 50 * epsilon);
  }
}

TEST_CASE("schwarz: K with Jacobi inside is linear" * doctest::skip(test::takes_samples)) {
  const Sample s;
  const auto other = random_numbers(std::ssize(s.psi), 9);
  const std::complex<double> a{0.3, -1.2};
  const Reference d(s.gauge, test::every_term(), test::schwarz_parameters({2, 1, 1, 1}));
  CHECK(relative_distance(d.precondition(plus(s.psi, other, a)),
                          plus(d.precondition(s.psi), d.precondition(other), a)) < 20 * epsilon);
}

TEST_CASE("schwarz: the reference refuses what it cannot cut") {
  const Sample s;
  CHECK_THROWS_WITH_AS(Reference(s.gauge, {.mass = 0.3}, test::schwarz_parameters({3, 1, 1, 1})),
                       doctest::Contains("3 domains along axis 0"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(Reference(s.gauge, {.mass = 0.3}, test::schwarz_parameters({2, 1, 1, 1}, 4, 2, "richardson")),
                       doctest::Contains("richardson"), core::InvalidArgument);
  const Reference d(s.gauge, {.mass = 0.3}, test::schwarz_parameters({2, 1, 1, 1}));
  CHECK_THROWS_WITH_AS(d.apply(Vector(7)), doctest::Contains("7 complex numbers"), core::InvalidArgument);
}

}  // namespace halocline::qcd::schwarz
