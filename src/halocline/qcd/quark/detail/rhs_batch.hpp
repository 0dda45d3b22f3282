// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How many right-hand sides a solver takes at once when nobody says: the twelve columns of a propagator where their
/// vectors fit into two fifths of the memory that a process may use, and the largest divisor of twelve that fits
/// otherwise.

#include <cstdint>

#include "halocline/lattice/geometry.hpp"

namespace halocline::qcd {

/// Bytes a local site and column that a solve holds at its peak: about seven vectors in double and twelve in float,
/// counting those of the Schwarz preconditioner and the source and solution of the caller.
inline constexpr std::int64_t solve_bytes = 7 * 192 + 12 * 96 + 2 * 192;

/// Bytes that this process may use: those of the machine, or of the control group that it is confined to, shared
/// between the processes of the node. Collective: yes.
std::int64_t usable_memory(const comm::Communicator& group);

/// 12, 6, 4, 3, 2 or 1, the same on every rank. Collective: yes.
int automatic_batch(const lattice::Geometry4& geometry);

}  // namespace halocline::qcd
