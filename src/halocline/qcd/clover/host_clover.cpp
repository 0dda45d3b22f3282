// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/clover/host_clover.hpp"

#include <memory>

#include "halocline/lattice/tile_layout.hpp"
#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::device {

HostClover host_clover(const Box& box, const GaugeField& gauge, const Action& given) {
  const WilsonCloverAction action = hopping_part(given);
  HostClover out;
  if (!action.has_clover()) return out;
  // With one lane a tile is one site, in the order of Box.
  const auto layout =
      std::make_shared<const lattice::TileLayout>(gauge.geometry_ptr(), lattice::Coordinates<4>{1, 1, 1, 1});
  const auto append = [&box](std::vector<double>& to, const clover::Blocks<double>& blocks) {
    to.reserve(std::size_t{2} * clover::block_reals * static_cast<std::size_t>(box.sites));
    for (const auto& parity : blocks.data) to.insert(to.end(), parity.data(), parity.data() + parity.size());
  };
  const clover::Blocks<double> term = clover::clover_term(layout, gauge, action);
  append(out.blocks, term);
  append(out.inverse, clover::inverse(term, twisted_square(given)));
  return out;
}

}  // namespace halocline::qcd::device
