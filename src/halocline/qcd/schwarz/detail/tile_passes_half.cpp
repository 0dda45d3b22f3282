// SPDX-License-Identifier: Apache-2.0
//
// Fields of 16 bits, computed in float: a tile is a register of floats.

#include "halocline/qcd/schwarz/detail/tile_passes_of.hpp"

namespace halocline::qcd::schwarz {

template <>
std::unique_ptr<TilePasses<core::Half>> TilePasses<core::Half>::make(const lattice::DomainLayout& layout,
                                                                     int link_reals, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::half) return passes_in_half(layout, link_reals);
  require_lanes(layout, core::native_lanes<float>);
  using Real = core::Number<float, core::native_lanes<float>>;
  if (stored_link_reals(layout, link_reals) == 12) return std::make_unique<TilePassesOf<core::Half, Real, 2>>(layout);
  return std::make_unique<TilePassesOf<core::Half, Real, 3>>(layout);
}

}  // namespace halocline::qcd::schwarz
