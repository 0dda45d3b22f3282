// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The egg-box error: how much the energy of the same atoms depends on where they stand between grid points.
///
/// Nothing else of the discretisation breaks the uniformity of space, so this is measured, not estimated: the atoms
/// move through one cell of the grid, and the spread of the total energies is the error of any energy difference
/// between arrangements that sit differently on the grid.

#include "halocline/tddft/ground_state/ground_state.hpp"

#include <memory>
#include <vector>

namespace halocline::tddft {

struct EggBox {
  std::vector<Vec3> shifts;      ///< of all atoms [bohr]
  std::vector<double> energies;  ///< total energy at each [hartree]
  double spread = 0;             ///< largest minus smallest of them [hartree]
  double largest_force = 0;      ///< largest mean slope between neighbouring shifts, a false force [hartree/bohr]
};

/// One atom in a periodic cube, with room for its electrons and equally filled open shells.
/// @param spacing  [bohr]
/// @param length   edge of the cube [bohr]; rounded to a whole number of spacings
/// @throws InvalidArgument  a spacing or a length that is not positive
System lone_atom(std::shared_ptr<const Pseudopotential> species, double spacing, double length);

/// The ground states with all atoms moved together by i/steps of the grid's cell along `direction`, i = 0 ... steps
/// - 1. Each starts from the orbitals of the one before.
/// @param direction  in whole numbers of spacings: {1, 0, 0} moves along x, {1, 1, 1} along the diagonal of the cell
/// @throws InvalidArgument  fewer than 2 steps, a zero direction, jellium, and what Model and solve_ground_state throw
/// @throws core::Error      a position whose cycle does not converge; says which. Both on every rank
/// Collective over `world`.
EggBox egg_box(const System& system, const comm::Communicator& world, ProcessCounts counts, ModelOptions model,
               const ScfOptions& options, int steps, const Vec3& direction = {1, 0, 0});

}  // namespace halocline::tddft
