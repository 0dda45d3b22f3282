// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A separable norm-conserving pseudopotential of any origin:
///   V = V_local(r) + sum_{l m} sum_{i j} |p_i^l Y_lm> h_ij^l <p_j^l Y_lm|,   real spherical harmonics.
/// Made by goedecker.hpp (built in), and by potential_file.hpp from files of several formats.

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace halocline::tddft {

/// Immutable; any thread may call any member at any time.
class Pseudopotential {
public:
  virtual ~Pseudopotential() = default;

  virtual const std::string& symbol() const noexcept = 0;  ///< "Si"
  virtual std::string origin() const = 0;                  ///< "GTH (Pade), Phys. Rev. B 54, 1703", or the file's name
  virtual double valence() const noexcept = 0;             ///< charge Z of the ion
  virtual std::string functional() const = 0;              ///< that it was made for: "pade", "pz", ...; empty: unknown

  /// V_local at distance r >= 0 [bohr] in hartree; -Z/r far away, finite at 0.
  virtual double local(double r) const = 0;
  /// From this distance on V_local is -Z/r [bohr]; infinite if no distance is known.
  virtual double local_radius() const { return std::numeric_limits<double>::infinity(); }
  /// dV_local/dr [hartree/bohr].
  virtual double local_slope(double r) const = 0;
  /// The short-range part in reciprocal space: integral of (V_local + Z/r) exp(-i G r) d^3r [hartree bohr^3]. The
  /// caller adds -4 pi Z/G^2 for G > 0. @param g  |G| >= 0 [1/bohr]
  virtual double local_fourier(double g) const = 0;

  virtual int largest_l() const noexcept = 0;  ///< of the projectors; -1 for none
  virtual int projectors(int l) const = 0;     ///< number of radial functions p_i^l; 0 for an l without any
  /// p_i^l(r) [bohr^(-3/2)], including r^l; zero from projector_radius(l) on. @param i  from 0
  virtual double projector(int l, int i, double r) const = 0;
  virtual double projector_slope(int l, int i, double r) const = 0;  ///< dp/dr [bohr^(-5/2)]
  virtual double coupling(int l, int i, int j) const = 0;            ///< h_ij^l [hartree], symmetric
  /// The projectors of l act on the grid points nearer than this [bohr]; 0 for an l without any.
  virtual double projector_radius(int l) const = 0;

  /// The partial core density of the nonlinear core correction at r [1/bohr^3] (Louie, Froyen and Cohen, Phys. Rev. B
  /// 26, 1738, 1982). Exchange and correlation are those of valence and core together. Zero from core_radius() on.
  virtual double core_density(double) const { return 0; }
  virtual double core_slope(double) const { return 0; }  ///< its derivative [bohr^-4]
  virtual double core_radius() const { return 0; }       ///< [bohr]; 0: no core correction

  /// The spacing [bohr] above which to expect an error of some 1e-3 hartree an atom.
  virtual double coarsest_spacing() const = 0;

  /// The pseudo-atom's valence density at r [1/bohr^3], of charge Z, as a start; a Gaussian if none is known.
  virtual double start_density(double r) const = 0;
};

/// A warning if the functional of a calculation differs from the one that the pseudopotential was made for; empty if
/// they agree or if the latter is unknown. The three parametrisations of the homogeneous electron gas (pz, pw, pade)
/// agree to a millihartree an electron; the warning then says so.
/// @param xc  name from ExchangeCorrelation::names()
std::optional<std::string> functional_warning(const Pseudopotential& pseudopotential, std::string_view xc);

}  // namespace halocline::tddft
