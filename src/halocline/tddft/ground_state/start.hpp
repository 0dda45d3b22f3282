// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A start for one system's ground state from another's, e.g. of the same molecule after a step of its atoms.

#include "halocline/tddft/model/model.hpp"

namespace halocline::tddft {

/// A state for solve_ground_state(model, ...) with the orbitals of `state`, which belongs to `before`.
///
/// Its density is the old one, moved with the atoms: the densities of the pseudo-atoms are subtracted at the old
/// positions and added at the new ones. Negative values are then set to zero, and the whole is scaled to the number of
/// electrons.
/// @throws InvalidArgument  on every rank: grids of different extent or boundary, other channels, states or spins, or
///                          another division over the processes; says which
/// Collective over the world.
State start_from(const Model& model, const Model& before, const State& state);

}  // namespace halocline::tddft
