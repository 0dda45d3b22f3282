// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/stencil/tiles.hpp"

#include <algorithm>
#include <limits>

#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/stencil/coefficients.hpp"

namespace halocline::tddft {
namespace {

/// The usable part of a cache of 1 MiB, through which written lines pass too.
constexpr std::int64_t cache_lines = 640 * 1024 / 64;
constexpr std::int64_t planes_of_a_piece = 2;
constexpr std::int64_t shortest_row = 16;

std::int64_t ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Number of pieces along x and y.
std::array<std::int64_t, 2> pieces_of(const Box& part, const std::array<std::int64_t, 3>& whole, double beside) {
  std::array<std::int64_t, 2> best{1, ceiling(part.extent[1], 1)};
  double least = std::numeric_limits<double>::max();
  for (std::int64_t px = 1; px == 1 || ceiling(part.extent[0], px) >= shortest_row; ++px)
    for (std::int64_t py = 1; py <= part.extent[1]; ++py) {
      const std::int64_t nx = ceiling(part.extent[0], px), ny = ceiling(part.extent[1], py);
      const std::int64_t read = std::min(nx + 2 * stencil_reach, whole[0]) * std::min(ny + 2 * stencil_reach, whole[1]);
      const double lines = static_cast<double>(read * (2 * stencil_reach + 1)) + beside * static_cast<double>(nx * ny);
      if (lines > static_cast<double>(cache_lines)) continue;
      const double excess = static_cast<double>(read) / static_cast<double>(nx * ny);
      if (excess < least) {
        least = excess;
        best = {px, py};
      }
    }
  return best;
}

}  // namespace

bool needs_window(const std::array<std::int64_t, 3>& whole) {
  return whole[0] * whole[1] * (2 * stencil_reach + 1) > cache_lines;
}

std::vector<Box> tiles_of(const Box& part, const std::array<std::int64_t, 3>& whole, double beside) {
  std::vector<Box> tiles;
  if (part.points() == 0) return tiles;
  const auto [px, py] = pieces_of(part, whole, beside);
  const int pz = needs_window(whole) ? 1 : static_cast<int>(ceiling(part.extent[2], planes_of_a_piece));
  for (int iy = 0; iy < py; ++iy)
    for (int ix = 0; ix < px; ++ix)
      for (int iz = 0; iz < pz; ++iz) {
        const std::array<Range, 3> range{part_of(part.extent[0], static_cast<int>(px), ix),
                                         part_of(part.extent[1], static_cast<int>(py), iy),
                                         part_of(part.extent[2], pz, iz)};
        Box tile;
        for (std::size_t a = 0; a < 3; ++a) {
          tile.offset[a] = part.offset[a] + range[a].begin;
          tile.extent[a] = range[a].size();
        }
        tiles.push_back(tile);
      }
  return tiles;
}

}  // namespace halocline::tddft
