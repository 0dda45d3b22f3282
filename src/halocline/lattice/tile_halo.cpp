// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/tile_halo.hpp"

#include <algorithm>
#include <array>

namespace halocline::lattice {

std::unique_ptr<comm::HaloExchange> open_halo(const Neighbours& neighbours, std::size_t site_bytes,
                                              std::string_view transport) {
  std::array<std::size_t, 4> face_bytes{};
  for (int axis = 0; axis < 4; ++axis)
    face_bytes[axis] = static_cast<std::size_t>(neighbours.face_sites(axis)) * site_bytes;
  if (std::ranges::all_of(face_bytes, [](std::size_t bytes) { return bytes == 0; })) return nullptr;
  const auto& geometry = neighbours.layout().geometry();
  return std::make_unique<comm::HaloExchange>(comm::solver_exchange(geometry.grid(), face_bytes, transport));
}

}  // namespace halocline::lattice
