// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the grid adds to the force of a meta-GGA on the electrons.
///
/// Orbitals that move by D_a change the energy of exchange and correlation by the sum over the grid of
///   2 Re (D_a psi)* H_xc psi,   H_xc = v + sum_b [ -1/2 G_b t G_b + w_b G_b - G_b w_b ].
/// In the continuum the field
///   d_a = 2 Re (D_a psi)* H_xc psi - D_a f + sum_b D_b [ t Re (D_a psi)* G_b psi + w_b 2 Re psi* D_a psi ]
/// is zero at every point, by the chain rule for the energy f in a volume. On the grid it is not, and its last two
/// terms add up to nothing, so that its sum is the force on all electrons.

#include "halocline/tddft/model/model.hpp"

#include <span>
#include <vector>

namespace halocline::tddft {

/// field_a += d_a of this process's orbitals.
/// @param field   shape (3, points) [hartree/bohr^4]
/// @param slopes  gradients of the densities of the spins by this process's orbitals, shape (spins, 3, points)
/// @param whole   subtract D_a f: on one of the processes with the same box
/// Collective over the world.  Cost: five sweeps of the stencil over the occupied orbitals.
void add_kinetic_defect(std::span<double> field, Model& model, const State& state, std::span<const double> slopes,
                        bool whole);

}  // namespace halocline::tddft
