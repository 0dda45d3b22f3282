// SPDX-License-Identifier: Apache-2.0
//
// Sources: where they are, how large they are, and what dilution adds up to.

#include <doctest/doctest.h>

#include <numbers>
#include <set>

#include "halocline/core/error.hpp"
#include "halocline/qcd/measure/noise.hpp"
#include "halocline/qcd/measure/source.hpp"
#include "qcd/measure/measure_test.hpp"

namespace {

using namespace halocline;
using namespace halocline::test;
using namespace halocline::qcd::measure;

const Site extents{4, 2, 6, 4};

Complex element(const Spinor& psi, const Site& x, int spin, int colour) {
  return psi[static_cast<std::size_t>(12 * lattice::linear_index<4>(x, extents) + 3 * spin + colour)];
}
double square(const Spinor& psi) {
  double sum = 0;
  for (const Complex& z : psi) sum += std::norm(z);
  return sum;
}

}  // namespace

TEST_CASE("source: a point is one number") {
  const auto geometry = alone(extents);
  const Spinor psi = point_source(*geometry, {3, 1, 4, 2}, 2, 1);
  CHECK(psi.size() == 12 * 192);
  CHECK(element(psi, {3, 1, 4, 2}, 2, 1) == Complex(1));
  CHECK(square(psi) == 1);
  CHECK_THROWS_WITH_AS(point_source(*geometry, {4, 0, 0, 0}, 0, 0), doctest::Contains("4 x 2 x 6 x 4"),
                       core::InvalidArgument);
  CHECK_THROWS_AS(point_source(*geometry, {0, 0, -1, 0}, 0, 0), core::InvalidArgument);
  CHECK_THROWS_AS(point_source(*geometry, {0, 0, 0, 0}, 4, 0), core::InvalidArgument);
}

TEST_CASE("source: a wall is a plane wave on one time slice") {
  const auto geometry = alone(extents);
  const Spinor psi = wall_source(*geometry, 3, 1, 2, {1, 0, -2});
  CHECK(square(psi) == doctest::Approx(48).epsilon(1e-14));
  for (const Site& x : {Site{1, 0, 0, 3}, Site{3, 1, 5, 3}}) {
    const double angle = 2 * std::numbers::pi * (static_cast<double>(x[0]) / 4 - 2 * static_cast<double>(x[2]) / 6);
    CHECK(std::abs(element(psi, x, 1, 2) - std::polar(1.0, angle)) < 1e-14);
  }
  CHECK(element(psi, {1, 0, 0, 2}, 1, 2) == Complex(0));
  CHECK(square(wall_source(*geometry, 0, 0, 0)) == 48);
  CHECK_THROWS_AS(wall_source(*geometry, 4, 0, 0), core::InvalidArgument);
}

TEST_CASE("source: twelve columns come in the order 3 spin + colour") {
  const auto geometry = alone(extents);
  const auto made = columns([&](int spin, int colour) { return point_source(*geometry, {0, 0, 0, 0}, spin, colour); });
  REQUIRE(made.size() == 12);
  for (std::size_t k = 0; k < 12; ++k) CHECK(made[k][k] == Complex(1));
}

TEST_CASE("source: noise has modulus one, takes every root of unity, and averages to zero") {
  const auto geometry = alone({8, 8, 8, 8});
  for (const Noise noise : {Noise::z2, Noise::z4}) {
    const auto made = noise_source(*geometry, {.noise = noise, .seed = 7});
    REQUIRE(made.size() == 1);
    std::set<std::pair<double, double>> seen;
    Complex mean = 0;
    for (const Complex& z : made[0]) {
      seen.insert({z.real(), z.imag()});
      CHECK_UNARY(std::norm(z) == 1);
      mean += z / static_cast<double>(made[0].size());
    }
    CHECK(seen.size() == (noise == Noise::z2 ? 2 : 4));
    CHECK(std::abs(mean) < 5 / std::sqrt(49152.0));  // five standard deviations
  }
}

TEST_CASE("source: noise averages to the unit matrix") {
  const auto geometry = alone({2, 2, 2, 2});
  const int samples = 4000;
  std::vector<Complex> matrix(192 * 192);
  for (int i = 0; i < samples; ++i) {
    const auto xi =
        noise_source(*geometry, {.noise = Noise::z4, .seed = 3, .sample = static_cast<std::uint64_t>(i)})[0];
    for (std::size_t a = 0; a < 192; ++a)
      for (std::size_t b = 0; b < 192; ++b)
        matrix[192 * a + b] += xi[a] * std::conj(xi[b]) / static_cast<double>(samples);
  }
  double largest = 0;
  for (std::size_t a = 0; a < 192; ++a)
    for (std::size_t b = 0; b < 192; ++b)
      largest = std::max(largest, std::abs(matrix[192 * a + b] - (a == b ? 1.0 : 0.0)));
  // of 18,000 pairs of independent numbers with standard deviation 1/sqrt(4000) none is six deviations off
  CHECK(largest < 6 / std::sqrt(4000.0));
}

TEST_CASE("source: dilution in time and components adds up to the whole vector") {
  const auto geometry = alone(extents);
  const NoiseOptions whole{.noise = Noise::z4, .seed = 11, .sample = 5};
  const Spinor xi = noise_source(*geometry, whole)[0];
  CHECK(square(xi) == doctest::Approx(12 * 192));
  Spinor sum(xi.size());
  for (std::int64_t t = 0; t < 4; ++t) {
    NoiseOptions slice = whole;
    slice.time = t;
    const Spinor part = noise_source(*geometry, slice)[0];
    CHECK(square(part) == doctest::Approx(12 * 48));
    CHECK(part == restrict_to_time(*geometry, xi, t));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  CHECK(sum == xi);

  for (const auto& [dilution, count] : {std::pair{Dilution::spin, 4}, std::pair{Dilution::spin_colour, 12}}) {
    NoiseOptions diluted = whole;
    diluted.dilution = dilution;
    const auto parts = noise_source(*geometry, diluted);
    REQUIRE(parts.size() == static_cast<std::size_t>(count));
    for (std::size_t column = 0; column < parts.size(); ++column)
      for (std::size_t i = 0; i < parts[column].size(); ++i) {
        const std::size_t k = i % 12, owner = count == 4 ? k / 3 : k;
        CHECK_UNARY(std::norm(parts[column][i]) == (owner == column ? 1.0 : 0.0));
        // the same number in every column, at the same colour or site
        if (owner == column) CHECK_UNARY(parts[column][i] == parts[0][i - k + (count == 4 ? k % 3 : 0)]);
      }
  }
  NoiseOptions other = whole;
  other.sample = 6;
  CHECK(noise_source(*geometry, other)[0] != xi);
  other.time = 4;
  CHECK_THROWS_AS(noise_source(*geometry, other), core::InvalidArgument);
}

TEST_CASE("source: through the sink stands on one slice, with phase and gamma") {
  const auto geometry = alone(extents);
  const Site x0{1, 1, 2, 1};
  const Propagator s = random_propagator(geometry, x0, 31);
  const auto sources = sequential_source(s, 2, qcd::gamma[0], {1, 0, 1});
  REQUIRE(sources.size() == 12);
  const Site x{3, 0, 5, 2};
  const std::int64_t site = lattice::linear_index<4>(x, extents);
  const Complex wave = std::polar(1.0, -2 * std::numbers::pi * (2.0 / 4 + 3.0 / 6));
  for (int k = 0; k < 12; ++k) {
    CHECK(square(sources[static_cast<std::size_t>(k)]) ==
          doctest::Approx(square(
              restrict_to_time(*geometry, Spinor(s.column(k / 3, k % 3).begin(), s.column(k / 3, k % 3).end()), 2))));
    for (int row = 0; row < 4; ++row) {
      Complex expected = 0;
      for (int j = 0; j < 4; ++j)
        expected += reference_gamma()[0][static_cast<std::size_t>(row)][static_cast<std::size_t>(j)] *
                    s(site, j, 1, k / 3, k % 3);
      CHECK(std::abs(element(sources[static_cast<std::size_t>(k)], x, row, 1) - wave * expected) < 1e-13);
    }
  }
  CHECK_THROWS_AS(sequential_source(s, -1, qcd::gamma5), core::InvalidArgument);
}
