// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The points of a box near an atom, axis by axis.

#include "halocline/tddft/base/grid.hpp"

#include <cstdint>
#include <vector>

namespace halocline::tddft::detail {

/// Points above which waking threads pays.
inline constexpr std::int64_t points_for_threads = 4096;

/// The layers of a box across an axis, or periodic images of them, that may reach within a radius of a centre.
struct Layers {
  std::vector<std::int64_t> place;  ///< in the box
  std::vector<double> along;        ///< from the centre along the axis [bohr], ascending

  Layers(const Grid& grid, const Box& box, std::size_t axis, const Vec3& centre, double radius);
};

}  // namespace halocline::tddft::detail
