// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the tests of the stencil share: random orbitals, systems that are nothing but a grid, and differences.

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/stencil/stencil.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace halocline::tddft::stencil_tests {

using Values = core::AlignedArray<double>;

/// Numbers between -1 and 1, the same for the same seed everywhere.
inline Values random_values(std::int64_t size, std::uint32_t seed) {
  std::mt19937 generator(seed);
  Values values(size);
  for (double& value : values.span()) value = static_cast<double>(generator()) / 2147483648.0 - 1.0;
  return values;
}

inline System system_of(const Grid& grid, int states = 4) {
  System system;
  system.grid = grid;
  system.states = states;
  return system;
}

inline double largest(std::span<const double> a) {
  double most = 0;
  for (const double value : a) most = std::max(most, std::abs(value));
  return most;
}

/// Largest difference; NaN where there is one.
inline double difference(std::span<const double> a, std::span<const double> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= most)) most = d;
  }
  return a.size() == b.size() ? most : 1e300;
}

/// The slopes of a block at every point of a box. @param out  shape (3, points, 4, 2)
inline void slopes_of(Stencil& stencil, const std::array<std::int64_t, 3>& extent, double* out, const double* in) {
  const std::int64_t rows = extent[1] * extent[2];
  const std::vector<Range> all(static_cast<std::size_t>(rows), Range{0, extent[0]});
  std::vector<double> gradient(static_cast<std::size_t>(3 * rows * extent[0]));
  stencil.add_density_gradient(gradient, out, in, std::array<double, orbital_lanes>{}, all);
}

/// Size of H: sums of so many terms of this size are what rounding errors are relative to.
inline double scale(const Grid& grid, const Vec3& q) { return 1.0 + Stencil::largest_kinetic(grid, q); }

}  // namespace halocline::tddft::stencil_tests
