// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Populations: how many of the electrons are in each state of a reference, such as the ground state.

#include "halocline/tddft/model/model.hpp"

#include <vector>

namespace halocline::tddft {

/// Electrons in each reference state, P_ki = sum over orbitals j of f_kj |<reference_ki|psi_kj>|^2, without the weight
/// of the k-point. Under a vector potential A the states of a crystal to compare with are the eigenstates at k + A
/// (solve_bands() finds them). In an isolated box they are exp(-i A r) times those without A, which this function forms
/// itself.
/// @param model      of `now`
/// @param holder     of `reference`: the same grid, channels and division; it may have another number of states
/// @param reference  orthonormal in each channel
/// @param states     of each channel, from the lowest on; at most those of `holder`
/// @param a          vector potential of `now`; used in isolated boxes
/// @return shape (all channels, states) [electrons], the same on every rank
/// @throws InvalidArgument  on every rank: models that do not fit, too many states
/// Collective over the world.  Cost: `states` times the orbitals products in each channel; every block of the reference
/// is broadcast over the division of orbitals.
std::vector<double> populations(const Model& model, const State& now, const Model& holder, const Orbitals& reference,
                                int states, const Vec3& a = {});

}  // namespace halocline::tddft
