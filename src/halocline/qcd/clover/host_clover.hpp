// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Clover blocks in the order that a device needs, computed on the host in double.

#include <vector>

#include "halocline/qcd/device/box.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::device {

/// 72 reals a site (site/clover_block.hpp), `[parity][site][72]`: A, and the inverse that clover::inverse returns for
/// the action's twisted mass. Both are empty without a clover term.
struct HostClover {
  std::vector<double> blocks, inverse;
};
/// @throws Error  if a block is singular, on every rank. Collective: yes.
HostClover host_clover(const Box& box, const GaugeField& gauge, const Action& action);

}  // namespace halocline::qcd::device
