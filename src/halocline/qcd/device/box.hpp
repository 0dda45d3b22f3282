// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Site indices on a device: one parity of the local box, x fastest, without tables.
///
/// A site of parity p (counted from the global origin) has index i = (x + X (y + Y (z + Z t))) / 2 with the local
/// coordinates of the box; X is even, so i runs from 0 to sites - 1. Its eight neighbours are of the other parity:
/// direction d = mu is the step +mu, d = 4 + mu the step -mu (lattice/neighbours.hpp).
///
/// Across the edge of a split axis the neighbour is in another process. Its data arrive in the message of that
/// direction, in slot = (index of the site's transverse coordinates, lowest axis fastest) / 2. Sender and receiver
/// count the slots in the same way: a face site of parity p on one process and its neighbour of parity 1 - p on the
/// other have the same transverse coordinates.

#include <cstdint>

#include "halocline/core/device.hpp"
#include "halocline/lattice/geometry.hpp"

namespace halocline::qcd::device {

struct Coordinates {
  int x[4];
};

/// The local box. A plain value that kernels take as an argument.
struct Box {
  int extent[4];      ///< x y z t of this process; x even
  int sites;          ///< number of sites of each parity
  int origin_parity;  ///< parity of the local origin
  unsigned split;     ///< bit `axis`: neighbours across its edges come in messages

  /// @param emulated  bit `axis`: treat this axis as split although one process holds it
  /// @throws InvalidArgument  for an odd global extent, an odd local extent in x, 2^31 local sites or more, or a bit of
  ///                          `emulated` that is no axis; on every rank
  static Box of(const lattice::Geometry4& geometry, unsigned emulated = 0);

  HALOCLINE_INLINE bool is_split(int axis) const { return (split >> axis & 1u) != 0; }
  HALOCLINE_INLINE Coordinates coordinates(int parity, int site) const {
    Coordinates c;
    const int half = extent[0] / 2;
    const int row = site / half;
    const int plane = row / extent[1];
    c.x[3] = plane / extent[2];
    c.x[2] = plane - c.x[3] * extent[2];
    c.x[1] = row - plane * extent[1];
    c.x[0] = 2 * (site - row * half) + ((c.x[1] + c.x[2] + c.x[3] + origin_parity + parity) & 1);
    return c;
  }
  HALOCLINE_INLINE int index(const Coordinates& c) const {
    return (c.x[0] + extent[0] * (c.x[1] + extent[1] * (c.x[2] + extent[2] * c.x[3]))) / 2;
  }
  /// Whether the neighbour of a site in direction d lies across the edge of the box.
  HALOCLINE_INLINE bool at_edge(const Coordinates& c, int d) const {
    const int axis = d % 4;
    return d < 4 ? c.x[axis] == extent[axis] - 1 : c.x[axis] == 0;
  }
  /// Index, in the other parity, of the neighbour in direction d, periodic in the box.
  HALOCLINE_INLINE int neighbour(Coordinates c, int d) const {
    const int axis = d % 4;
    if (d < 4)
      c.x[axis] = c.x[axis] == extent[axis] - 1 ? 0 : c.x[axis] + 1;
    else
      c.x[axis] = c.x[axis] == 0 ? extent[axis] - 1 : c.x[axis] - 1;
    return index(c);
  }
  /// Slot of a site in the face across `axis`.
  HALOCLINE_INLINE int slot(const Coordinates& c, int axis) const {
    int linear = 0;
    for (int other = 3; other >= 0; --other)
      if (other != axis) linear = linear * extent[other] + c.x[other];
    return linear / 2;
  }
  /// Number of slots of a face across `axis`.
  HALOCLINE_INLINE int face_sites(int axis) const { return (2 * sites / extent[axis] + 1) / 2; }
  /// The site of `parity` that is in `slot` of the face of `axis` at its upper or lower end. Returns false for the
  /// surplus slot of a face with an odd number of sites.
  HALOCLINE_HOST_DEVICE bool face_site(int parity, int axis, bool upper, int slot, Coordinates& c) const;
};

HALOCLINE_HOST_DEVICE inline bool Box::face_site(int parity, int axis, bool upper, int slot, Coordinates& c) const {
  const int transverse = 2 * sites / extent[axis];
  for (int linear = 2 * slot; linear < 2 * slot + 2 && linear < transverse; ++linear) {
    int rest = linear;
    int sum = origin_parity;
    for (int other = 0; other < 4; ++other) {
      if (other == axis) continue;
      c.x[other] = rest % extent[other];
      rest /= extent[other];
      sum += c.x[other];
    }
    c.x[axis] = upper ? extent[axis] - 1 : 0;
    if (((sum + c.x[axis]) & 1) == parity) return true;
  }
  return false;
}

}  // namespace halocline::qcd::device
