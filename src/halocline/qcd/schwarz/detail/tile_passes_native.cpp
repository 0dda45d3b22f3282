// SPDX-License-Identifier: Apache-2.0
//
// Fields of 16 bits, computed in 16 bits: a tile is a register of halves.

#include "halocline/core/half_pack.hpp"
#include "halocline/qcd/schwarz/detail/tile_passes_of.hpp"

namespace halocline::qcd::schwarz {

std::unique_ptr<TilePasses<core::Half>> passes_in_half(const lattice::DomainLayout& layout, int link_reals) {
  using Real = core::HalfPack<core::native_lanes<core::Half>>;
  require_lanes(layout, Real::lanes);
  if (link_reals == 12) return std::make_unique<TilePassesOf<core::Half, Real, 2>>(layout);
  return std::make_unique<TilePassesOf<core::Half, Real, 3>>(layout);
}

}  // namespace halocline::qcd::schwarz
