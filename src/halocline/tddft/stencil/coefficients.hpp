// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The finite differences of eighth order: weights of the neighbours at distance 1, 2, 3, 4.

#include "halocline/tddft/base/directions.hpp"

#include <array>
#include <span>

namespace halocline::tddft {

/// Number of neighbours in each direction.
inline constexpr int stencil_reach = 4;

/// d/dx:  sum_j slope_weights[j - 1] (f(x + j h) - f(x - j h)) / h
inline constexpr std::array<double, stencil_reach> slope_weights{4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};

/// d2/dx2:  curvature_centre f(x) / h^2 + sum_j curvature_weights[j - 1] (f(x + j h) + f(x - j h)) / h^2
inline constexpr double curvature_centre = -205.0 / 72.0;
inline constexpr std::array<double, stencil_reach> curvature_weights{8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0};

/// The part of the kinetic energy without neighbours: q^2/2 - (sum over directions of centre times weight) / 2.
inline double kinetic_centre(std::span<const Direction> directions, const Vec3& q) noexcept {
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) sum += 0.5 * q[a] * q[a];
  for (const Direction& direction : directions) sum -= 0.5 * curvature_centre * direction.weight;
  return sum;
}

}  // namespace halocline::tddft
