// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Forces on the atoms.

#include "halocline/tddft/model/model.hpp"

#include <vector>

namespace halocline::tddft {

/// Forces on the atoms [hartree/bohr] of a converged state, or of one that moves by its equation of motion; the
/// derivatives are taken from the orbitals. The grid makes the sum of the forces of a ground state slightly different
/// from zero. The sum is not removed: it measures the accuracy of the forces. The force of an external field is not
/// included.
/// Collective over the world.
std::vector<Vec3> forces(Model& model, const State& state);

}  // namespace halocline::tddft
