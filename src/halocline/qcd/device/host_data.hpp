// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links in the order that a device needs, made on the host in double.
///
/// Every site of either parity has the eight matrices that its hop needs: U_mu(x) for d = mu, and U_mu(x-mu)^dagger for
/// d = 4 + mu, also where that link is in another process. So a hop needs no halo of links, and the device conjugates
/// no matrix, for twice the memory of the links. The matrices are SU(3): boundary phases and hopping coefficients are
/// kept apart, as factors.

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
  /// Of direction d inside the box: the hopping coefficient c_mu.
  std::array<double, 4> coefficient{1, 1, 1, 1};
  /// Across the edge of the box in direction d: the boundary phase where that is the edge of the lattice (its conjugate
  /// for d >= 4), else 1. To be multiplied by the coefficient.
  std::array<std::complex<double>, 8> edge{};
  double unitarity_violation = 0;  ///< GaugeField::unitarity_violation(), over all processes
};
/// @param gauge  ghosts filled. Collective: yes.
HostLinks host_links(const Box& box, const GaugeField& gauge, const WilsonCloverAction& action);

}  // namespace halocline::qcd::device
