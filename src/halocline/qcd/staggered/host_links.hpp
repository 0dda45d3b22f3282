// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links of staggered quarks in the order of a device's memory, made on the host in double.
///
/// Every site of either parity has the matrices of all its steps, as the CPU's kernel has them (hopping.hpp): with the
/// phases eta and the boundary phases, those of backward steps as minus their hermitian conjugates.

#include <vector>

#include "halocline/qcd/device/box.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::device {

struct HostStaggeredLinks {
  Box box{};
  int steps = 0;  ///< 8, or 16 with long links
  /// [parity][step][site][row][column][re, im]; steps 0 to 7 of one site, 8 to 15 of three, each in the order of
  /// directions
  std::vector<double> matrices{};
};

/// Makes the links of the action (gauge/staggered_links.hpp) and puts them in order.
/// @param u  links with valid ghosts. @throws  as gauge::staggered_links(). Collective: yes.
HostStaggeredLinks host_links(const Box& box, const GaugeField& u, const StaggeredAction& action);

}  // namespace halocline::qcd::device
