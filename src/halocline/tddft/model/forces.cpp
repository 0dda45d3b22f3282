// SPDX-License-Identifier: Apache-2.0
/// @file
/// Forces by the Hellmann-Feynman theorem. The orbitals are stationary, or follow their equation of motion, so only the
/// ions' own terms remain: the ions among themselves, the local potential acting on the density, the projectors acting
/// on the orbitals.
///
/// Moving an atom against the electrons is equivalent to moving the electrons against the atom. So the derivative of
/// <psi|V(r - R)|psi> with respect to R is taken from the orbitals, + 2 Re <psi|V|grad psi>, by the stencil of the
/// Hamiltonian, as other codes do (Andrade et al., Phys. Chem. Chem. Phys. 17, 31371, 2015). Potentials and projectors
/// vary on a scale that the grid hardly resolves, and their derivatives on a shorter one; orbitals are smooth. The
/// force is therefore not the exact derivative of the grid's energy. It leaves out the egg-box error of that energy,
/// and is much closer to the force on a fine grid (docs/tddft-accuracy.md).
///
/// A core correction adds the force of the potential of exchange and correlation on the core density. Core densities
/// are smooth enough to be differentiated themselves.

#include "halocline/tddft/model/forces.hpp"

#include <algorithm>

namespace halocline::tddft {

std::vector<Vec3> forces(Model& model, const State& state) {
  const System& system = model.system();
  const Decomposition& decomposition = model.decomposition();
  std::vector<Vec3> force(system.atoms.size(), Vec3{});
  if (force.empty()) return force;
  Hamiltonian& h = model.hamiltonian();
  double* const slopes = model.scratch(3 * state.orbitals.block_doubles());
  std::vector<double> gradient(3 * static_cast<std::size_t>(decomposition.box().points()), 0.0);
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    const std::vector<double> weights = model.weights(state, channel);
    for (std::int64_t block = 0; block < state.orbitals.blocks(); ++block) {
      const std::span<const double, orbital_lanes> factors(weights.data() + block * orbital_lanes, orbital_lanes);
      if (std::ranges::all_of(factors, [](double f) { return f == 0; })) continue;
      const double* psi = state.orbitals.block(channel, block);
      h.stencil().add_density_gradient(gradient, slopes, psi, factors, h.nonlocal().near_rows());
      h.nonlocal().add_forces(channel, psi, slopes, factors, force);
    }
  }
  // Every process has the contribution of its orbitals on its box; one sum completes the forces.
  std::vector<Vec3> local = local_forces(system, decomposition, model.ion_tables(), gradient);
  if (!model.core_density().empty()) {
    const std::vector<double> v = model.mean_xc_potential(state.density);
    const std::vector<Vec3> core = core_forces(system, decomposition, v);
    // All processes with the same box have the same contribution; one of them counts it.
    if (decomposition.box_mates().rank() == 0)
      for (std::size_t atom = 0; atom < local.size(); ++atom)
        for (std::size_t axis = 0; axis < 3; ++axis) local[atom][axis] += core[atom][axis];
  }
  std::vector<double> sums;
  for (std::size_t atom = 0; atom < force.size(); ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis) sums.push_back(force[atom][axis] + local[atom][axis]);
  decomposition.world().sum(sums);
  const std::vector<Vec3> ions = ion_ion_forces(system);
  for (std::size_t atom = 0; atom < force.size(); ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis) force[atom][axis] = sums[3 * atom + axis] + ions[atom][axis];
  return force;
}

}  // namespace halocline::tddft
