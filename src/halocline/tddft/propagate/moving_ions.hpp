// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Atoms that move in the mean field of the electrons (Ehrenfest dynamics):
///   M d^2 R/dt^2 = -<psi| dH/dR |psi> - dE_ions/dR + Z E(t),   i d psi/dt = H[n, A, R(t)] psi.
///
/// One ion step is velocity Verlet around `every` steps of the electrons (Strang's splitting): half a push of the
/// velocities, half of the way, the electrons' steps with the atoms at rest in the middle of their way, the other half
/// of the way, and half a push by the new forces. It is of second order and can be reversed in time. With every > 1 the
/// forces are computed once in several steps. Electrons see the atoms jump, at a frequency far above all their
/// transitions if the ion step is short against 1 a.u.

#include "halocline/tddft/model/forces.hpp"
#include "halocline/tddft/model/model.hpp"

#include <span>
#include <vector>

namespace halocline::tddft {

struct IonOptions {
  std::vector<double> masses;    ///< of each atom [electron masses]; infinite for one that stays
  std::vector<Vec3> velocities;  ///< of each atom at the start [bohr hartree / hbar]
  int every = 1;                 ///< electron steps in an ion step, at least 1
};

/// The atoms after a step.
struct IonRecord {
  std::vector<Vec3> positions;   ///< [bohr], not wrapped into a periodic cell
  std::vector<Vec3> velocities;  ///< [bohr hartree / hbar]; inside an ion step those of its middle
  std::vector<Vec3> forces;      ///< the latest [hartree/bohr], without that of the field
  double kinetic = 0;            ///< sum of M v^2 / 2 [hartree]
};

class MovingIons {
public:
  /// Forces are computed at the first step.
  /// @throws InvalidArgument  on every rank: no atoms (jellium), numbers that do not fit the atoms, masses that are not
  ///                          positive, velocities that are not finite, every < 1
  /// Collective over the world.
  MovingIons(Model& model, IonOptions options);

  int every() const noexcept { return options_.every; }

  /// Adds -Z kick / M to the velocities: the impulse of the kick that gives +kick to an electron.
  void kick(const Vec3& kick);
  /// Begins an ion step of `length`: half a push, and all atoms to the middle of their way. Model and projectors
  /// follow.
  /// @param field  E at its beginning [a.u.]
  /// @throws InvalidArgument  on every rank: atoms left an isolated box or came too close (base/system.hpp)
  /// Collective over the world.
  void to_middle(const State& state, double length, const Vec3& field);
  /// The second half of the way, to the places of its end. Collective over the world.
  /// @throws InvalidArgument  as to_middle()
  void to_end(double length);
  /// Ends it: new forces there, and half a push.
  /// @param state        at the end
  /// @param of_orbitals  found after to_end(), with the vector potential of the end
  /// @param field        E at the end
  /// Collective over the world.
  void finish(const State& state, const OrbitalForces& of_orbitals, double length, const Vec3& field);

  /// Continues from a checkpoint: atoms and velocities as IonRecord had them. Collective over the world.
  /// @throws InvalidArgument  as the constructor
  void resume(std::span<const Vec3> positions, std::span<const Vec3> velocities);

  /// Computes the forces of the present state if there are none. Collective over the world.
  void need_forces(const State& state);
  IonRecord record() const;
  /// Sum of charge times velocity [bohr hartree / hbar]; inside an ion step that of its middle.
  Vec3 charge_flow() const;

private:
  void push(double time, const Vec3& field);
  void drift(double time);

  Model* model_;
  IonOptions options_;
  std::vector<Vec3> positions_, forces_;
  bool forces_known_ = false;
};

}  // namespace halocline::tddft
