// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Exchange and correlation of a density on the grid.
///
/// With gradients the potential has divergence form,
///   v = df/dn - div w,  w = df/d(grad n),
/// with gradient and divergence by the first derivative of the stencil. This is an antisymmetric matrix D. Therefore v
/// is exactly the derivative of the grid's energy sum f(n, D n), on any grid, and the energy of a propagation is
/// conserved as with a local functional (J. A. White and D. M. Bird, Phys. Rev. B 50, 4954, 1994).

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/stencil/stencil.hpp"
#include "halocline/tddft/xc/xc.hpp"

namespace halocline::tddft {

class GridExchangeCorrelation {
public:
  /// @throws InvalidArgument  as ExchangeCorrelation
  GridExchangeCorrelation(std::string_view name, int spins) : xc_(name, spins), spins_(spins) {}

  const ExchangeCorrelation& functional() const noexcept { return xc_; }

  /// @param v  shape (spins, points of the box) [hartree], overwritten
  /// @param n  shape (spins, points of the box) [1/bohr^3]
  /// @return sum over the points of this process of f, not multiplied by the volume of a point
  /// Collective over the stencil's processes for a functional with gradients; otherwise not.
  /// Cost: with gradients two sweeps of the stencil over scalar fields, and 64 + 56 spins bytes a point that are kept.
  double evaluate(std::span<double> v, std::span<const double> n, Stencil& stencil);

private:
  ExchangeCorrelation xc_;
  int spins_;
  core::AlignedArray<double> block_;     ///< scalar fields in the place of a block's numbers
  std::vector<double> gradient_, flux_;  ///< shape (spins, 3, points)
  std::vector<double> divergence_;       ///< shape (spins, points)
};

}  // namespace halocline::tddft
