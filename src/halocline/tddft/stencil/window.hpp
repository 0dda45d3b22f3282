// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A copy of nine planes of a tile, which moves along z with the computation.
///
/// If the planes of a grid exceed the cache, a tile is processed plane by plane. Its lines are then far apart in
/// memory. On grids with a power of two of points, all neighbours of a point fall into the same few sets of the cache
/// and evict each other. So the planes that a tile needs are copied into a ring, each line once for each tile that
/// needs it, with the neighbours in x and y around it. The copy is one load and one store for each line, in long runs,
/// and replaces the first read from memory. Without it 64^3 points take a quarter to a third longer, 72^3 a tenth.

#include "halocline/tddft/stencil/detail/kernels.hpp"
#include "halocline/tddft/stencil/halo_rows.hpp"

namespace halocline::tddft {

class Window {
public:
  Window() = default;
  /// For tiles that need at most this many doubles.
  explicit Window(std::int64_t doubles) : lines_(doubles) {}
  /// The number of doubles that a tile of this extent in x and y needs.
  static std::int64_t doubles_for(std::int64_t x, std::int64_t y) noexcept;

  /// Prepares a walk: copies the eight planes from -4 to +3 relative to the first plane of the tile.
  void begin(const Neighbourhood& near, const Box& whole, const Box& tile);
  /// Advances to the next plane of the tile (on the first call, to its first plane); its nine planes are then
  /// available.
  void next();
  /// Sets the pointers to row `y` of the present plane and to its neighbours; `y` is an index in the box.
  void place(detail::Row& row, std::int64_t y) const noexcept;

private:
  std::int64_t plane(std::int64_t z) const noexcept;  ///< its offset in the ring [doubles]
  void copy_plane(std::int64_t z);

  static constexpr std::int64_t planes = 2 * stencil_reach + 1;
  std::int64_t pitch_ = 0, plane_pitch_ = 0;  ///< [doubles]
  core::AlignedArray<double> lines_;
  const Neighbourhood* near_ = nullptr;
  Box whole_, tile_;
  std::int64_t z_ = 0;
};

}  // namespace halocline::tddft
