// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Media whose polarisation answers the field at one place and the times before.
///
/// The permittivity at frequency omega (fields vary as exp(-i omega t)) is
///
///   epsilon(omega) = epsilon + i sigma / omega + sum_p strength_p / (resonance_p^2 - omega^2 - i damping_p omega).
///
/// A pole with a resonance is Lorentz's, one without is Drude's, whose strength is the square of the plasma frequency.
/// Each pole is a polarisation of its own: P'' + damping P' + resonance^2 P = strength E.

#include <complex>
#include <string>
#include <vector>

namespace halocline::maxwell {

/// Frequencies are angular, in inverse units of length (c = 1).
struct Pole {
  double resonance = 0;  ///< 0: Drude
  double damping = 0;
  double strength = 0;  ///< square of a frequency
  /// Whether two poles differ in strength alone, so that one polarisation serves both.
  bool same_motion(const Pole& other) const noexcept {
    return resonance == other.resonance && damping == other.damping;
  }
};

struct Medium {
  double permittivity = 1;  ///< at frequencies above all poles
  double conductivity = 0;  ///< 1 / length
  std::vector<Pole> poles;

  std::complex<double> epsilon(double omega) const;
  /// The same of the scheme of this room at a time step: what a wave on the grid sees.
  std::complex<double> epsilon_of_scheme(double omega, double time_step) const;
  /// @param courant_limit  of the grid, in empty space
  /// @throws InvalidArgument  a permittivity that is not positive, a conductivity, damping or strength below 0,
  ///                          anything that is not finite, and a time step at which the scheme may be unstable. It is
  ///                          stable below 1 of (dt/limit)^2 / epsilon + (dt/2)^2 (sum of resonance^2 + strength /
  ///                          epsilon)
  void check(double time_step, double courant_limit) const;
};

}  // namespace halocline::maxwell
