// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson-clover operator in plain loops over canonical arrays: the oracle of the fast one.
///
/// It runs the same per-site source (site/hop.hpp) with a double as the number type, but shares nothing of the
/// tiled layout: neighbours come from ghost sites, links from the gauge field as it is, and the clover term is summed
/// from gamma matrices and field strengths at every application.

#include <complex>
#include <span>

#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::wilson {

/// out = D in, or D^dagger in, in double.
/// @param out, in  local box, shape [t][z][y][x][spin 4][colour 3]
/// @throws InvalidArgument  for a wrong length or impossible parameters, on every rank
/// Collective: yes.  Cost: about a hundred times the fast operator; for tests and for doubt.
void apply_reference(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                     const GaugeField& gauge, const WilsonCloverAction& action, bool dagger = false);

}  // namespace halocline::qcd::wilson
