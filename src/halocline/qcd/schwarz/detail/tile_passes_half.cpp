// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/schwarz/detail/tile_passes_of.hpp"

namespace halocline::qcd::schwarz {

template <>
std::unique_ptr<TilePasses<core::Half>> TilePasses<core::Half>::make(const lattice::DomainLayout& layout,
                                                                     int link_reals) {
  constexpr int V = core::native_lanes<float>;
  if (layout.lanes() != V)
    throw core::InvalidArgument(fmt::format(
        "fields of 16 bits need {} lanes, and the domains of {}x{}x{}x{} sites fill {}; store the preconditioner in "
        "float, or choose domains whose extents have more factors of 2",
        V, layout.block()[0], layout.block()[1], layout.block()[2], layout.block()[3], layout.lanes()));
  if (stored_link_reals(layout, link_reals) == 12) return std::make_unique<TilePassesOf<core::Half, V, 2>>(layout);
  return std::make_unique<TilePassesOf<core::Half, V, 3>>(layout);
}

}  // namespace halocline::qcd::schwarz
