// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A start for one system's ground state from another's, e.g. of the same molecule after a step of its atoms.

#include "halocline/tddft/model/model.hpp"

#include <span>
#include <vector>

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

/// Shares a density between the spins, in proportion to their electrons in another one.
/// @param one       shape (points,)
/// @param between   shape (spins, points) @return  shape (spins, points)
/// Collective over decomposition.space().
std::vector<double> shared_between_spins(const Decomposition& decomposition, std::span<const double> one,
                                         std::span<const double> between);
/// Sets negative values of a density to zero, and scales it to the number of electrons.
/// @param density  shape (spins, points). Collective over the space of the decomposition.
void make_physical(const Model& model, std::span<double> density);

}  // namespace halocline::tddft
