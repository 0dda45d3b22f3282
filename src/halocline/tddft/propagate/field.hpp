// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The external field: a kick, pulses, or a table, uniform in space. Velocity gauge: A(t) in the Hamiltonian, E =
/// -dA/dt. Length gauge: + E(t) . r in the potential (the electron's charge is -1).
///
/// Electrons start at rest in a ground state with A = 0. So the vector potential is always A(t) = -integral of E from 0
/// to t, zero at t = 0, even if a pulse began earlier: its earlier part does not act on the electrons.

#include "halocline/tddft/base/grid.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace halocline::tddft {

enum class Gauge { length, velocity };

/// One pulse. With tau = t - centre its vector potential is
///   a(t) = -(amplitude / frequency) envelope(tau) [ d1 sin(angle) - ellipticity d2 cos(angle) ],   E = -da/dt,
///   angle = frequency tau + chirp tau^2 / 2 + phase,
/// with the unit vectors d1 along `direction` and d2 = around x d1. For phase 0 the field at the centre is `amplitude`
/// along d1. No vector potential remains after the pulse.
struct Pulse {
  std::string shape = "cos2";  ///< "cos2": envelope cos^2(pi tau / duration) within +- duration/2; or "gaussian"
  double amplitude = 0;        ///< peak electric field [a.u.]
  double frequency = 0;        ///< [hartree]; positive
  double duration = 0;         ///< full length of cos2; full width at half maximum of the intensity for gaussian [a.u.]
  double centre = 0;           ///< t0 [a.u.]
  double phase = 0;            ///< carrier-envelope phase [rad]
  Vec3 direction{0, 0, 1};     ///< need not be normalised
  /// Ratio of the field along d2 to that along d1: 0 for linear polarisation, +1 and -1 for circular. With a positive
  /// one the field turns from d1 to d2, counterclockwise for an observer whom the light meets.
  double ellipticity = 0;
  Vec3 around{};     ///< of an elliptic pulse: the direction in which the light travels, at right angles to `direction`
  double chirp = 0;  ///< growth of the angular frequency [a.u.]; positive: from red to blue
};

/// How the light in a crystal depends on the current that it drives: induced_field.hpp.
struct Response {
  enum class Geometry { transverse, longitudinal, film, given };
  Geometry geometry = Geometry::transverse;
  double thickness = 0;          ///< of a film [bohr]
  double front = 1, behind = 1;  ///< of a film: the refractive indices of the media before and behind it
};

/// The way of light whose vector potential depends on the place: local_light.hpp.
struct Way {
  int axis = 2;
  int direction = 1;  ///< +1 or -1: towards larger or smaller coordinates
};

struct Field {
  Gauge gauge = Gauge::velocity;
  Response response;
  /// Light that travels, and is answered by the current density j(r); absent: the same everywhere.
  std::optional<Way> way;
  Vec3 kick{};  ///< momentum given to every electron [1/bohr]
  /// Two spins: electrons of spin down get the opposite momentum. A closed shell then answers with its spin, in its
  /// triplet excitations.
  bool spin_kick = false;
  std::vector<Pulse> pulses;
  /// A table of the electric field, linear between its times, zero outside; empty for none.
  std::vector<double> table_times;  ///< [a.u.], increasing
  std::vector<Vec3> table_fields;   ///< [a.u.]

  /// A(t) of pulses and table, and in the velocity gauge of the kick for t > 0. Exact for pulses; for a table the
  /// integral of its piecewise linear field.
  Vec3 vector_potential(double t) const;
  /// The same without the kick.
  Vec3 smooth_potential(double t) const;
  Vec3 electric_field(double t) const;  ///< without the kick's delta function

  bool has_kick() const noexcept { return kick != Vec3{}; }
  /// Bounds, axis by axis, of |A(t) without the kick| and of |E(t)| at any time, without the induced field.
  Vec3 largest_potential() const;
  Vec3 largest_field() const;
};

/// The vectors between which the field of a pulse turns: d1 and ellipticity d2, the latter zero for linear
/// polarisation.
std::array<Vec3, 2> polarisation(const Pulse& pulse);

/// @throws InvalidArgument  an unknown shape, a duration or frequency that is not positive, a direction of length zero,
///                          an ellipticity above 1, or without a direction of travel at right angles, a chirp by which
///                          the frequency passes zero within the pulse, table columns of different lengths, times that
///                          do not increase, numbers that are not finite, the length gauge in a periodic cell, where r
///                          has no meaning, or an induced field in an isolated box or with a spin kick, of a film
///                          without thickness or with a refractive index that is not positive
void validate(const Field& field, Boundary boundary);

}  // namespace halocline::tddft
