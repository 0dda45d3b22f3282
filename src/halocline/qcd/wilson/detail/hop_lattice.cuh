// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The indices of a site and its eight neighbours for a hop on a device, computed without a division.
///
/// Neighbours have the other parity. In the order of device/box.hpp, a neighbour along y, z or t is a fixed number of
/// places away. Of the two neighbours along x, one has the same index as the site and the other an index that differs
/// by one; which one depends on whether x is even. Across the edge of the box the index is that of the periodic
/// neighbour.

#include <cstdint>

#include "halocline/qcd/device/box.hpp"

namespace halocline::qcd::device {

/// Division of numbers n from 0 to 2^31 - 1 by a divisor that is known before the launch. With 2^s >= divisor and the
/// multiplier 2^(31+s) / divisor rounded up, (n multiplier) / 2^(31+s) and n / divisor have the same whole part (T.
/// Granlund, P. L. Montgomery, Division by invariant integers using multiplication, PLDI 1994, theorem 4.2).
struct Divisor {
  std::uint32_t multiplier;
  int shift;

  static Divisor of(int divisor) {
    int s = 0;
    while ((std::int64_t{1} << s) < divisor) ++s;
    const std::uint64_t power = std::uint64_t{1} << (31 + s);
    return {static_cast<std::uint32_t>((power + static_cast<std::uint64_t>(divisor) - 1) /
                                       static_cast<std::uint64_t>(divisor)),
            31 + s};
  }
  HALOCLINE_INLINE int quotient(int n) const {
    return static_cast<int>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(n)) * multiplier) >> shift);
  }
};

/// A site of the target parity: its index and its coordinates.
struct HopPlace {
  int site;
  Coordinates c;
};

/// The box, and the constants of the index calculations. A plain value.
struct HopLattice {
  Box box;
  Divisor by_x, by_y, by_z;  ///< divide by half the extent of x, by the extents of y and z
  int stride[4];             ///< places between neighbours along each axis; 1 for x
  int wrap[4];               ///< places between the two ends of a line

  static HopLattice of(const Box& box) {
    HopLattice l{box, Divisor::of(box.extent[0] / 2), Divisor::of(box.extent[1]), Divisor::of(box.extent[2]), {}, {}};
    l.stride[0] = 1;
    l.wrap[0] = box.extent[0] / 2 - 1;
    int places = box.extent[0] / 2;
    for (int axis = 1; axis < 4; ++axis) {
      l.stride[axis] = places;
      l.wrap[axis] = places * (box.extent[axis] - 1);
      places *= box.extent[axis];
    }
    return l;
  }

  /// As Box::coordinates.
  HALOCLINE_INLINE HopPlace place(int parity, int site) const {
    HopPlace p;
    p.site = site;
    const int row = by_x.quotient(site);
    const int plane = by_y.quotient(row);
    p.c.x[3] = by_z.quotient(plane);
    p.c.x[2] = plane - p.c.x[3] * box.extent[2];
    p.c.x[1] = row - plane * box.extent[1];
    p.c.x[0] = 2 * (site - row * stride[1]) + ((p.c.x[1] + p.c.x[2] + p.c.x[3] + box.origin_parity + parity) & 1);
    return p;
  }
  template <int d>
  HALOCLINE_INLINE bool at_edge(const HopPlace& p) const {
    constexpr int axis = d % 4;
    return d < 4 ? p.c.x[axis] == box.extent[axis] - 1 : p.c.x[axis] == 0;
  }
  /// As Box::neighbour. @param edge  at_edge<d>(p)
  template <int d>
  HALOCLINE_INLINE int neighbour(const HopPlace& p, bool edge) const {
    constexpr int axis = d % 4;
    const int forth = d < 4 ? stride[axis] : -stride[axis];
    const int back = d < 4 ? -wrap[axis] : wrap[axis];
    const int step = edge ? back : forth;
    if constexpr (axis == 0) return (p.c.x[0] & 1) == (d < 4 ? 1 : 0) ? p.site + step : p.site;
    return p.site + step;
  }
};

}  // namespace halocline::qcd::device
