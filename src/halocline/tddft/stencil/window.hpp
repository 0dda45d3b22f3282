// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Nine planes of a tile, copied as it is walked along z.
///
/// Where the planes of a grid are too large for the cache, a tile is walked plane by plane. Its lines stand far apart
/// then, on grids with a power of two of points so far that all neighbours of a point fall into the same few sets of
/// the cache and drive each other out. So the planes that a tile needs are copied into a ring, each line once for each
/// tile that needs it, with the neighbours in x and y around it. The copy is one load and one store a line, in long
/// runs, and takes the place of the first read from memory. Without it 64^3 points take a quarter to a third longer,
/// 72^3 a tenth.

#include "halocline/tddft/stencil/detail/kernels.hpp"
#include "halocline/tddft/stencil/halo_rows.hpp"

namespace halocline::tddft {

class Window {
public:
  Window() = default;
  /// For tiles that need no more than so many doubles.
  explicit Window(std::int64_t doubles) : lines_(doubles) {}
  /// What a tile of this extent in x and y needs.
  static std::int64_t doubles_for(std::int64_t x, std::int64_t y) noexcept;

  /// Prepares a walk: copies the planes -4 to 3 about the first plane of the tile.
  void begin(const Neighbourhood& near, const Box& whole, const Box& tile);
  /// Moves on to the next plane of the tile (the first one for the first call): its nine planes are there.
  void next();
  /// Sets the pointers to the row `y` of the present plane and to its neighbours; `y` by its index in the box.
  void place(detail::Row& row, std::int64_t y) const noexcept;

private:
  std::int64_t plane(std::int64_t z) const noexcept;  ///< where it starts in the ring [doubles]
  void copy_plane(std::int64_t z);

  static constexpr std::int64_t planes = 2 * stencil_reach + 1;
  std::int64_t pitch_ = 0, plane_pitch_ = 0;  ///< [doubles]
  core::AlignedArray<double> lines_;
  const Neighbourhood* near_ = nullptr;
  Box whole_, tile_;
  std::int64_t z_ = 0;
};

}  // namespace halocline::tddft
