// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The staggered operator in plain loops over canonical arrays: the oracle of the fast one.

#include <complex>
#include <span>

#include "halocline/qcd/gauge/staggered_links.hpp"

namespace halocline::qcd::staggered {

/// out = D in, or D^dagger in, in double, as field/action.hpp defines it.
/// @param out, in  local box, shape [t][z][y][x][colour 3]
/// @param links    of the action, from gauge::staggered_links()
/// @throws InvalidArgument  for impossible parameters, on every rank; for a wrong length, on the ranks that gave it
/// Collective: yes.  Cost: about a hundred times the fast operator.
void apply_reference(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                     const gauge::StaggeredLinks& links, const StaggeredAction& action, bool dagger = false);

}  // namespace halocline::qcd::staggered
