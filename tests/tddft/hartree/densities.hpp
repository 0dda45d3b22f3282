// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fields on whole grids for the tests of the Hartree potential.

#include "halocline/tddft/base/system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace halocline::tddft::densities {

using Values = std::vector<double>;

/// A system of which only the grid, the channels and the number of states matter.
inline System system_on(const Grid& grid, int channels = 1, int states = 4) {
  System system;
  system.grid = grid;
  system.channels.assign(static_cast<std::size_t>(channels), Channel{{}, 1.0 / channels, 0});
  system.electrons = 2;
  system.states = states;
  return system;
}

inline std::size_t index(const Grid& grid, const std::array<std::int64_t, 3>& i) {
  return static_cast<std::size_t>(i[0] + grid.extent[0] * (i[1] + grid.extent[1] * i[2]));
}

inline Vec3 position(const Grid& grid, const std::array<std::int64_t, 3>& i) {
  return {grid.position(0, i[0]), grid.position(1, i[1]), grid.position(2, i[2])};
}

inline double square_of(const Vec3& a, const Vec3& b) {
  double sum = 0;
  for (std::size_t x = 0; x < 3; ++x) sum += (a[x] - b[x]) * (a[x] - b[x]);
  return sum;
}

/// value[i] = of(i) for every point, x fastest.
template <class Of>
Values on_indices(const Grid& grid, Of&& of) {
  Values values;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x) values.push_back(of(std::array<std::int64_t, 3>{x, y, z}));
  return values;
}

template <class Of>
Values on_points(const Grid& grid, Of&& of) {
  return on_indices(grid, [&](const std::array<std::int64_t, 3>& i) { return of(position(grid, i)); });
}

/// Noise: every wave of the grid is in it.
inline Values scattered(std::int64_t points, unsigned seed) {
  std::mt19937 random(seed);
  Values values(static_cast<std::size_t>(points));
  for (double& value : values) value = static_cast<double>(random()) / 4294967296.0 - 0.5;
  return values;
}

inline double largest(const Values& a) {
  double most = 0;
  for (const double value : a) most = std::max(most, std::abs(value));
  return most;
}

/// A NaN anywhere is a NaN.
inline double largest_difference(const Values& a, const Values& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (std::isnan(difference)) return difference;
    most = std::max(most, difference);
  }
  return most;
}

}  // namespace halocline::tddft::densities
