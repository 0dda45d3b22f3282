// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Makes the operators of an action on given links.

#include <memory>
#include <string>

#include "halocline/lattice/tile_layout.hpp"
#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {

class GaugeField;

/// The setup of the action's operators on the CPU, with the parameters of WilsonSetup.
/// @throws InvalidArgument, Error  as WilsonSetup does. Collective: yes.
std::unique_ptr<DiracSetup> dirac_setup(const GaugeField& gauge, const Action& action,
                                        int lanes = lattice::TileLayout::max_lanes, const std::string& transport = "");

}  // namespace halocline::qcd
