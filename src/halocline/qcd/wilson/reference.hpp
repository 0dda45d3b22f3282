// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson-clover operator in plain loops over canonical arrays: the oracle of the fast one.
///
/// It runs the same per-site source (site/hop.hpp) with a double as the number type, but shares nothing of the tiled
/// layout. Neighbours come from ghost sites and links from the gauge field itself. Every application sums the clover
/// term from gamma matrices and field strengths.

#include <complex>
#include <span>

#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::wilson {

/// out = D in, or D^dagger in, in double.
/// @param out, in  local box, shape [t][z][y][x][spin 4][colour 3]
/// @throws InvalidArgument  for impossible parameters, on every rank; for a wrong length, on the ranks that gave it
/// Collective: yes.  Cost: about a hundred times the fast operator; for tests and for checking doubtful results.
void apply_reference(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                     const GaugeField& gauge, const WilsonCloverAction& action, bool dagger = false);

}  // namespace halocline::qcd::wilson
