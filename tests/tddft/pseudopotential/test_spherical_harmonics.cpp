// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/spherical_harmonics.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace halocline::tddft {
namespace {

/// Zeros and weights of the Legendre polynomial of degree n, by Newton's method: exact for polynomials to degree 2 n
/// - 1.
std::vector<std::pair<double, double>> gauss_legendre(int n) {
  std::vector<std::pair<double, double>> rule;
  for (int i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 0;
    for (int step = 0; step < 50; ++step) {
      double p = 1, before = 0;
      for (int k = 1; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
        before = p;
        p = next;
      }
      slope = n * (x * p - before) / (x * x - 1);
      x -= p / slope;
    }
    rule.emplace_back(x, 2 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

TEST_CASE("spherical harmonics: orthonormal on the sphere") {
  constexpr int around = 16;  // exact for waves below 16
  for (int l = 0; l <= largest_harmonic_l; ++l)
    for (int other = 0; other <= largest_harmonic_l; ++other) {
      std::array<std::array<double, 7>, 7> overlap{};
      for (const auto& [cosine, weight] : gauss_legendre(8))
        for (int i = 0; i < around; ++i) {
          const double phi = 2 * std::numbers::pi * (i + 0.3) / around, sine = std::sqrt(1 - cosine * cosine);
          const Vec3 d{sine * std::cos(phi), sine * std::sin(phi), cosine};
          const auto a = solid_harmonics(l, d).value, b = solid_harmonics(other, d).value;
          for (std::size_t m = 0; m < 7; ++m)
            for (std::size_t n = 0; n < 7; ++n) overlap[m][n] += weight * 2 * std::numbers::pi / around * a[m] * b[n];
        }
      for (int m = 0; m < 7; ++m)
        for (int n = 0; n < 7; ++n) {
          CAPTURE(l);
          CAPTURE(m);
          const double expected = l == other && m == n && m <= 2 * l ? 1.0 : 0.0;
          CHECK(std::abs(overlap[static_cast<std::size_t>(m)][static_cast<std::size_t>(n)] - expected) < 1e-13);
        }
    }
}

TEST_CASE("spherical harmonics: gradients are those of the values, and radial ones l times the value") {
  const Vec3 d{0.7, -0.4, 1.1};
  constexpr double step = 1e-3;
  for (int l = 0; l <= largest_harmonic_l; ++l) {
    const SolidHarmonics s = solid_harmonics(l, d);
    for (std::size_t m = 0; m < static_cast<std::size_t>(2 * l + 1); ++m) {
      double radial = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto value = [&](double by) {
          Vec3 there = d;
          there[axis] += by;
          return solid_harmonics(l, there).value[m];
        };
        // Exact for polynomials of degree 4.
        const double slope = (8 * (value(step) - value(-step)) - (value(2 * step) - value(-2 * step))) / (12 * step);
        CHECK(std::abs(slope - s.gradient[m][axis]) < 1e-11);
        radial += d[axis] * s.gradient[m][axis];
      }
      CHECK(std::abs(radial - l * s.value[m]) < 1e-13);
    }
  }
}

}  // namespace
}  // namespace halocline::tddft
