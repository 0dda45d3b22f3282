// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Parameters of the Wilson-clover action, in the field's conventions (docs/conventions.md).
///
/// D = (m0 + 1 + 3 nu/xi0) - 1/2 sum_mu c_mu [(1 - gamma_mu) U_mu(x) delta_{x+mu} + (1 + gamma_mu) U_mu(x-mu)^dagger
/// delta_{x-mu}] + sum_{mu<nu} c_munu (i/2) sigma_munu F_munu, with c_mu = nu/xi0 in space and 1 in time, c_munu = csw
/// for planes of space and csw_t for planes with time. On an isotropic lattice (xi0 = nu = 1, csw_t = csw) this is the
/// operator of DESIGN: 4 + m0 on the diagonal and unit hopping.

#include <array>
#include <complex>
#include <optional>

namespace halocline::qcd {

struct ActionParameters {
  double mass = 0;                                                ///< m0, bare mass
  double csw = 0;                                                 ///< clover coefficient; 0 is plain Wilson
  std::array<std::complex<double>, 4> boundary{1., 1., 1., -1.};  ///< phase of psi across each edge; modulus one
  double xi0 = 1;                                                 ///< bare anisotropy a_s / a_t
  double nu = 1;                                                  ///< bare fermion anisotropy
  std::optional<double> csw_t{};                                  ///< clover coefficient of planes with time; csw

  double diagonal() const { return mass + 1 + 3 * nu / xi0; }
  double hopping(int axis) const { return axis == 3 ? 1.0 : nu / xi0; }
  double clover(int mu, int nu_axis) const { return mu == 3 || nu_axis == 3 ? csw_t.value_or(csw) : csw; }
  bool has_clover() const { return csw != 0 || csw_t.value_or(0) != 0; }

  /// @throws InvalidArgument  where a number is not finite, a boundary phase has not modulus one, xi0 <= 0, or the
  ///                          diagonal m0 + 1 + 3 nu/xi0 is not positive
  void validate() const;
};

/// kappa = 1 / (8 + 2 m0)
/// @throws InvalidArgument  for m0 = -4
double kappa_from_mass(double mass);
/// m0 = 1 / (2 kappa) - 4
/// @throws InvalidArgument  unless kappa is positive and finite
double mass_from_kappa(double kappa);

}  // namespace halocline::qcd
