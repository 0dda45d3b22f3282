// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The domain-wall operator from its definition, in plain loops over canonical arrays: the oracle of the fast one.

#include <complex>
#include <span>

#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::domain_wall {

/// out = D in, or D^dagger in, in double.
/// @param out, in  local box, shape [s][t][z][y][x][spin 4][colour 3], s from 0 to Ls - 1
/// @throws InvalidArgument  for impossible parameters, on every rank; for a wrong length, on the ranks that gave it
/// Collective: yes.  Cost: 2 Ls applications of wilson::apply_reference; for tests and for checking doubtful results.
void apply_reference(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                     const GaugeField& gauge, const DomainWallAction& action, bool dagger = false);

}  // namespace halocline::qcd::domain_wall
