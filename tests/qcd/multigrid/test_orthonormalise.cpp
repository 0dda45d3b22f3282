// SPDX-License-Identifier: Apache-2.0
//
// Vectors of an aggregate become orthonormal in each chirality, whichever of the two methods the library takes.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "halocline/qcd/multigrid/detail/orthonormalise.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr int tiles = 3, vectors = 8, lanes = 8;

struct Sample {
  Sample() : data(static_cast<std::size_t>(tiles * vectors * 24 * lanes)) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (float& number : data) number = normal(random);
  }
  float* numbers(int tile, int n) { return data.data() + (tile * vectors + n) * 24 * lanes; }
  /// Vector n becomes vector m plus a little of itself.
  void make_dependent(int n, int m, float little) {
    for (int tile = 0; tile < tiles; ++tile)
      for (int i = 0; i < 24 * lanes; ++i) numbers(tile, n)[i] = numbers(tile, m)[i] + little * numbers(tile, n)[i];
  }
  AggregateVectors view() { return {data.data(), tiles, vectors, lanes}; }
  std::complex<double> product(int m, int n, int chirality) {
    std::complex<double> sum = 0;
    for (int tile = 0; tile < tiles; ++tile)
      for (int i = 0; i < 12; ++i) {
        if (i % 4 / 2 != chirality) continue;
        for (int lane = 0; lane < lanes; ++lane) {
          const float *a = numbers(tile, m) + 2 * i * lanes + lane, *b = numbers(tile, n) + 2 * i * lanes + lane;
          sum += std::conj(std::complex<double>(a[0], a[lanes])) * std::complex<double>(b[0], b[lanes]);
        }
      }
    return sum;
  }
  double distance_from_orthonormal() {
    double worst = 0;
    for (int chirality = 0; chirality < 2; ++chirality)
      for (int m = 0; m < vectors; ++m)
        for (int n = 0; n < vectors; ++n)
          worst = std::max(worst, std::abs(product(m, n, chirality) - (m == n ? 1.0 : 0.0)));
    return worst;
  }

  std::vector<float> data;
};

/// How much of each vector of `before` is outside the span of the vectors up to it in `after`.
double outside_span(Sample& before, Sample& after) {
  double worst = 0;
  for (int chirality = 0; chirality < 2; ++chirality)
    for (int n = 0; n < vectors; ++n) {
      Sample both = after;
      const int spare = n + 1;
      if (spare == vectors) continue;
      for (int tile = 0; tile < tiles; ++tile)
        std::copy_n(before.numbers(tile, n), 24 * lanes, both.numbers(tile, spare));
      const double whole = both.product(spare, spare, chirality).real();
      double inside = 0;
      for (int m = 0; m <= n; ++m) inside += std::norm(both.product(m, spare, chirality));
      worst = std::max(worst, std::abs(whole - inside) / whole);
    }
  return worst;
}

}  // namespace

TEST_CASE("orthonormalise: vectors become orthonormal and keep their spans") {
  for (const float little : {1.0f, 1e-3f, 1e-4f}) {
    CAPTURE(little);
    Sample sample;
    if (little < 1) sample.make_dependent(5, 2, little);
    Sample before = sample;
    const double kept = orthonormalise(sample.view());
    CHECK(sample.distance_from_orthonormal() < 2e-6);
    CHECK(outside_span(before, sample) < 2e-6);
    CHECK(kept > 0.3 * little);
    CHECK(kept < 1.5 * little);
  }
}

TEST_CASE("reduce: the leading left singular vectors, in each chirality") {
  // Vectors 4 to 7 are combinations of the first four and little else, so four vectors hold nearly all of them.
  for (const float little : {0.f, 1e-2f}) {
    CAPTURE(little);
    Sample sample;
    for (int n = 4; n < vectors; ++n) sample.make_dependent(n, n - 4, little);
    Sample before = sample;
    double all = 0;
    for (int n = 0; n < vectors; ++n) all += before.product(n, n, 0).real() + before.product(n, n, 1).real();
    AggregateVectors kept = sample.view();
    REQUIRE(reduce(kept, 4));
    CHECK(kept.vectors == 4);
    CHECK(kept.data == sample.data.data());
    // Back into a sample of eight, whose last four are the vectors that were given.
    const auto at = [&](int tile, int n) { return kept.data + (tile * 4 + n) * 24 * lanes; };
    Sample both = before;
    for (int tile = 0; tile < tiles; ++tile)
      for (int n = 0; n < 4; ++n) std::copy_n(at(tile, n), 24 * lanes, both.numbers(tile, n));
    double held = 0, outside = 0;
    for (int chirality = 0; chirality < 2; ++chirality)
      for (int m = 0; m < 4; ++m) {
        // Orthogonal, and longest first: the norms are the singular values.
        const double length2 = both.product(m, m, chirality).real();
        held += length2;
        if (m > 0) CHECK(length2 <= both.product(m - 1, m - 1, chirality).real());
        for (int n = 0; n < m; ++n) CHECK(std::abs(both.product(m, n, chirality)) < 1e-5 * length2);
      }
    for (int chirality = 0; chirality < 2; ++chirality)
      for (int n = 4; n < vectors; ++n) {
        double inside = 0;
        for (int m = 0; m < 4; ++m)
          inside += std::norm(both.product(m, n, chirality)) / both.product(m, m, chirality).real();
        outside += both.product(n, n, chirality).real() - inside;
      }
    // What the kept ones do not hold is of the order of the admixture, and the sum of squares is conserved up to it.
    CHECK(outside < (little * little + 1e-5) * all);
    CHECK(held == doctest::Approx(all).epsilon(little * little + 1e-5));
    CHECK(held <= all * (1 + 1e-5));
  }
  Sample infinite;
  infinite.numbers(1, 6)[7] = HUGE_VALF;
  AggregateVectors view = infinite.view();
  CHECK(!reduce(view, 4));
}

TEST_CASE("orthonormalise: zero, equal and infinite vectors are seen") {
  Sample zero, equal, infinite;
  for (int tile = 0; tile < tiles; ++tile) {
    std::fill_n(zero.numbers(tile, 3), 24 * lanes, 0.f);
    std::copy_n(equal.numbers(tile, 1), 24 * lanes, equal.numbers(tile, 6));
  }
  infinite.numbers(1, 4)[7] = HUGE_VALF;
  CHECK(orthonormalise(zero.view()) == 0);
  CHECK(orthonormalise(equal.view()) < 1e-6);
  CHECK(orthonormalise(infinite.view()) == 0);
}

}  // namespace halocline::qcd::multigrid
