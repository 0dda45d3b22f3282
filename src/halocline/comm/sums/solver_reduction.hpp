// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums of solvers, by the settings of their group (group/solver_communication.hpp).

#include "halocline/comm/sums/reduction.hpp"

namespace halocline::comm {

/// A reduction by the way that the group's settings name, with the time limit of solves.
/// @param longest  doubles in one sum, at least 8
/// @throws InvalidArgument  as Reduction, and for an unknown way; on every rank
/// Collective: yes.
Reduction solver_reduction(const Communicator& group, std::size_t longest = Reduction::most);

}  // namespace halocline::comm
