// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A first guess of one system's ground state from another's: the same molecule after a step of its atoms.

#include "halocline/tddft/model/model.hpp"

namespace halocline::tddft {

/// A state for solve_ground_state(model, ...) that begins with the orbitals of `state`, which belongs to `before`.
///
/// Its density is the old one, moved along with the atoms: densities of pseudo-atoms are added where the atoms are and
/// taken away where they were, what falls below zero is set to zero, and the whole scaled to the number of electrons.
/// @throws InvalidArgument  on every rank: grids of different extent or boundary, other channels, states or spins, or
///                          another division over the processes; the sentence says which
/// Collective over the world.
State start_from(const Model& model, const Model& before, const State& state);

}  // namespace halocline::tddft
