// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Silicon in its primitive cell with six of its symmetries, and a field without any.

#include "halocline/tddft/base/symmetry.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "tddft/base/skew_grids.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace halocline::tddft::test {

/// The symmetries are the identity, the two turns about the diagonal of the cube, and these after the inversion
/// between the atoms.
/// @param n  points of an edge, a multiple of 4
inline System diamond(std::int64_t n) {
  System system;
  const double edge = 10.26 / std::sqrt(2.0);
  system.grid = skew_grid(Lattice::face_centred, {n, n, n}, {edge / double(n), edge / double(n), edge / double(n)});
  system.species = {goedecker("Si")};
  system.atoms = {{0, {0, 0, 0}}, {0, system.grid.point({n / 4, n / 4, n / 4})}};
  system.electrons = 8;
  system.states = 4;
  using Matrix = std::array<std::array<int, 3>, 3>;
  const Matrix one{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, turn{{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}},
      back{{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}};
  for (const Matrix& rotation : {one, turn, back})
    system.symmetries.push_back(symmetry_of(system, rotation, {0, 0, 0}));
  for (Matrix rotation : {one, turn, back}) {
    for (auto& row : rotation)
      for (int& number : row) number = -number;
    system.symmetries.push_back(symmetry_of(system, rotation, {n / 4, n / 4, n / 4}));
  }
  return system;
}

/// A field without symmetry, the same whatever the division.
inline std::vector<double> uneven(const Grid& grid, const Box& box) {
  std::vector<double> field;
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x) {
        const std::int64_t i =
            box.offset[0] + x + grid.extent[0] * (box.offset[1] + y + grid.extent[1] * (box.offset[2] + z));
        field.push_back(1 + std::sin(0.37 * static_cast<double>(i * i % 1009)));
      }
  return field;
}

}  // namespace halocline::tddft::test
