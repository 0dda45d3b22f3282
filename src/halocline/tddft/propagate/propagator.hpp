// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Orbitals in time.

#include "halocline/tddft/model.hpp"
#include "halocline/tddft/propagate/field.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace halocline::tddft {

struct PropagateOptions {
  double time_step = 0;              ///< [a.u.]; 0: 0.9 of the limit of the scheme
  std::string scheme = "taylor4";    ///< or "etrs": enforced time-reversal symmetry
  int energy_every = 10;             ///< steps between energies; 0: never
  double exponential_tolerance = 0;  ///< etrs: Taylor order grows until the last term is below this; 0: order 4
};

/// What is known after a step.
struct Record {
  std::int64_t step = 0;
  double time = 0;          ///< [a.u.]
  Vec3 vector_potential{};  ///< A at this time (velocity gauge)
  Vec3 electric_field{};    ///< E at this time
  Vec3 current{};           ///< particle current density of the electrons, mean over the cell [a.u.]
  Vec3 dipole{};            ///< integral of n r [bohr]; minus the electrons' charge moment; isolated boxes only
  double norm = 0;          ///< electrons: integral of the density
  Energies energy;          ///< where it was asked for
  bool has_energy = false;
};

class Propagator {
public:
  /// @throws InvalidArgument  a time step beyond the limit of stability; the sentence says the limit
  /// Collective over the world.
  Propagator(Model& model, State& state, Field field, const PropagateOptions& options);
  ~Propagator();

  /// The largest stable time step of the scheme for this Hamiltonian: 2.828 / (half width of the spectrum).
  double step_limit() const noexcept;
  double time_step() const noexcept;

  /// The kick, where the field has one: psi -> exp(i kick r) psi in a box, A = kick for t > 0 in a cell. Once, at step
  /// 0.
  void kick();
  /// One step. Collective over the world.
  Record step();
  /// Observables now, without a step.
  Record observe();
  /// Electrons that have left the ground state: sum of occupations minus the projections onto the occupied states of
  /// `ground` [electrons in the cell]. Collective over the world.
  double excited(const State& ground);

  std::int64_t steps_done() const noexcept;
  /// Continue a run from a checkpoint: the state holds the orbitals of that step already.
  void resume(std::int64_t steps_done);

private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace halocline::tddft
