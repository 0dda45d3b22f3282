// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Gauge-covariant Gaussian (Wuppertal) smearing of quark fields in space.
///
///   psi <- [ (1 + w H) / (1 + 6 w) ]^n psi,   H psi(x) = sum_{i = x y z} U_i(x) psi(x+i) + U_i(x-i)^dagger psi(x-i).
///
/// The factor 1/(1 + 6 w) keeps a constant field constant on unit links, so n does not change the scale. Codes that
/// write (1 + k Delta)^n, k = sigma^2/(4 n), with the Laplacian Delta = H - 6 mean the same with k = w/(1 + 6 w):
/// `GaussianSmearing::of_width`. On unit links a point then becomes exp(-r^2/sigma^2) for large n; for any n its mean
/// square radius, weighted with psi itself, is 6 k n = 3 sigma^2/2.
///
/// An iteration multiplies a plane wave by 1 - 2 k sum_i (1 - cos p_i). For k above 1/6, that is n below 3 sigma^2/2,
/// this factor is below -1 at the largest momenta: they grow and change sign, and the source is no Gaussian at the
/// scale of a site. Such sources are in use, so they are accepted; `is_smooth` tells whether one is chosen.
///
/// Each time slice is smeared separately; slices that are zero everywhere are skipped. The links may be smeared, and
/// usually are; only the three spatial directions are read. Source: Guesken et al., Phys. Lett. B 227 (1989) 266.

#include <array>
#include <complex>
#include <memory>
#include <span>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure {

struct GaussianSmearing {
  double step = 0;     ///< k
  int iterations = 0;  ///< n
  /// Phase of psi across the upper end of x, y, z, as in the action: with it smearing commutes with translations.
  std::array<std::complex<double>, 3> boundary{1., 1., 1.};

  /// For a Gaussian exp(-r^2/sigma^2).
  /// @param width  sigma [lattice units]
  /// @throws InvalidArgument  unless the width is finite and not negative, and n at least 1
  static GaussianSmearing of_width(double width, int iterations);
  /// For Wuppertal smearing of weight w.
  static GaussianSmearing of_weight(double weight, int iterations) { return {weight / (1 + 6 * weight), iterations}; }
  /// No momentum is amplified: n > 3 sigma^2/2.
  bool is_smooth() const noexcept { return step < 1.0 / 6; }
};

/// Smears spinors on one gauge field; keeps its work space from call to call.
class GaussianSmearer {
public:
  /// @param links  borrowed while this lives (copied where a boundary phase is not 1); ghosts filled
  /// @throws InvalidArgument  for a step that is negative or not finite, or negative iterations
  /// Collective: only where a boundary phase is not 1.  Cost: 384 bytes a site with ghosts.
  GaussianSmearer(const GaugeField& links, const GaussianSmearing& parameters);
  ~GaussianSmearer();
  GaussianSmearer(GaussianSmearer&&) noexcept;
  GaussianSmearer& operator=(GaussianSmearer&&) noexcept;

  /// @param spinor  canonical local array, in place
  /// @throws InvalidArgument  for a wrong length
  /// Collective: yes.  Cost: an iteration exchanges ghosts and takes 1632 flops for each site of a slice that is not
  /// zero.
  void apply(std::span<std::complex<double>> spinor);

private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// Smears all twelve columns of a propagator at its sink. Collective: yes.  Cost: twelve times apply.
void smear_sink(Propagator& propagator, const GaugeField& links, const GaussianSmearing& parameters);

}  // namespace halocline::qcd::measure
