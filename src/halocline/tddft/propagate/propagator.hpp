// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Propagates the orbitals in time: i d psi/dt = H[n(t), A(t)] psi.
///
/// "midpoint": the exponential midpoint rule (Castro, Marques, Rubio, J. Chem. Phys. 121, 3425, 2004), psi(t + dt) =
/// exp(-i H dt) psi(t) by four terms of the Taylor series, where H has the potential at t + dt/2 and the mean of the
/// fields at t and t + dt. The potential is extrapolated by the parabola through the last three steps. The first step
/// is taken twice, the second time with the mean of the potentials at its ends. Four applications of H a step, second
/// order. The parabola makes the scheme stable as well as accurate: its error shifts the potential's phase relative to
/// the electrons by +5/16 of the third power of (frequency times step), which damps them slightly. The straight line
/// through two steps shifts the phase by -1/4, which drives them.
///
/// "taylor4": the same with the potential at t. This is the classical scheme (Yabana and Bertsch, Phys. Rev. B 54,
/// 4484, 1996), for comparison with codes that use it. The potential lags behind the electrons by half a step. If the
/// electrons change the potential strongly, the error is of first order in the step and drives them.
///
/// Both are stable and nearly conserve the norm for |H dt| below 2 sqrt(2).
///
/// "etrs": psi(t + dt) = exp(-i H(t + dt) dt/2) exp(-i H(t) dt/2) psi(t), where a whole step with H(t) predicts the
/// density for H(t + dt) (Castro, Marques, Rubio, J. Chem. Phys. 121, 3425, 2004). Twelve applications of H a step at
/// order 4, second order in the step. With a tolerance of the exponential the norm is conserved to this tolerance. With
/// corrections the same steps backwards lead back to the start.

#include "halocline/tddft/model/model.hpp"
#include "halocline/tddft/propagate/absorber.hpp"
#include "halocline/tddft/propagate/cell_currents.hpp"
#include "halocline/tddft/propagate/field.hpp"
#include "halocline/tddft/propagate/induced_field.hpp"
#include "halocline/tddft/propagate/local_light.hpp"
#include "halocline/tddft/propagate/moving_ions.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halocline::tddft {

struct PropagateOptions {
  double time_step = 0;              ///< [a.u.]; 0: 0.9 of the limit of midpoint
  std::string scheme = "midpoint";   ///< or "taylor4", or "etrs": enforced time-reversal symmetry
  int energy_every = 10;             ///< number of steps between energies; 0: never
  double exponential_tolerance = 0;  ///< etrs: the series ends when every state's next term is below this; 0: order 4
  /// etrs: repeats the second half of the step with the resulting density until integral |change| / electrons is at
  /// most this; 0: prediction only.
  double correction_tolerance = 0;
  int max_corrections = 10;
  AbsorberOptions absorber;  ///< at the walls of an isolated box; none by default
  /// The orbitals' numbers between steps and the arithmetic of H on them: "double", or "float", which takes half of the
  /// memory and traffic. Densities, currents, sums over processes, energies, forces and all fields are in double.
  std::string precision = "double";
  bool angular_momentum = false;  ///< measure it; isolated boxes only
};

/// The observables after a step.
struct Record {
  std::int64_t step = 0;
  double time = 0;          ///< [a.u.]
  Vec3 vector_potential{};  ///< A at this time (velocity gauge; zero in the length gauge); a mean if it depends on r
  Vec3 electric_field{};    ///< E at this time, with the induced field; half a step earlier if A depends on r
  Vec3 spin_current{};      ///< the same of spin up minus spin down; 0 with one spin
  Vec3 current{};           ///< particle current density of the electrons, mean over the cell [a.u.]
  Vec3 dipole{};            ///< integral of n r [bohr]; minus the electrons' charge moment; isolated boxes only
  double norm = 0;          ///< number of electrons: integral of the density
  double moment = 0;        ///< integral of m = n_up - n_down; 0 with one spin
  Vec3 spin_dipole{};       ///< integral of m r [bohr]; isolated boxes only
  Vec3 angular_momentum{};  ///< of the electrons about the middle of the box [hbar], if asked for (observables.hpp)
  Energies energy;          ///< if requested; without the energy in the field of the length gauge
  bool has_energy = false;
  /// etrs: integral |n - predicted n| / electrons of the last repetition; above correction_tolerance if max_corrections
  /// were not enough.
  double prediction_error = 0;
  std::optional<IonRecord> ions;         ///< if they move
  std::optional<InducedRecord> induced;  ///< if the light answers the current
  std::optional<LightRecord> light;      ///< if it depends on the place
  double field_energy = 0;               ///< of the induced field in the cell [hartree]; not part of `energy`
};

class Propagator {
public:
  /// @param model, state  must outlive this object. The state's density is set to that of its orbitals. Orbitals of
  ///               blocks that hold no electrons are not propagated. With precision "float" the state holds its
  ///               orbitals in float while this object exists, and in double after it
  /// @param ions   the atoms move; without, they rest
  /// @throws InvalidArgument  on every rank: a time step beyond the limit of stability (gives the limit), an invalid
  ///                          field (field.hpp), an unknown scheme or precision, a negative option, float with a
  ///                          functional of the kinetic energy density
  /// Collective over the world.  Cost: 30 applications of H to a block of each channel, for the limit.
  Propagator(Model& model, State& state, Field field, const PropagateOptions& options,
             std::optional<IonOptions> ions = {});
  Propagator(Propagator&&) noexcept;
  ~Propagator();

  /// The largest stable time step of the scheme [a.u.]: 2 sqrt(2) / largest |eigenvalue of H|; for etrs of order 4
  /// twice that; for etrs with a tolerance 16 / largest |eigenvalue|, beyond which the series loses digits. Includes
  /// the strongest fields of kick, pulses and table.
  double step_limit() const noexcept;
  double time_step() const noexcept;

  /// Applies the kick of the field, if any: psi -> exp(i kick r) psi in the length gauge, A = kick from now on in the
  /// velocity gauge. Call at most once, at step 0; otherwise the first step() applies it.
  /// @throws InvalidArgument  on every rank: the kick was applied already. Collective over the world.
  void kick();
  /// With Response::Geometry::given: A at the end of the next step, the same on every rank.
  /// @throws InvalidArgument  another response, or a number that is not finite. Collective: no.
  void set_next_potential(const Vec3& a);
  /// From now on puts the contribution of this process to the current density of each step, when it is known, into a
  /// sum over many propagations. @param sum  must outlive this object, or null for none
  /// @throws InvalidArgument  the scheme "etrs". Collective: no.
  void give_current_to(CellCurrents* sum, std::int64_t cell);
  /// Puts into the state what a continued run needs of light that depends on the place (State::light); nothing without
  /// such light. Call before the state is written. Collective: no.
  void hold_light();
  /// The particle current density j(r) of light that depends on the place, shape (3, points of the box) [a.u.]; else
  /// empty.
  std::span<const double> current_density() const noexcept;
  /// A(r) of such light at the present time, shape (3, points of the box) [a.u.]; else empty.
  std::span<const double> local_potential() const noexcept;
  /// Means of A and of the current density over the planes of the whole cell across the way of such light.
  /// @throws InvalidArgument  the light is the same everywhere. Collective over Decomposition::space().
  std::array<std::vector<Vec3>, 2> light_profile() const;
  /// A and the current density on the whole grid, shape (3, points) each. As light_profile().
  std::array<std::vector<double>, 2> light_fields() const;
  const Model& model() const noexcept;
  /// The particle current density that drives the field at the present time, with the ions' part [a.u.].
  Vec3 driving_current() const;
  /// One step. Moving atoms are at their places of this time when a whole number of ion steps is done, and in the
  /// middle of an ion step within.
  /// @throws InvalidArgument  on every rank: the vector potential was to be given
  /// @throws core::Error  on every rank: the norm is lost (with an absorber: grows), atoms left an isolated box or came
  ///                      too close
  /// Collective over the world.
  Record step();
  /// The observables at the present time, without a step; with energy unless energy_every is 0. Collective over the
  /// world.
  Record observe();
  std::int64_t steps_done() const noexcept;
  /// Continues a run from a checkpoint. The state must hold the orbitals of that step, after the kick if there is one,
  /// and for midpoint the earlier potentials; without these the next step is taken like a first one.
  /// @param first_norm  number of electrons at the first step of the run, the reference for the loss of norm; 0: the
  ///                    present number
  /// @param atoms       if they move: their positions and velocities of that step
  /// @param induced     if the light answers the current: the induced field of that step; of light that depends on the
  ///                    place the state has it
  /// @throws InvalidArgument  on every rank: called after the first step here, a negative number, or atoms that do not
  ///                          fit
  void resume(std::int64_t steps_done, double first_norm = 0, const IonRecord* atoms = nullptr,
              const InducedRecord* induced = nullptr);

private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace halocline::tddft
