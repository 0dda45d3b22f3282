// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A separable norm-conserving pseudopotential, wherever it came from:
///   V = V_local(r) + sum_{l m} sum_{i j} |p_i^l Y_lm> h_ij^l <p_j^l Y_lm|,   real spherical harmonics.
/// Made by goedecker.hpp (built in), upf.hpp and ky.hpp (files).

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halocline::tddft {

class Pseudopotential {
public:
  virtual ~Pseudopotential() = default;

  virtual const std::string& symbol() const noexcept = 0;  ///< "Si"
  virtual std::string origin() const = 0;                  ///< "GTH (Pade), Phys. Rev. B 54, 1703", or the file's name
  virtual double valence() const noexcept = 0;             ///< charge Z of the ion
  virtual std::string functional() const = 0;  ///< "lda_pade", "pz", ... that it was made for; empty where unknown

  /// V_local at distance r [bohr] in hartree; -Z/r far away.
  virtual double local(double r) const = 0;
  /// dV_local/dr.
  virtual double local_slope(double r) const = 0;
  /// The short-range part in reciprocal space: integral of (V_local + Z/r) exp(-i G r) d^3r, without the -4 pi Z/G^2
  /// that the caller adds for G > 0 [hartree bohr^3].
  virtual double local_fourier(double g) const = 0;
  /// d/dG of local_fourier plus nothing else; for the stress and for tests.

  virtual int largest_l() const noexcept = 0;  ///< of the projectors; -1 for none
  virtual int projectors(int l) const = 0;     ///< number of radial functions p_i^l
  /// p_i^l(r) [bohr^(-3/2)], with its r^l; zero beyond projector_radius(l).
  virtual double projector(int l, int i, double r) const = 0;
  virtual double projector_slope(int l, int i, double r) const = 0;  ///< dp/dr
  virtual double coupling(int l, int i, int j) const = 0;            ///< h_ij^l [hartree]
  virtual double projector_radius(int l) const = 0;                  ///< [bohr]
  /// Grid points of projectors are those with r < projector_radius (KY, as its reference does); others r <= radius.

  /// The spacing [bohr] above which an error of some 1e-3 hartree an atom is to be expected.
  virtual double coarsest_spacing() const = 0;

  /// The pseudo-atom's valence density at r, of charge Z, to start from; a Gaussian where nothing is known.
  virtual double start_density(double r) const = 0;
};

}  // namespace halocline::tddft
