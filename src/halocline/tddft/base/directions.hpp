// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The second derivatives along directions of the grid whose sum is the Laplacian.
///
/// Between points of a lattice with steps h_a, the Laplacian is a sum of second derivatives along lattice vectors v,
///     laplacian = sum_v w_v d2/ds_v2,      sum_v w_v (v . k)^2 = k^2 for all k,
/// where s_v counts steps of v. On orthogonal axes these are the three steps with w = 1/h^2. For any other lattice
/// Selling's reduction of the reciprocal lattice (J. reine angew. Math. 77, 143, 1874) gives at most six, and all
/// weights are positive. So the stencil of every direction has eighth order and no part of the kinetic energy is
/// negative. For the primitive cell of a face-centred cubic crystal they are the six directions to nearest neighbours,
/// for a hexagonal one three in the plane and one along c.

#include "halocline/tddft/base/grid.hpp"

#include <array>
#include <vector>

namespace halocline::tddft {

struct Direction {
  std::array<int, 3> steps{};  ///< along each axis
  double weight = 0;           ///< [1/bohr^2]
};

/// The three axes, in order, then up to three diagonals, whose numbers of steps are -1, 0 or 1.
/// @throws InvalidArgument  axes in one plane, or not the shortest steps of their lattice, so that other directions
///                          would be needed
std::vector<Direction> laplacian_directions(const Grid& grid);

}  // namespace halocline::tddft
