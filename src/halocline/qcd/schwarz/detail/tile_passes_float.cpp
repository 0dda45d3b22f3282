// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/schwarz/detail/tile_passes_of.hpp"

namespace halocline::qcd::schwarz {

int stored_link_reals(const lattice::DomainLayout& layout, int asked, Arithmetic arithmetic) {
  return arithmetic == Arithmetic::half || layout.lanes() == core::native_lanes<float> ? asked : 18;
}

template <>
std::unique_ptr<TilePasses<float>> TilePasses<float>::make(const lattice::DomainLayout& layout, int link_reals,
                                                           Arithmetic) {
  std::unique_ptr<TilePasses<float>> passes;
  lattice::with_lanes(layout.lanes(), [&]<int V> {
    if constexpr (V == core::native_lanes<float>)
      if (stored_link_reals(layout, link_reals, Arithmetic::single) == 12) {
        passes = std::make_unique<TilePassesOf<float, core::Number<float, V>, 2>>(layout);
        return;
      }
    if constexpr (core::whole_pack_lanes<float>(V) == V)
      passes = std::make_unique<TilePassesOf<float, core::Number<float, V>, 3>>(layout);
  });
  return passes;
}

}  // namespace halocline::qcd::schwarz
