// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schur/schur.hpp"

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 6, 8, 4};
constexpr std::int64_t volume = 4 * 6 * 8 * 4;

struct Case {
  SchurForm form;
  int parity;
  double csw;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (auto form : {SchurForm::symmetric, SchurForm::asymmetric})
    for (int parity : {0, 1})
      for (double csw : {0.0, 1.2}) all.push_back({form, parity, csw});
  return all;
}

}  // namespace

TEST_CASE("schur: the adjoint of S is its apply_dagger") {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 1));
  for (const auto& c : cases()) {
    const WilsonSetup setup(gauge, {.mass = 0.1, .csw = c.csw});
    const WilsonClover<double> d(setup);
    Schur<double> s(d, c.form, c.parity);
    const SpinorSpace<double> space(d.layout(), s.subset());
    auto x = space.create(), y = space.create(), sx = space.create(), sy = space.create();
    from_canonical<double>(x, test::random_numbers(volume * 12, 2));
    from_canonical<double>(y, test::random_numbers(volume * 12, 3));
    s.apply(sx, x);
    s.apply_dagger(sy, y);
    solve::Scalar left, right;
    space.dot({&left, 1}, y, sx);
    space.dot({&right, 1}, sy, x);
    CHECK(std::abs(left - right) < 1e-13 * std::abs(left));
  }
}

TEST_CASE_TEMPLATE("schur: what D makes of x gives the half of x back through S", T, float, double) {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 4));
  for (const auto& c : cases()) {
    const WilsonSetup setup(gauge, {.mass = 0.1, .csw = c.csw});
    const WilsonClover<T> d(setup);
    Schur<T> s(d, c.form, c.parity);
    const SpinorSpace<T> space(d.layout(), s.subset());
    auto x = spinor_field<T>(d.layout(), lattice::Subset::full);
    auto b = spinor_field<T>(d.layout(), lattice::Subset::full);
    const auto psi = test::random_numbers(volume * 12, 5);
    from_canonical<T>(x, psi);
    d.apply(b, x);
    // S x_e = rhs, for the x that b was made from
    auto half = space.create(), rhs = space.create(), product = space.create();
    from_canonical<T>(half, psi);
    s.prepare(rhs, b);
    s.apply(product, half);
    const solve::Scalar minus = -1.0;
    space.axpy({&minus, 1}, rhs, product);
    solve::Scalar difference, size;
    space.dot({&difference, 1}, product, product);
    space.dot({&size, 1}, rhs, rhs);
    // About 400 roundings a site, in sums of terms of one size.
    const double tolerance = 50 * std::numeric_limits<T>::epsilon();
    CHECK(std::sqrt(difference.real() / size.real()) < tolerance);
    // and the other half comes back from it
    auto whole = spinor_field<T>(d.layout(), lattice::Subset::full);
    s.reconstruct(whole, half, b);
    std::vector<std::complex<double>> result(psi.size());
    to_canonical<T>(result, whole);
    CHECK(test::relative_distance(result, psi) < tolerance);
  }
}

TEST_CASE("schur: a field of the wrong parity is refused") {
  const GaugeField gauge(test::one_process(extents));
  const WilsonSetup setup(gauge, {});
  const WilsonClover<double> d(setup);
  Schur<double> s(d);
  auto odd = spinor_field<double>(d.layout(), lattice::Subset::odd);
  auto even = spinor_field<double>(d.layout(), lattice::Subset::even);
  CHECK_THROWS_WITH_AS(s.apply(even, odd), doctest::Contains("wrong subset"), core::InvalidArgument);
}

}  // namespace halocline::qcd
