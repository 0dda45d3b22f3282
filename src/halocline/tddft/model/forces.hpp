// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Forces on the atoms.

#include "halocline/tddft/model/model.hpp"

#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft {

struct AtomForces {
  std::vector<Vec3> on_atoms;  ///< [hartree/bohr]
  /// What the grid had added to each of them, and was taken off [hartree/bohr]. The error left in a force is smaller,
  /// by the square (docs/tddft-accuracy.md).
  std::vector<Vec3> of_grid;
};

/// The orbitals' part in the forces, by this process.
struct OrbitalForces {
  std::vector<Vec3> of_projectors;     ///< on the atoms [hartree/bohr]
  std::vector<double> density_slopes;  ///< gradients of the densities of the spins, shape (spins, 3, points)
};

/// Called with each block of orbitals that holds electrons, and with its current: see Stencil::current(). The weights
/// are occupations times weights of the k-point. @param psi  shape (points, 4, 2)
using OnBlock = std::function<void(std::int64_t channel, const double* psi, std::span<const double> current,
                                   std::span<const double> weights)>;

/// @param on_block  for work on the blocks and their currents, which the sweep over the orbitals gives at no cost
/// Collective over decomposition.space().
OrbitalForces orbital_forces(Model& model, const State& state, const OnBlock& on_block = {});

/// Forces on the atoms of a converged state, or of one that moves by its equation of motion; the derivatives are taken
/// from the orbitals. Of a ground state in a periodic cell their sum is zero, up to the convergence; in an isolated box
/// it is the force of the walls. The force of an external field is not included.
/// @throws InvalidArgument  on every rank: the functional has no energy
/// Collective over the world.
AtomForces atom_forces(Model& model, const State& state);
/// The same with the orbitals' part as found already.
AtomForces atom_forces(Model& model, const State& state, const OrbitalForces& of_orbitals);

/// The forces alone, shape (atoms,).
std::vector<Vec3> forces(Model& model, const State& state);

}  // namespace halocline::tddft
