// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The field with which a crystal answers the light: that of its own current. J is a particle current density of the
/// charge -1, with the ions' part, so that the charges flow with -J. The vector potential in the crystal is
///   A(t) = t A_0(t) + A_ind(t),   A_0: kick, pulses and table.
///
/// - transverse: A_ind = 0, t = 1. The applied field is taken as that in the crystal.
/// - longitudinal: A_ind'' = -4 pi J, t = 1. The field lies across a large plate, whose surfaces are charged by the
///   current: the induced field is -4 pi P.
/// - film: A_ind' = -4 pi d J / (c (n_1 + n_2)), t = 2 n_1 / (n_1 + n_2). Light arrives at right angles on a film whose
///   thickness d is small against the wavelength, between media of the refractive indices n_1 in front and n_2 behind.
///   A is continuous across the film, and J d is the jump of its slope (Maxwell's equations). A itself is the light
///   that leaves behind, and A - A_0 is reflected.
/// - given: t = 0. The vector potential is that of a solver of Maxwell's equations outside, which is told J at the
///   beginning of a step and gives A at its end. Pulses and table only bound it, for the limit of the time step.
///
/// J at the beginning of a step gives A at its end: by Stoermer's rule for the second order in time, which is exact for
/// a constant J and can be reversed, and by that of Adams and Bashforth for the first. Both err by the square of the
/// step.

#include "halocline/tddft/propagate/field.hpp"

namespace halocline::tddft {

/// What a continued run needs of the induced field at a step.
struct InducedRecord {
  Vec3 potential{};         ///< A_ind [a.u.]
  Vec3 current{};           ///< J that drives it, with the ions' part [a.u.]
  Vec3 potential_before{};  ///< of the step before, as the next
  Vec3 current_before{};
};

class InducedField {
public:
  /// @param time_step  [a.u.]
  InducedField(const Response& response, double time_step);

  /// The factor t of the applied potential and field.
  double transmission() const noexcept { return transmission_; }
  /// A at the end of the next step. @throws InvalidArgument  it is not given from outside, or is not finite
  void give(const Vec3& next);
  /// Takes J at the beginning of a step, and computes next().
  /// @throws InvalidArgument  it was to be given, and was not
  void begin_step(const Vec3& current);
  /// The step is done: next() becomes now().
  void end_step() noexcept;
  const Vec3& now() const noexcept { return now_; }
  const Vec3& next() const noexcept { return next_; }
  /// -dA_ind/dt at now(), between steps; half a step earlier if it is given. @param current  J at this time
  Vec3 field(const Vec3& current) const noexcept;
  /// Energy of the induced field in a volume [hartree]: volume field^2 / 8 pi where the field is longitudinal, else 0.
  double energy(const Vec3& current, double volume) const noexcept;

  InducedRecord record(const Vec3& current) const noexcept { return {now_, current, before_, current_before_}; }
  void resume(const InducedRecord& record) noexcept;

private:
  Response::Geometry geometry_;
  double time_step_, transmission_ = 1, rate_ = 0;
  bool at_start_ = true;   ///< no step has been done
  bool has_next_ = false;  ///< it was given
  Vec3 before_{}, now_{}, next_{};
  Vec3 current_before_{}, current_{};
};

}  // namespace halocline::tddft
