// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Grids whose axes are not orthogonal, with three, one and three diagonals.

#include "halocline/tddft/base/grid.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace halocline::tddft::test {

enum class Lattice { face_centred, hexagonal, triclinic };

/// Unit vectors along the edges of a cell.
inline std::array<Vec3, 3> axes_of(Lattice lattice) {
  std::array<Vec3, 3> edges{};
  switch (lattice) {
  case Lattice::face_centred:
    edges = {{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}};
    break;
  case Lattice::hexagonal:
    edges = {{{1, 0, 0}, {-0.5, std::sqrt(0.75), 0}, {0, 0, 1}}};
    break;
  case Lattice::triclinic:
    edges = {{{1, 0.1, -0.05}, {0.3, 0.9, 0.1}, {-0.2, 0.25, 1.1}}};
    break;
  }
  for (Vec3& edge : edges) {
    const double length = norm(edge);
    for (double& component : edge) component /= length;
  }
  return edges;
}

inline Grid skew_grid(Lattice lattice, const std::array<std::int64_t, 3>& extent, const Vec3& spacing) {
  return {extent, spacing, Boundary::periodic, axes_of(lattice)};
}

/// One of each lattice.
inline std::vector<Grid> skew_grids(const std::array<std::int64_t, 3>& extent, const Vec3& spacing) {
  std::vector<Grid> grids;
  for (const Lattice lattice : {Lattice::face_centred, Lattice::hexagonal, Lattice::triclinic})
    grids.push_back(skew_grid(lattice, extent, spacing));
  return grids;
}

/// Axes turned as a whole, by a rotation without symmetry.
inline std::array<Vec3, 3> turned(const std::array<Vec3, 3>& axes) {
  const double a = 0.4, b = 1.1;
  const auto turn = [&](const Vec3& v) {
    const Vec3 w{std::cos(a) * v[0] - std::sin(a) * v[1], std::sin(a) * v[0] + std::cos(a) * v[1], v[2]};
    return Vec3{w[0], std::cos(b) * w[1] - std::sin(b) * w[2], std::sin(b) * w[1] + std::cos(b) * w[2]};
  };
  return {turn(axes[0]), turn(axes[1]), turn(axes[2])};
}

}  // namespace halocline::tddft::test
