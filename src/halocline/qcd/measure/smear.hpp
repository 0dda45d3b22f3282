// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Gauge-covariant Gaussian (Wuppertal) smearing of quark fields in space.
///
///   psi <- [ (1 + w H) / (1 + 6 w) ]^n psi,   H psi(x) = sum_{i = x y z} U_i(x) psi(x+i) + U_i(x-i)^dagger psi(x-i).
///
/// The factor 1/(1 + 6 w) keeps a constant field constant on unit links, so n does not change the scale. Codes that
/// write (1 + sigma^2 Delta / (4 n))^n with the Laplacian Delta = H - 6 mean the same with w = k/(1 - 6 k),
/// k = sigma^2/(4 n): `GaussianSmearing::of_width`. On unit links a point then becomes exp(-r^2/sigma^2) for large n;
/// for any n its mean square radius, weighted with psi itself, is 6 w n/(1 + 6 w) = 3 sigma^2/2.
///
/// Each time slice is smeared alone; slices that are zero everywhere are skipped. The links may be smeared ones, and
/// usually are; only the three spatial directions are read. Source: Guesken et al., Phys. Lett. B 227 (1989) 266.

#include <array>
#include <complex>
#include <memory>
#include <span>

#include "halocline/qcd/gauge_field.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure {

struct GaussianSmearing {
  double weight = 0;   ///< w
  int iterations = 0;  ///< n
  /// Phase of psi across the upper end of x, y, z, as in the action: with it smearing commutes with translations.
  std::array<std::complex<double>, 3> boundary{1., 1., 1.};

  /// The weight of a Gaussian exp(-r^2/sigma^2).
  /// @param width  sigma [lattice units]
  /// @throws InvalidArgument  unless n > 3 sigma^2 / 2, below which the iteration is unstable
  static GaussianSmearing of_width(double width, int iterations);
};

/// Smears spinors on one gauge field; keeps its work space between them.
class GaussianSmearer {
public:
  /// @param links  borrowed while this lives (copied where a boundary phase is not 1); ghosts filled
  /// @throws InvalidArgument  for a weight that is negative or not finite, or negative iterations
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
