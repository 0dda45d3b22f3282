// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The error message for a process grid that a network cannot hold: the reason, and the nearest grid that fits.

#include <string>
#include <vector>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping::detail {

/// Whether rings of these sizes fit beside each other. Gives up after some thousand steps and returns false.
bool fits(const Network& network, const std::vector<int>& nodes);

/// The message, one sentence, for a grid that does not fit.
std::string refusal(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node);

}  // namespace halocline::mapping::detail
