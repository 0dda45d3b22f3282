// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One tile taken through a kernel, row by row: where each row and its neighbours are.
///
/// Where nine planes of the box stay in the cache, the rows are read where they stand; the ends of a row, whose
/// neighbours in x are elsewhere, are seen to by copying it, with eight more points, to a place of its own. Otherwise
/// all is read from a window (window.hpp).

#include "halocline/tddft/stencil/window.hpp"

#include <span>
#include <vector>

namespace halocline::tddft {

/// One sweep over a block.
struct Pass {
  double* out = nullptr;
  const double* in = nullptr;
  const double* base = nullptr;
  const double* v = nullptr;
  detail::Weights weights;
  detail::RowKernel kernel = nullptr;
  std::span<double> gradient;  ///< of all blocks; empty: not asked for
  std::int64_t component = 0;  ///< see detail::Row

  /// The same for a block further on.
  Pass at(std::int64_t doubles) const;
};

/// What a thread keeps.
struct Scratch {
  /// @param windowed  tiles are read from a window
  Scratch(const Box& box, const std::vector<Box>& tiles, bool windowed);

  /// Sums of a tile, shape (3, 8): see detail::point().
  double* products_of(std::size_t tile) noexcept {
    return products.data() + static_cast<std::int64_t>(tile) * 3 * doubles_per_point;
  }

  core::AlignedArray<double> row;       ///< a row and its eight neighbours beyond the ends
  core::AlignedArray<double> products;  ///< shape (tiles, 3, 8)
  Neighbourhood near;
  Window window;
  bool windowed;
};

/// Computes a tile.
/// @param near      the tables of the block
/// @param box       the whole of which the tile is a part
/// @param products  shape (3, 8), added to where the kernel forms them
void walk(const Pass& pass, const Neighbourhood& near, const Box& box, const Box& tile, Scratch& scratch,
          double* products);

}  // namespace halocline::tddft
