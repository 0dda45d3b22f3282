// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The order in which the points of a box are computed.
///
/// A tile is processed plane by plane in z. Each of its lines is read from beyond the cache only once if nine planes of
/// it, including four lines of neighbours on each side, stay in the cache. If nine whole planes fit, x and y are not
/// cut, and z is cut into pieces that threads can share. Otherwise tiles are cut in x and y so that as few lines as
/// possible are read twice, extend over all of z, and are copied during the walk (window.hpp). The cut depends only on
/// the box: sums over tiles do not depend on the number of threads.

#include "halocline/tddft/base/grid.hpp"

#include <vector>

namespace halocline::tddft {

/// Whether nine planes of this extent exceed the cache, so that tiles are processed through a window.
bool needs_window(const std::array<std::int64_t, 3>& whole);

/// @param part   the box to be cut, in local indices
/// @param whole  points of the process along each axis; nothing beyond them is read again
/// @param beside  lines of other fields that stay in the cache for each point of a plane of the tile
/// @return tiles that cover `part` without overlap; none for an empty box
std::vector<Box> tiles_of(const Box& part, const std::array<std::int64_t, 3>& whole, double beside = 0);

}  // namespace halocline::tddft
