// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A separable norm-conserving pseudopotential, wherever it came from:
///   V = V_local(r) + sum_{l m} sum_{i j} |p_i^l Y_lm> h_ij^l <p_j^l Y_lm|,   real spherical harmonics.
/// Made by goedecker.hpp (built in), upf.hpp and ky.hpp (files).

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace halocline::tddft {

/// Immutable; any thread may ask at any time.
class Pseudopotential {
public:
  virtual ~Pseudopotential() = default;

  virtual const std::string& symbol() const noexcept = 0;  ///< "Si"
  virtual std::string origin() const = 0;                  ///< "GTH (Pade), Phys. Rev. B 54, 1703", or the file's name
  virtual double valence() const noexcept = 0;             ///< charge Z of the ion
  virtual std::string functional() const = 0;              ///< "pade", "pz", ... that it was made for; empty: unknown

  /// V_local at distance r >= 0 [bohr] in hartree; -Z/r far away, finite at 0.
  virtual double local(double r) const = 0;
  /// dV_local/dr [hartree/bohr].
  virtual double local_slope(double r) const = 0;
  /// The short-range part in reciprocal space: integral of (V_local + Z/r) exp(-i G r) d^3r, without the -4 pi Z/G^2
  /// that the caller adds for G > 0 [hartree bohr^3]. @param g  |G| >= 0 [1/bohr]
  virtual double local_fourier(double g) const = 0;

  virtual int largest_l() const noexcept = 0;  ///< of the projectors; -1 for none
  virtual int projectors(int l) const = 0;     ///< number of radial functions p_i^l; 0 for an l without any
  /// p_i^l(r) [bohr^(-3/2)], with its r^l; zero from projector_radius(l) on. @param i  from 0
  virtual double projector(int l, int i, double r) const = 0;
  virtual double projector_slope(int l, int i, double r) const = 0;  ///< dp/dr [bohr^(-5/2)]
  virtual double coupling(int l, int i, int j) const = 0;            ///< h_ij^l [hartree], symmetric
  /// Grid points of the projectors of l are those nearer than this [bohr]; 0 for an l without any.
  virtual double projector_radius(int l) const = 0;

  /// The spacing [bohr] above which an error of some 1e-3 hartree an atom is to be expected.
  virtual double coarsest_spacing() const = 0;

  /// The pseudo-atom's valence density at r [1/bohr^3], of charge Z, to start from; a Gaussian where nothing is known.
  virtual double start_density(double r) const = 0;
};

/// A sentence of warning where a calculation's functional is another one than the pseudopotential was made for; nothing
/// where they agree or the latter is unknown. The three parametrisations of the homogeneous electron gas (pz, pw, pade)
/// agree to a millihartree an electron, and count as near: the sentence says so.
/// @param xc  name as ExchangeCorrelation::names() has it
std::optional<std::string> functional_warning(const Pseudopotential& pseudopotential, std::string_view xc);

}  // namespace halocline::tddft
