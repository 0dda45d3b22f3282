// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links in the order of a device's memory, made on the host in double.
///
/// Every site of either parity has the eight matrices that its hop needs: U_mu(x) for d = mu, and U_mu(x-mu)^dagger for
/// d = 4 + mu, even if that link belongs to another process. So a hop needs no halo of links, and the device conjugates
/// no matrix. This takes twice the memory of the links. Boundary phases and hopping coefficients are not multiplied
/// into the matrices, so that SU(3) links stay in SU(3); they are separate factors.

#include <array>
#include <complex>
#include <vector>

#include "halocline/qcd/device/box.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::device {

struct HostLinks {
  Box box{};
  /// [parity][direction 8][site][row][column][re, im]
  std::vector<double> matrices;
  /// [mu]: the hopping coefficient c_mu, for directions mu and 4 + mu inside the box.
  std::array<double, 4> coefficient{1, 1, 1, 1};
  /// [d]: the factor for a step across the edge of the box in direction d, without the coefficient. At the edge of the
  /// lattice it is the boundary phase (its conjugate for d >= 4), elsewhere 1.
  std::array<std::complex<double>, 8> edge{};
  double unitarity_violation = 0;  ///< GaugeField::unitarity_violation(), over all processes
};
/// @param gauge  ghosts filled. Collective: yes.
HostLinks host_links(const Box& box, const GaugeField& gauge, const WilsonCloverAction& action);

}  // namespace halocline::qcd::device
