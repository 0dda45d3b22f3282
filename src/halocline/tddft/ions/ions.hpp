// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the ions do without the electrons' orbitals: their potential on the grid, their own energy, their forces.
///
/// In a periodic cell everything local is a sum over the N^3 reciprocal vectors of the grid, G_axis = 2 pi n / length
/// with n = -N/2 ... N/2 (even N: the two ends are one vector, whose wave is the cosine, the mean of both; so the
/// potential is real and has the symmetries of the ions; odd N: -(N-1)/2 ... (N-1)/2). Forces take the potential as it
/// is and the derivative from the density: the potential of an ion varies faster than a grid can follow, the orbitals
/// do not (ground_state/forces.cpp).

#include "halocline/tddft/base/decomposition.hpp"

#include <span>
#include <vector>

namespace halocline::tddft {

/// The local potential of all ions, or of the jellium background, on the box of this process [hartree].
/// Periodic: summed in reciprocal space over all vectors of the grid, the short-range part kept at G = 0 and the
/// Coulomb part dropped there. Isolated: the sum of V_local(|r - R|). The jellium background is the uniform density at
/// grid points within r_s charge^(1/3) of the centre, rescaled to its charge; its potential is minus the Hartree
/// potential of that density.
/// Collective over the world for jellium; for atoms not collective: every process computes what its box needs, with the
/// same results to rounding whatever the division.
/// Cost: periodic, atoms x N^3/2 complex products and the one-dimensional sums that lead to the box, N^3 (b_x + b_y
/// b_x/N
/// + ...) of them; isolated, atoms x points evaluations.
std::vector<double> ion_potential(const System& system, const Decomposition& decomposition);

/// The positive background of jellium on the box of this process [1/bohr^3].
/// @throws core::InvalidArgument  on every rank: no jellium given, or no grid point within it
/// Collective over decomposition.space().
std::vector<double> jellium_density(const System& system, const Decomposition& decomposition);

/// Energy of the ions among themselves [hartree]: Ewald sum (exact to 1e-11 relative, neutralised by a uniform
/// background) for periodic cells, the Coulomb sum for isolated boxes; for jellium the background's self energy.
/// Collective: no for atoms; for jellium over the world.
double ion_ion_energy(const System& system, const Decomposition& decomposition);

/// Forces of the ions on each other [hartree/bohr], shape (atoms,). Collective: no.
std::vector<Vec3> ion_ion_forces(const System& system);

/// Forces of the density on the ions through the local potential: - integral V_local(r - R) grad n.
/// @param gradient  of the density, or of the part of it that these orbitals make; shape (3, points) [1/bohr^4]
/// @return shape (atoms,) [hartree/bohr]: what this process adds; the sum over decomposition.space() is the force
/// Collective over decomposition.space().  Cost: that of three potentials.
std::vector<Vec3> local_forces(const System& system, const Decomposition& decomposition,
                               std::span<const double> gradient);

/// Superposed densities of the pseudo-atoms, scaled to the number of electrons: where the self-consistent cycle starts.
/// For jellium, the background so scaled. @return shape (points,). Collective over decomposition.space().
std::vector<double> start_density(const System& system, const Decomposition& decomposition);

}  // namespace halocline::tddft
