// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Turns the run-time number of lanes of a layout into the compile-time number of a kernel.

namespace halocline::lattice {

/// Calls `visit.template operator()<V>()` for V = lanes, one of the lane numbers of a TileLayout.
template <class Visit>
void with_lanes(int lanes, Visit visit) {
  switch (lanes) {
  case 1:
    return visit.template operator()<1>();
  case 2:
    return visit.template operator()<2>();
  case 4:
    return visit.template operator()<4>();
  case 8:
    return visit.template operator()<8>();
  default:
    return visit.template operator()<16>();
  }
}

}  // namespace halocline::lattice
