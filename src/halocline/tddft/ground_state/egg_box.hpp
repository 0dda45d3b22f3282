// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The egg-box error: the dependence of the energy on the position of the atoms between grid points.
///
/// No other part of the discretisation breaks the uniformity of space, so the error can be measured rather than
/// estimated. The atoms move through one cell of the grid. The spread of the total energies is the error of any energy
/// difference between arrangements that lie differently on the grid.

#include "halocline/tddft/ground_state/ground_state.hpp"

#include <memory>
#include <vector>

namespace halocline::tddft {

struct EggBox {
  std::vector<Vec3> shifts;      ///< of all atoms [bohr]
  std::vector<double> energies;  ///< total energy at each shift [hartree]
  double spread = 0;             ///< largest minus smallest energy [hartree]
  double largest_force = 0;      ///< largest mean slope between neighbouring shifts, a spurious force [hartree/bohr]
};

/// One atom in a periodic cube, with enough states for its electrons, and open shells filled equally.
/// @param spacing  [bohr]
/// @param length   edge of the cube [bohr]; rounded to an integer number of spacings
/// @throws InvalidArgument  a spacing or a length that is not positive
System lone_atom(std::shared_ptr<const Pseudopotential> species, double spacing, double length);

/// The ground states with all atoms shifted together by i/steps of the grid cell along `direction`, i = 0 ... steps -
/// 1. Each calculation starts from the orbitals of the previous one.
/// @param direction  in integer numbers of spacings: {1, 0, 0} moves along x, {1, 1, 1} along the cell's diagonal
/// @throws InvalidArgument  on every rank: fewer than 2 steps, a zero direction, jellium, errors of Model and
///                          solve_ground_state
/// @throws core::Error      on every rank: the cycle does not converge at some shift; names it
/// Collective over `world`.
EggBox egg_box(const System& system, const comm::Communicator& world, ProcessCounts counts, ModelOptions model,
               const ScfOptions& options, int steps, const Vec3& direction = {1, 0, 0});

}  // namespace halocline::tddft
