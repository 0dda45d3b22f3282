// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// In which order the points of a box are computed.
///
/// A tile is walked plane by plane in z, so each of its lines is read from beyond the cache once if nine planes of it,
/// with four lines of its neighbours on each side, stay there. Where nine whole planes fit, nothing is cut in x and y,
/// and z is cut into pieces that threads can share. Where they do not, tiles are cut in x and y so that the least lines
/// are read twice, go all along z, and are copied as they are walked (window.hpp). How a box is cut depends on nothing
/// else: sums over tiles do not know how many threads there are.

#include "halocline/tddft/base/grid.hpp"

#include <vector>

namespace halocline::tddft {

/// Nine planes of this extent do not stay in the cache: tiles are walked through a window.
bool needs_window(const std::array<std::int64_t, 3>& whole);

/// @param part   the box to be cut, by local index
/// @param whole  points of the process along each axis: beyond them nothing is read again
/// @return tiles that fill `part`, each once; none for an empty one
std::vector<Box> tiles_of(const Box& part, const std::array<std::int64_t, 3>& whole);

}  // namespace halocline::tddft
