// SPDX-License-Identifier: Apache-2.0
/// @file
/// Forces by the theorem of Hellmann and Feynman: the orbitals are stationary, so that only the ions' own terms
/// remain - the ions among themselves, the local potential against the density, the projectors against the orbitals.

#include "halocline/tddft/ground_state/ground_state.hpp"

namespace halocline::tddft {

std::vector<Vec3> forces(Model& model, const State& state) {
  const System& system = model.system();
  const Decomposition& decomposition = model.decomposition();
  const auto points = static_cast<std::size_t>(decomposition.box().points());
  std::vector<double> density(state.density.begin(), state.density.begin() + static_cast<std::ptrdiff_t>(points));
  for (int spin = 1; spin < system.spins; ++spin)
    for (std::size_t i = 0; i < points; ++i) density[i] += state.density[static_cast<std::size_t>(spin) * points + i];

  std::vector<Vec3> force(system.atoms.size(), Vec3{});
  Nonlocal& nonlocal = model.hamiltonian().nonlocal();
  if (!nonlocal.empty())
    for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel)
      nonlocal.add_forces(channel, state.orbitals.block(channel, 0), state.orbitals.blocks(),
                          model.weights(state, channel), force);
  std::vector<double> sums;
  for (const Vec3& f : force) sums.insert(sums.end(), f.begin(), f.end());
  decomposition.box_mates().sum(sums);

  const std::vector<Vec3> ions = ion_ion_forces(system), local = local_forces(system, decomposition, density);
  for (std::size_t atom = 0; atom < force.size(); ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis)
      force[atom][axis] = sums[3 * atom + axis] + ions[atom][axis] + local[atom][axis];
  return force;
}

}  // namespace halocline::tddft
