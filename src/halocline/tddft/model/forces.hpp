// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Forces on the atoms.

#include "halocline/tddft/model/model.hpp"

#include <vector>

namespace halocline::tddft {

struct AtomForces {
  std::vector<Vec3> on_atoms;  ///< [hartree/bohr]
  /// What the grid had added to each of them, and was taken off [hartree/bohr]. The error left in a force is smaller,
  /// by the square (docs/tddft-accuracy.md).
  std::vector<Vec3> of_grid;
};

/// Forces on the atoms of a converged state, or of one that moves by its equation of motion; the derivatives are taken
/// from the orbitals. Of a ground state in a periodic cell their sum is zero, up to the convergence; in an isolated box
/// it is the force of the walls. The force of an external field is not included.
/// Collective over the world.
AtomForces atom_forces(Model& model, const State& state);

/// The forces alone, shape (atoms,).
std::vector<Vec3> forces(Model& model, const State& state);

}  // namespace halocline::tddft
