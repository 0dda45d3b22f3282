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
/// For stationary orbitals the expectation value of [H, grad] is zero, on the grid too, because the stencils of kinetic
/// energy and gradient commute. So the net force of the ions is opposite to that of Hartree's potential and of exchange
/// and correlation on the electrons,
///   sum_a F_a = sum over points of d,   d = v_H grad n + v_xc grad n,   grad n = 2 Re psi* grad psi.
/// In the continuum the right side is zero. On the grid it is not, because products of orbitals have waves that the
/// grid folds back, and the chain rule does not hold. Terms whose sum is zero on every grid make d itself zero at every
/// point of the continuum,
///   d - v_H D n - D f + D (w D n),
/// with the energy f of exchange and correlation in a volume and w = df/d(grad n). What is left on the grid is its
/// error where it arises, near the cores. Each atom's share of it (ions.hpp) is taken off its force. In a periodic cell
/// the net force is then zero, and moving ions and electrons keep their total momentum; the forces depend on the
/// position between grid points less by one to two orders of magnitude. What was taken off measures the grid.
///
/// Of a meta-GGA, kinetic_defect.hpp.
///
/// A core correction adds the force of the potential of exchange and correlation on the core density. Core densities
/// are smooth enough to be differentiated themselves.

#include "halocline/tddft/model/forces.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/base/symmetry.hpp"
#include "halocline/tddft/model/kinetic_defect.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace halocline::tddft {

OrbitalForces orbital_forces(Model& model, const State& state, const OnBlock& on_block) {
  core::Region region("tddft/forces of orbitals");
  const Decomposition& decomposition = model.decomposition();
  Hamiltonian& h = model.hamiltonian();
  double* const slopes = model.scratch(3 * state.orbitals.block_doubles());
  const std::size_t components = 3 * size(decomposition.box().points());
  OrbitalForces result{std::vector<Vec3>(model.system().atoms.size()),
                       std::vector<double>(size(model.system().spins) * components, 0.0)};
  std::array<double, std::size_t{3} * orbital_lanes> current{};
  DoubleBlocks orbitals(state.orbitals);
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    const std::vector<double> weights = model.weights(state, channel);
    for (std::int64_t block = 0; block < state.orbitals.blocks(); ++block) {
      const std::span<const double, orbital_lanes> factors(weights.data() + block * orbital_lanes, orbital_lanes);
      if (std::ranges::all_of(factors, [](double f) { return f == 0; })) continue;
      const double* psi = orbitals.read(channel, block);
      const std::span gradient(result.density_slopes.data() + size(h.spin(channel)) * components, components);
      h.stencil().add_density_gradient(gradient, slopes, psi, factors, h.nonlocal().near_rows(),
                                       on_block ? std::span<double>(current) : std::span<double>());
      h.nonlocal().add_forces(channel, psi, slopes, factors, result.of_projectors);
      if (on_block) on_block(channel, psi, current, factors);
    }
  }
  return result;
}

AtomForces atom_forces(Model& model, const State& state) {
  const bool none = model.xc().is_potential() || model.system().atoms.empty();  // refused, or nothing to do
  return atom_forces(model, state, none ? OrbitalForces() : orbital_forces(model, state));
}

AtomForces atom_forces(Model& model, const State& state, const OrbitalForces& of_orbitals) {
  const System& system = model.system();
  const Decomposition& decomposition = model.decomposition();
  AtomForces result{of_orbitals.of_projectors, std::vector<Vec3>(system.atoms.size())};
  std::vector<Vec3>& force = result.on_atoms;
  if (model.xc().is_potential())
    throw core::InvalidArgument(fmt::format(
        "forces were asked for with the functional {}, a potential that no energy belongs to; take another functional",
        model.xc().name()));
  if (force.empty()) return result;
  const std::vector<double>& slopes = of_orbitals.density_slopes;
  std::vector<double> of_both;
  if (system.spins == 2) {
    of_both.assign(slopes.begin(), slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2));
    for (std::size_t i = 0; i < of_both.size(); ++i) of_both[i] += slopes[of_both.size() + i];
  }
  const std::vector<double>& gradient = system.spins == 2 ? of_both : slopes;
  // Every process has the contribution of its orbitals on its box; one sum completes the forces. All processes with the
  // same box have the same contribution from the density; one of them counts it.
  const bool first = decomposition.box_mates().rank() == 0;
  std::vector<Vec3> local = local_forces(system, decomposition, model.ion_tables(), gradient);
  std::vector<double> defect = model.force_defect(state.density, slopes, first);
  if (model.has_kinetic()) add_kinetic_defect(defect, model, state, slopes, first);
  const std::vector<Vec3> shares = share_between_atoms(system, decomposition, model.ion_tables(), defect);
  if (!model.core_density().empty()) {
    const std::vector<double> v = model.mean_xc_potential(state.density);
    const std::vector<Vec3> core = core_forces(system, decomposition, v);
    if (first)
      for (std::size_t atom = 0; atom < local.size(); ++atom)
        for (std::size_t axis = 0; axis < 3; ++axis) local[atom][axis] += core[atom][axis];
  }
  std::vector<double> sums;
  for (std::size_t atom = 0; atom < force.size(); ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      sums.push_back(shares[atom][axis]);
      sums.push_back(force[atom][axis] + local[atom][axis] - shares[atom][axis]);
    }
  decomposition.world().sum(sums);
  const std::vector<Vec3> ions = ion_ion_forces(system);
  for (std::size_t atom = 0; atom < force.size(); ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      result.of_grid[atom][axis] = sums[2 * (3 * atom + axis)];
      force[atom][axis] = sums[2 * (3 * atom + axis) + 1] + ions[atom][axis];
    }
  symmetrise(result.on_atoms, system.symmetries);
  symmetrise(result.of_grid, system.symmetries);
  return result;
}

std::vector<Vec3> forces(Model& model, const State& state) { return atom_forces(model, state).on_atoms; }

}  // namespace halocline::tddft
