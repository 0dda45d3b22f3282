// SPDX-License-Identifier: Apache-2.0
//
// Gaussian smearing of quark fields: against plain loops, covariance, and the shape on unit links.

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/measure/smear.hpp"
#include "qcd/measure/measure_test.hpp"

namespace {

using namespace halocline;
using namespace halocline::test;
using qcd::GaugeField;
using qcd::measure::GaussianSmearer;
using qcd::measure::GaussianSmearing;

// One iteration by its definition.
Spinor plain_iteration(const Site& extents, const std::vector<Complex>& links, const Spinor& psi,
                       const GaussianSmearing& p) {
  Spinor out(psi.size());
  for (std::int64_t i = 0; i < lattice::product<4>(extents); ++i) {
    const Site x = lattice::coordinates_of<4>(i, extents);
    for (std::size_t k = 0; k < 12; ++k) {
      const auto a = k % 3;
      Complex sum = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        Site up = x, down = x;
        up[axis] = (x[axis] + 1) % extents[axis];
        down[axis] = (x[axis] + extents[axis] - 1) % extents[axis];
        const Complex ahead = up[axis] == 0 ? p.boundary[axis] : 1.0;
        const Complex behind = x[axis] == 0 ? std::conj(p.boundary[axis]) : 1.0;
        const std::int64_t j = lattice::linear_index<4>(up, extents), l = lattice::linear_index<4>(down, extents);
        const Matrix3 forward = link_of(links, i, static_cast<int>(axis));
        const Matrix3 backward = dagger(link_of(links, l, static_cast<int>(axis)));
        for (std::size_t b = 0; b < 3; ++b) {
          sum += ahead * forward[a][b] * psi[static_cast<std::size_t>(12 * j) + k - a + b];
          sum += behind * backward[a][b] * psi[static_cast<std::size_t>(12 * l) + k - a + b];
        }
      }
      const auto at = static_cast<std::size_t>(12 * i) + k;
      out[at] = (1 - 6 * p.step) * psi[at] + p.step * sum;
    }
  }
  return out;
}

Spinor random_spinor(const GeometryPointer& geometry, std::uint64_t seed) {
  Spinor psi(static_cast<std::size_t>(12 * geometry->local_volume()));
  fill_random(*geometry, psi, seed);
  return psi;
}

Spinor smeared(const GaugeField& links, Spinor psi, const GaussianSmearing& parameters) {
  GaussianSmearer(links, parameters).apply(psi);
  return psi;
}

}  // namespace

TEST_CASE("smear: equals the definition in plain loops, for any extent and boundary phase") {
  const Complex phase = std::polar(1.0, 0.7);
  for (const Site& extents : {Site{4, 6, 8, 2}, Site{6, 3, 5, 3}, Site{10, 2, 3, 2}, Site{16, 2, 4, 1}}) {
    const GeometryPointer geometry = alone(extents);
    const auto canonical = random_links(*geometry, 41);
    const GaugeField links = GaugeField::from_canonical(geometry, canonical);
    for (const Complex& boundary : {Complex(1), Complex(-1), phase}) {
      GaussianSmearing parameters = GaussianSmearing::of_weight(0.37, 3);
      parameters.boundary = {boundary, boundary, 1.};
      Spinor expected = random_spinor(geometry, 42);
      const Spinor result = smeared(links, expected, parameters);
      for (int n = 0; n < 3; ++n) expected = plain_iteration(extents, canonical, expected, parameters);
      CHECK(distance(result, expected) < 1e-14);  // three iterations of 20 sums
    }
  }
}

TEST_CASE("smear: is gauge covariant") {
  const Site extents{4, 2, 6, 2};
  const GeometryPointer geometry = alone(extents);
  const auto canonical = random_links(*geometry, 43);
  const GaugeField links = GaugeField::from_canonical(geometry, canonical);
  const GaugeField turned = GaugeField::from_canonical(geometry, transformed_links(extents, canonical, 44));
  const Spinor psi = random_spinor(geometry, 45);
  const GaussianSmearing eight = GaussianSmearing::of_weight(0.5, 8);
  Spinor first = psi, then = smeared(links, psi, eight);
  transform_spinor(first, 44);
  transform_spinor(then, 44);
  CHECK(distance(smeared(turned, first, eight), then) < 1e-13);
}

TEST_CASE("smear: is hermitian, composes, and keeps a constant on unit links") {
  const GeometryPointer geometry = alone({4, 4, 2, 3});
  const GaugeField links = GaugeField::from_canonical(geometry, random_links(*geometry, 46));
  const Spinor a = random_spinor(geometry, 47), b = random_spinor(geometry, 48);
  const auto five = GaussianSmearing::of_weight(0.8, 5), two = GaussianSmearing::of_weight(0.8, 2),
             three = GaussianSmearing::of_weight(0.8, 3);
  const Complex left = inner_product(a, smeared(links, b, five)), right = inner_product(smeared(links, a, five), b);
  CHECK(std::abs(left - right) < 1e-13 * norm(a) * norm(b));
  CHECK(distance(smeared(links, smeared(links, a, two), three), smeared(links, a, five)) < 1e-14);
  CHECK(smeared(links, a, GaussianSmearing::of_weight(0.8, 0)) == a);

  Spinor constant(a.size(), Complex(0.5, -2));
  CHECK(distance(smeared(GaugeField(geometry), constant, GaussianSmearing::of_weight(1.3, 20)), constant) < 1e-13);
}

TEST_CASE("smear: a point on unit links spreads to the stated radius, on its own time slice alone") {
  const Site extents{20, 20, 20, 2};
  const GeometryPointer geometry = alone(extents);
  const double width = 2;
  const GaussianSmearing parameters = GaussianSmearing::of_width(width, 8);
  const Site centre{7, 0, 19, 1};
  const Spinor psi = smeared(GaugeField(geometry), qcd::measure::point_source(*geometry, centre, 3, 2), parameters);
  double weight = 0, radius = 0;
  for (std::int64_t i = 0; i < geometry->local_volume(); ++i) {
    const Site x = lattice::coordinates_of<4>(i, extents);
    double r2 = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto distance = static_cast<double>((x[axis] - centre[axis] + 30) % 20 - 10);
      r2 += distance * distance;
    }
    for (int k = 0; k < 12; ++k) {
      const Complex z = psi[static_cast<std::size_t>(12 * i + k)];
      if (k != 11 || x[3] != 1) CHECK_UNARY(z == Complex(0));
      weight += z.real();
      radius += r2 * z.real();
    }
  }
  CHECK(weight == doctest::Approx(1).epsilon(1e-13));
  CHECK(radius == doctest::Approx(1.5 * width * width).epsilon(1e-12));
  CHECK(radius == doctest::Approx(6 * parameters.step * 8).epsilon(1e-12));
}

TEST_CASE("smear: fewer steps than a smooth Gaussian needs multiply plane waves as the definition says") {
  const Site extents{4, 4, 4, 2};
  const GeometryPointer geometry = alone(extents);
  const auto parameters = GaussianSmearing::of_width(4, 20);  // k = 1/5; 24 steps would be smooth
  CHECK_FALSE(parameters.is_smooth());
  CHECK(GaussianSmearing::of_width(4, 25).is_smooth());
  const double factors[] = {1, std::pow(1 - 12 * 0.2, 20)};  // at momentum zero, and at pi in all three directions
  for (const bool alternating : {false, true}) {
    Spinor psi(static_cast<std::size_t>(12 * geometry->local_volume()), Complex(1));
    for (std::int64_t i = 0; alternating && i < geometry->local_volume(); ++i) {
      const Site x = lattice::coordinates_of<4>(i, extents);
      for (int k = 0; k < 12; ++k) psi[static_cast<std::size_t>(12 * i + k)] = (x[0] + x[1] + x[2]) % 2 == 0 ? 1 : -1;
    }
    Spinor expected = psi;
    for (auto& z : expected) z *= factors[alternating ? 1 : 0];
    CHECK(distance(smeared(GaugeField(geometry), psi, parameters), expected) < 1e-13);  // relative; 20 sums of 7
  }
}

TEST_CASE("smear: a propagator is smeared column by column at its sink") {
  const GeometryPointer geometry = alone({4, 2, 2, 2});
  const GaugeField links = GaugeField::from_canonical(geometry, random_links(*geometry, 49));
  Propagator s = random_propagator(geometry, {0, 0, 0, 0}, 50);
  const Propagator before = s;
  const GaussianSmearing three = GaussianSmearing::of_weight(0.4, 3);
  qcd::measure::smear_sink(s, links, three);
  for (int k = 0; k < 12; ++k) {
    const auto column = before.column(k / 3, k % 3);
    CHECK(distance(s.column(k / 3, k % 3), smeared(links, Spinor(column.begin(), column.end()), three)) < 1e-15);
  }
}

TEST_CASE("smear: the caller's mistakes are named") {
  const GeometryPointer geometry = alone({2, 2, 2, 2});
  const GaugeField links(geometry);
  CHECK_THROWS_AS(GaussianSmearer(links, {-0.1, 3}), core::InvalidArgument);
  CHECK_THROWS_AS(GaussianSmearer(links, {NAN, 3}), core::InvalidArgument);
  CHECK_THROWS_AS(GaussianSmearer(links, {0.1, -1}), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(GaussianSmearing::of_width(-4, 20), doctest::Contains("width -4"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(GaussianSmearing::of_width(4, 0), doctest::Contains("0 iterations"), core::InvalidArgument);
  Spinor wrong(7);
  CHECK_THROWS_WITH_AS(GaussianSmearer(links, {0.1, 1}).apply(wrong), doctest::Contains("192"), core::InvalidArgument);
}
