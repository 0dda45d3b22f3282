// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Clover blocks in the order in which a device takes them, made on the host in double.

#include <vector>

#include "halocline/qcd/device/box.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::device {

/// 72 reals a site (site/clover_block.hpp), `[parity][site][72]`: A and A^-1. Empty without a clover term.
struct HostClover {
  std::vector<double> blocks, inverse;
};
/// @throws Error  a singular block, on every rank. Collective: yes.
HostClover host_clover(const Box& box, const GaugeField& gauge, const ActionParameters& action);

}  // namespace halocline::qcd::device
