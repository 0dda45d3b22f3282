// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The default number of right-hand sides that a solver takes at once. It is twelve, the columns of a propagator, if
/// their vectors fit into two fifths of the memory that a process may use. Otherwise it is the largest divisor of
/// twelve that fits.

#include <cstdint>

#include "halocline/lattice/geometry.hpp"

namespace halocline::qcd {

/// Bytes for each local site and column that a solve holds at its peak: about seven vectors in double and twelve in
/// float, including those of the Schwarz preconditioner, and the caller's source and solution.
inline constexpr std::int64_t solve_bytes = 7 * 192 + 12 * 96 + 2 * 192;

/// Bytes that this process may use: the memory of the machine, or the smaller limit of its control group, divided by
/// the number of processes on the node. Collective: yes.
std::int64_t usable_memory(const comm::Communicator& group);

/// The default number: 12, 6, 4, 3, 2 or 1, the same on every rank. Collective: yes.
/// @param points  of a fifth dimension
int automatic_batch(const lattice::Geometry4& geometry, int points = 1);

}  // namespace halocline::qcd
