// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/wilson/wilson_clover.hpp"

#include <doctest/doctest.h>

#include <string>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gamma.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/gauge/transform.hpp"
#include "qcd/apply_operator.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::qcd {
namespace {

using test::apply;
using test::random_links;
using test::random_numbers;
using test::relative_distance;

constexpr lattice::Coordinates<4> extents{4, 6, 8, 10};
constexpr std::int64_t volume = 4 * 6 * 8 * 10;

test::ReferenceOperator oracle(std::span<const std::complex<double>> links, const WilsonCloverAction& action) {
  test::ReferenceParameters reference;
  reference.mass = action.mass;
  reference.csw = action.csw;
  if (action.csw_t) reference.csw_t = *action.csw_t;
  reference.boundary = action.boundary;
  for (int axis = 0; axis < 4; ++axis) reference.hopping[axis] = action.hopping(axis);
  return {extents, links, reference};
}

std::vector<WilsonCloverAction> actions() {
  WilsonCloverAction wilson{.mass = -0.3};
  WilsonCloverAction clover{.mass = 0.1, .csw = 1.3};
  WilsonCloverAction twisted = clover;
  twisted.boundary = {std::polar(1.0, 0.3), std::polar(1.0, -0.7), -1.0, std::polar(1.0, 2.0)};
  WilsonCloverAction anisotropic = clover;
  anisotropic.xi0 = 2.5;
  anisotropic.nu = 0.9;
  anisotropic.csw_t = 0.8;
  anisotropic.boundary = test::takes_samples ? twisted.boundary : anisotropic.boundary;
  return test::sampled<std::vector<WilsonCloverAction>>({wilson, clover, twisted, anisotropic}, {anisotropic});
}

}  // namespace

TEST_CASE_TEMPLATE("wilson: D equals the plain operator for every tile, phase and anisotropy", T, float, double) {
  const auto links = random_links(volume, 1);
  const auto psi = random_numbers(volume * 12, 2);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  // A site sums about 200 products; each rounds once.
  const double tolerance = 20 * std::numeric_limits<T>::epsilon();
  for (const auto& action : actions()) {
    const auto reference = oracle(links, action);
    const auto expected = reference.apply(psi);
    const auto expected_dagger = reference.apply_dagger(psi);
    for (int lanes : {1, 2, 4, 8, 16}) {
      CAPTURE(lanes);
      const WilsonSetup setup(gauge, action, lanes);
      const WilsonClover<T> d(setup);
      REQUIRE(d.layout()->lanes() <= lanes);
      CHECK(relative_distance(apply<T>(d, psi, false), expected) < tolerance);
      CHECK(relative_distance(apply<T>(d, psi, true), expected_dagger) < tolerance);
    }
  }
}

TEST_CASE("wilson: lanes along each axis in turn give the plain operator") {
  const auto links = random_links(volume, 3);
  const auto psi = random_numbers(volume * 12, 4);
  const auto geometry = test::one_process(extents);
  const GaugeField gauge = GaugeField::from_canonical(geometry, links);
  const WilsonCloverAction action{.mass = 0.2};
  const auto expected = oracle(links, action).apply(psi);
  for (const lattice::Coordinates<4>& tile :
       {lattice::Coordinates<4>{2, 1, 1, 1}, {1, 1, 2, 1}, {1, 1, 4, 1}, {2, 1, 2, 1}, {2, 1, 4, 1}}) {
    const auto layout = std::make_shared<const lattice::TileLayout>(geometry, tile);
    const wilson::Hopping<double> hopping(std::make_shared<const lattice::Neighbours>(layout), gauge, action);
    auto in = spinor_field<double>(layout, lattice::Subset::full);
    auto out = spinor_field<double>(layout, lattice::Subset::full);
    from_canonical<double>(in, psi);
    for (int parity = 0; parity < 2; ++parity) {
      wilson::HopTerms<double> terms;
      terms.hop_scale = -0.5;
      terms.add = in.parity(parity);
      terms.add_scale = action.diagonal();
      hopping.apply(out.parity(parity), in.parity(1 - parity), parity, false, terms);
    }
    std::vector<std::complex<double>> result(psi.size());
    to_canonical<double>(result, out);
    CHECK(relative_distance(result, expected) < 1e-14);
  }
}

TEST_CASE_TEMPLATE("wilson: a result stored past the caches is the one stored through them", T, float, double) {
  if (test::takes_samples) return;  // only AVX-512 has such stores
  // Large enough for the first way in either precision; what adds a vector always takes the second.
  const auto geometry = test::one_process({16, 16, 24, 32});
  const GaugeField gauge =
      gauge::unit_links(geometry);  // quick to make: what is stored differs from site to site anyway
  const auto layout = lattice::TileLayout::best(geometry);
  const wilson::Hopping<T> hopping(std::make_shared<const lattice::Neighbours>(layout), gauge, {});
  auto in = spinor_field<T>(layout, lattice::Subset::odd);
  for (std::int64_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<T>(std::sin(0.37 * static_cast<double>(i)));
  auto past = spinor_field<T>(layout, lattice::Subset::even);
  auto through = past, nothing = past;
  hopping.apply(past.data(), in.data(), 0, false);
  wilson::HopTerms<T> terms;
  terms.add = nothing.data();
  hopping.apply(through.data(), in.data(), 0, false, terms);
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < past.size(); ++i) different += past.data()[i] != through.data()[i];
  CHECK(different == 0);
  CHECK(std::abs(past.data()[12345]) > 0);
}

TEST_CASE("wilson: D is gamma5-hermitian") {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), random_links(volume, 5));
  const WilsonSetup setup(gauge, {.mass = -0.4, .csw = 1.1});
  const WilsonClover<double> d(setup);
  const SpinorSpace<double> space(d.layout(), lattice::Subset::full);
  auto x = space.create(), y = space.create(), dx = space.create(), dy = space.create();
  from_canonical<double>(x, random_numbers(volume * 12, 6));
  from_canonical<double>(y, random_numbers(volume * 12, 7));
  // <y, gamma5 D x> = conj <x, gamma5 D y>
  d.apply(dx, x);
  apply_gamma5(dx, dx);
  d.apply(dy, y);
  apply_gamma5(dy, dy);
  solve::Scalar left, right;
  space.dot({&left, 1}, y, dx);
  space.dot({&right, 1}, x, dy);
  CHECK(std::abs(left - std::conj(right)) < 1e-13 * std::abs(left));
}

TEST_CASE("wilson: D dagger D is positive and D dagger is the adjoint") {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), random_links(volume, 8));
  const WilsonSetup setup(gauge, {.mass = -0.2, .csw = 1.0});
  const WilsonClover<double> d(setup);
  const SpinorSpace<double> space(d.layout(), lattice::Subset::full);
  auto x = space.create(), dx = space.create(), ddx = space.create();
  from_canonical<double>(x, random_numbers(volume * 12, 9));
  d.apply(dx, x);
  d.apply_dagger(ddx, dx);
  solve::Scalar norm, product;
  space.dot({&norm, 1}, dx, dx);
  space.dot({&product, 1}, x, ddx);
  CHECK(norm.real() > 0);
  CHECK(std::abs(product - norm) < 1e-13 * norm.real());
}

TEST_CASE("wilson: charge conjugation turns D of the conjugate links into the conjugate of D") {
  // C gamma_mu C^-1 = -gamma_mu^T with C = gamma_y gamma_t in this basis, so D[U^*] = B^-1 D[U]^* B with B = C gamma5.
  constexpr SpinMatrix b = gamma[1] * gamma[3] * gamma5;
  constexpr std::array<std::complex<double>, 4> power_of_i{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  const auto rotate = [&](const SpinMatrix& spin, const std::vector<std::complex<double>>& psi) {
    std::vector<std::complex<double>> out(psi.size());
    for (std::size_t site = 0; site < psi.size(); site += 12)
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c)
          out[site + 3 * s + c] = power_of_i[spin.power[s]] * psi[site + 3 * spin.column[s] + c];
    return out;
  };
  const auto conjugate = [](std::vector<std::complex<double>> numbers) {
    for (auto& z : numbers) z = std::conj(z);
    return numbers;
  };
  const auto links = random_links(volume, 10);
  const auto psi = random_numbers(volume * 12, 11);
  const auto geometry = test::one_process(extents);
  const WilsonCloverAction action{.mass = 0.1, .csw = 1.2};
  const GaugeField gauge = GaugeField::from_canonical(geometry, links);
  const GaugeField conjugate_gauge = GaugeField::from_canonical(geometry, conjugate(links));
  const WilsonClover<double> d(WilsonSetup(gauge, action));
  const WilsonClover<double> d_conjugate(WilsonSetup(conjugate_gauge, action));
  const auto left = apply<double>(d_conjugate, psi, false);
  const auto right = rotate(adjoint(b), conjugate(apply<double>(d, conjugate(rotate(b, psi)), false)));
  CHECK(relative_distance(left, right) < 1e-14);
}

TEST_CASE("wilson: D is gauge covariant") {
  const auto geometry = test::one_process(extents);
  const GaugeField gauge = GaugeField::from_canonical(geometry, random_links(volume, 12));
  const auto g = gauge::GaugeTransformation::random(geometry, 13);
  GaugeField transformed = gauge;
  g.apply(transformed);
  const WilsonCloverAction action{.mass = 0.1, .csw = 1.2};
  const WilsonClover<double> d(WilsonSetup(gauge, action));
  const WilsonClover<double> d_transformed(WilsonSetup(transformed, action));
  auto psi = random_numbers(volume * 12, 14);
  auto expected = apply<double>(d, psi, false);
  g.apply(expected);
  g.apply(psi);
  CHECK(relative_distance(apply<double>(d_transformed, psi, false), expected) < 1e-14);
}

TEST_CASE("wilson: unit links without a clover term act on a constant spinor as the mass") {
  const GaugeField gauge(test::one_process(extents));
  const WilsonSetup setup(gauge, {.mass = 0.37, .boundary = {1., 1., 1., 1.}});
  const WilsonClover<double> d(setup);
  std::vector<std::complex<double>> constant(volume * 12, {1.5, -0.5});
  const auto out = apply<double>(d, constant, false);
  for (auto& z : constant) z *= 0.37;
  CHECK(relative_distance(out, constant) < 1e-14);
}

TEST_CASE("wilson: impossible parameters are refused with what would do") {
  const GaugeField gauge(test::one_process(extents));
  CHECK_THROWS_WITH_AS(WilsonSetup(gauge, {.mass = -4.5}), doctest::Contains("must be positive"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(WilsonSetup(gauge, {.mass = std::nan("")}), doctest::Contains("finite"), core::InvalidArgument);
  WilsonCloverAction action;
  action.boundary[2] = 0.5;
  CHECK_THROWS_WITH_AS(WilsonSetup(gauge, action), doctest::Contains("modulus one"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(mass_from_kappa(-0.1), doctest::Contains("kappa is -0.1"), core::InvalidArgument);
  CHECK(mass_from_kappa(0.125) == 0.0);
  CHECK(kappa_from_mass(mass_from_kappa(0.1335)) == doctest::Approx(0.1335).epsilon(1e-15));
  const GaugeField odd(test::one_process({4, 6, 5, 4}));
  CHECK_THROWS_WITH_AS(WilsonSetup(odd, {}), doctest::Contains("5 sites along z"), core::InvalidArgument);
}

}  // namespace halocline::qcd
