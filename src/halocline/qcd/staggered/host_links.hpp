// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links of staggered quarks in the order of a device's memory, made on the host in double.
///
/// Every site of either parity has the matrices of all its steps, as the CPU's kernel has them (hopping.hpp): with the
/// phases eta and the boundary phases, those of backward steps as minus their hermitian conjugates.

#include <vector>

#include "halocline/qcd/device/box.hpp"
#include "halocline/qcd/gauge/staggered_links.hpp"

namespace halocline::qcd::device {

struct HostStaggeredLinks {
  Box box{};
  int steps = 0;  ///< 8, or 16 with long links
  /// [parity][step][site][row][column][re, im]; steps 0 to 7 of one site, 8 to 15 of three, each in the order of
  /// directions
  std::vector<double> matrices{};
};

/// @param links  of the action. Collective: no.
HostStaggeredLinks host_links(const Box& box, const gauge::StaggeredLinks& links, const StaggeredAction& action);

}  // namespace halocline::qcd::device
