// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Small systems for the tests of the ions, and densities on them.

#include "halocline/comm/group/communicator.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "tddft/base/skew_grids.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace halocline::tddft::test {

/// Carbon and two hydrogens at places without symmetry, some outside a periodic cell.
inline System ion_system(Boundary boundary, std::array<std::int64_t, 3> extent = {10, 9, 12}, double spacing = 0.55) {
  System system;
  system.grid = {extent, {spacing, 1.1 * spacing, 0.9 * spacing}, boundary};
  system.species = {goedecker("C"), goedecker("H")};
  system.atoms = {{0, {0.31, -0.22, 0.17}}, {1, {1.93, 0.64, -1.02}}, {1, {-1.41, 1.23, 1.57}}};
  system.electrons = 6;
  system.states = 3;
  return system;
}

/// The same atoms in cells that are not orthogonal.
inline std::vector<System> skew_ion_systems(std::array<std::int64_t, 3> extent = {10, 9, 12}, double spacing = 0.55) {
  std::vector<System> systems;
  for (const Grid& grid : skew_grids(extent, {spacing, 1.1 * spacing, 0.9 * spacing})) {
    systems.push_back(ion_system(Boundary::periodic, extent, spacing));
    systems.back().grid = grid;
  }
  return systems;
}

/// The system of both boundaries, and those of cells that are not orthogonal.
inline std::vector<System> all_ion_systems(std::array<std::int64_t, 3> extent = {10, 9, 12}, double spacing = 0.55) {
  std::vector<System> systems = skew_ion_systems(extent, spacing);
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated})
    systems.push_back(ion_system(boundary, extent, spacing));
  return systems;
}

inline System jellium_system(Boundary boundary) {
  System system;
  system.grid = {{12, 10, 11}, {0.6, 0.7, 0.65}, boundary};
  system.jellium = JelliumSphere{1.2, 6, {0.3, 0.2, -0.1}};
  system.electrons = 6;
  system.states = 3;
  return system;
}

inline Decomposition alone(const System& system) { return {comm::Communicator::self(), system, ProcessCounts{}}; }

/// A density without symmetry at the points of a box, the same whatever the division.
inline std::vector<double> some_density(const Grid& grid, const Box& box) {
  std::vector<double> density;
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x) {
        const double u = static_cast<double>((box.offset[0] + x) * 7 % grid.extent[0]),
                     v = static_cast<double>((box.offset[1] + y) * 3 % grid.extent[1]),
                     w = static_cast<double>((box.offset[2] + z) * 5 % grid.extent[2]);
        density.push_back(0.05 + 0.02 * std::sin(u + 2 * v) + 0.01 * std::cos(3 * w - u * v));
      }
  return density;
}

/// What stands for the gradient of a density, shape (3, points).
inline std::vector<double> some_gradient(const Grid& grid, const Box& box) {
  std::vector<double> gradient;
  for (const double factor : {1.0, -0.6, 0.3})
    for (const double n : some_density(grid, box)) gradient.push_back(factor * (n - 0.05) + 0.002 * n);
  return gradient;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= most)) most = d;
  }
  return most;
}

/// The part of whole-grid values that belongs to a box.
inline std::vector<double> part_of_grid(const Grid& grid, const Box& box, const std::vector<double>& whole) {
  std::vector<double> part;
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x)
        part.push_back(whole[static_cast<std::size_t>(
            box.offset[0] + x + grid.extent[0] * (box.offset[1] + y + grid.extent[1] * (box.offset[2] + z)))]);
  return part;
}

/// All divisions of the ranks over space that leave four points to each, and one over orbitals.
inline std::vector<ProcessCounts> divisions(int ranks, const Grid& grid) {
  std::vector<ProcessCounts> result;
  for (int x = 1; x <= ranks; ++x)
    for (int y = 1; x * y <= ranks; ++y) {
      if (ranks % (x * y) != 0) continue;
      const int z = ranks / (x * y);
      const auto fits = [](std::int64_t extent, int parts) { return parts == 1 || extent / parts >= 4; };
      if (fits(grid.extent[0], x) && fits(grid.extent[1], y) && fits(grid.extent[2], z))
        result.push_back({1, 1, {x, y, z}});
    }
  result.push_back({1, ranks, {1, 1, 1}});
  return result;
}

inline System divided(System system) {
  system.states = 4 * 8;  // blocks for a division over orbitals
  return system;
}

}  // namespace halocline::tddft::test
