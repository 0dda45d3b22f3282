// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What to say of a process grid that a network cannot hold: why, and the nearest one that it can.

#include <string>
#include <vector>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping::detail {

/// Whether rings of so many nodes each fit beside each other. Gives up, and says no, after some thousand steps.
bool fits(const Network& network, const std::vector<int>& nodes);

/// One sentence, for a grid that does not fit.
std::string refusal(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node);

}  // namespace halocline::mapping::detail
