// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Orbitals in time: i d psi/dt = H[n(t), A(t)] psi.
///
/// "midpoint": psi(t + dt) = exp(-i H dt) psi(t) by four terms of the Taylor series, H with the potential at t + dt/2
/// and the mean of the fields at t and t + dt: the exponential midpoint rule (Castro, Marques, Rubio, J. Chem. Phys.
/// 121, 3425, 2004). The potential is extrapolated from the last three steps, by the parabola through them. The first
/// step is taken twice, the second time with the mean of the potentials at its ends. Four applications of H a step,
/// second order. The parabola is what makes this stable as well as accurate: its error turns the potential's phase by +
/// 5/16 of the third power of (frequency times step) against the electrons, which damps them a little; the straight
/// line through two steps turns it by -1/4, which drives them.
///
/// "taylor4": the same with the potential at t: the classical scheme (Yabana and Bertsch, Phys. Rev. B 54, 4484, 1996),
/// for comparisons with codes that have it. The potential lags behind the electrons by half a step, so that where they
/// move the potential much its error is of first order in the step, and drives them.
///
/// Both are stable, and their norm is nearly kept, below |H dt| = 2 sqrt(2).
///
/// "etrs": psi(t + dt) = exp(-i H(t + dt) dt/2) exp(-i H(t) dt/2) psi(t), where the density that H(t + dt) needs is
/// predicted with H(t) for the whole step (Castro, Marques, Rubio, J. Chem. Phys. 121, 3425, 2004). Twelve applications
/// of H a step at order 4, second order in the step. With a tolerance of the exponential the norm is kept to it, and
/// with corrections the same steps backwards lead back to the start.

#include "halocline/tddft/model/model.hpp"
#include "halocline/tddft/propagate/field.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace halocline::tddft {

struct PropagateOptions {
  double time_step = 0;              ///< [a.u.]; 0: 0.9 of the limit of midpoint
  std::string scheme = "midpoint";   ///< or "taylor4", or "etrs": enforced time-reversal symmetry
  int energy_every = 10;             ///< steps between energies; 0: never
  double exponential_tolerance = 0;  ///< etrs: so many terms that for every state the next is below this; 0: order 4
  /// etrs: the second half of the step is repeated with the density that it gave until integral |change| / electrons is
  /// no more than this; 0: the prediction alone.
  double correction_tolerance = 0;
  int max_corrections = 10;
};

/// What is known after a step.
struct Record {
  std::int64_t step = 0;
  double time = 0;          ///< [a.u.]
  Vec3 vector_potential{};  ///< A at this time (velocity gauge; zero in the length gauge)
  Vec3 electric_field{};    ///< E at this time
  Vec3 current{};           ///< particle current density of the electrons, mean over the cell [a.u.]
  Vec3 dipole{};            ///< integral of n r [bohr]; minus the electrons' charge moment; isolated boxes only
  double norm = 0;          ///< electrons: integral of the density
  Energies energy;          ///< where it was asked for; without the energy in the field of the length gauge
  bool has_energy = false;
  /// etrs: integral |n - predicted n| / electrons of the last repetition; above correction_tolerance where
  /// max_corrections did not suffice.
  double prediction_error = 0;
};

class Propagator {
public:
  /// @param model, state  outlive this object; the state's density is set to that of its orbitals. Orbitals of blocks
  ///                      that hold no electrons are left as they are
  /// @throws InvalidArgument  on every rank: a time step beyond the limit of stability (the sentence says the limit), a
  ///                          field that cannot be (field.hpp), an unknown scheme, a negative option
  /// Collective over the world.  Cost: 30 applications of H to a block of each channel, for the limit.
  Propagator(Model& model, State& state, Field field, const PropagateOptions& options);
  Propagator(Propagator&&) noexcept;
  ~Propagator();

  /// The largest stable time step of the scheme [a.u.]: 2 sqrt(2) / largest |eigenvalue of H|; twice that
  /// for etrs of order 4; with a tolerance 16 / largest |eigenvalue|, beyond which the series loses digits. The
  /// strongest fields of the pulses are counted in.
  double step_limit() const noexcept;
  double time_step() const noexcept;

  /// The kick, where the field has one: psi -> exp(i kick r) psi in the length gauge, A = kick from now on in the
  /// velocity gauge. Once, at step 0; the first step() does it where it has not been done.
  /// @throws InvalidArgument  on every rank, when it has been given already. Collective over the world.
  void kick();
  /// One step. @throws core::Error  on every rank, when the norm is lost. Collective over the world.
  Record step();
  /// Observables now, without a step; with energy unless energy_every is 0. Collective over the world.
  Record observe();
  /// Electrons that have left the ground state; excited_electrons() of observables.hpp. In a periodic cell these are
  /// counted after the pulse only, and are NaN while A or E is above a thousandth of its largest value: while there
  /// is light the states to compare with are those at k + A(t), and after a kick A stays. Collective over the world.
  double excited(const State& ground) const;

  std::int64_t steps_done() const noexcept;
  /// Continue a run from a checkpoint: the state holds the orbitals of that step already, kicked where there is a kick,
  /// and, for midpoint, the earlier potentials; without these the next step is taken as a first one.
  /// @param first_norm  electrons at the first step of the run, which the loss of norm is counted from; 0: those of now
  /// @throws InvalidArgument  on every rank: after the first step here, or a negative number
  void resume(std::int64_t steps_done, double first_norm = 0);

private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace halocline::tddft
