// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Real spherical harmonics up to l = 3, as polynomials.
///
/// r^l Y_lm(r) is a homogeneous polynomial of x, y, z that satisfies Laplace's equation. This form has no angles and no
/// poles, the value at the origin is the continuous one, and gradients are polynomials too. Order m = -l ... l,
/// normalised so that the integral of Y_lm Y_l'm' over the unit sphere is 1 or 0. Polynomials and normalisation are the
/// textbook ones, without Condon's phase: all real harmonics here have a positive leading factor.

#include "halocline/tddft/base/grid.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace halocline::tddft {

inline constexpr int largest_harmonic_l = 3;

/// r^l Y_lm at a point, and its gradient, for m = -l ... l; entries beyond 2 l + 1 are zero.
struct SolidHarmonics {
  std::array<double, 2 * largest_harmonic_l + 1> value{};
  std::array<Vec3, 2 * largest_harmonic_l + 1> gradient{};
};

/// @param l  0 ... largest_harmonic_l; anything else gives zeros
/// @param d  the point, in any unit of length; values are in its l-th power
inline SolidHarmonics solid_harmonics(int l, const Vec3& d) noexcept {
  const auto [x, y, z] = d;
  const auto root = [](double a) { return std::sqrt(a / std::numbers::pi); };
  SolidHarmonics s;
  const auto set = [&s](std::size_t m, double norm, double value, const Vec3& gradient) {
    s.value[m] = norm * value;
    s.gradient[m] = {norm * gradient[0], norm * gradient[1], norm * gradient[2]};
  };
  if (l == 0) {
    set(0, root(1.0 / 4), 1, {0, 0, 0});
  } else if (l == 1) {
    const double norm = root(3.0 / 4);
    set(0, norm, y, {0, 1, 0});
    set(1, norm, z, {0, 0, 1});
    set(2, norm, x, {1, 0, 0});
  } else if (l == 2) {
    const double norm = root(15.0 / 4);
    set(0, norm, x * y, {y, x, 0});
    set(1, norm, y * z, {0, z, y});
    set(2, root(5.0 / 16), 2 * z * z - x * x - y * y, {-2 * x, -2 * y, 4 * z});
    set(3, norm, z * x, {z, 0, x});
    set(4, 0.5 * norm, x * x - y * y, {2 * x, -2 * y, 0});
  } else if (l == 3) {
    const double edge = root(35.0 / 32), next = root(21.0 / 32), inner = 4 * z * z - x * x - y * y;
    set(0, edge, y * (3 * x * x - y * y), {6 * x * y, 3 * (x * x - y * y), 0});
    set(1, root(105.0 / 4), x * y * z, {y * z, x * z, x * y});
    set(2, next, y * inner, {-2 * x * y, inner - 2 * y * y, 8 * y * z});
    set(3, root(7.0 / 16), z * (2 * z * z - 3 * (x * x + y * y)),
        {-6 * x * z, -6 * y * z, 6 * z * z - 3 * (x * x + y * y)});
    set(4, next, x * inner, {inner - 2 * x * x, -2 * x * y, 8 * x * z});
    set(5, root(105.0 / 16), z * (x * x - y * y), {2 * x * z, -2 * y * z, x * x - y * y});
    set(6, edge, x * (x * x - 3 * y * y), {3 * (x * x - y * y), -6 * x * y, 0});
  }
  return s;
}

}  // namespace halocline::tddft
