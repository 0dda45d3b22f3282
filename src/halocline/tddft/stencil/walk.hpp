// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Takes one tile through a kernel, row by row, and locates each row and its neighbours.
///
/// If nine planes of the box stay in the cache, the rows are read in place. A row whose neighbours in x lie elsewhere
/// is first copied, with these eight points, to a buffer. Otherwise everything is read from a window (window.hpp).
/// If the axes are not orthogonal, everything is read from a copy of the block (padded_block.hpp).

#include "halocline/tddft/base/directions.hpp"
#include "halocline/tddft/stencil/local_momentum.hpp"
#include "halocline/tddft/stencil/padded_block.hpp"
#include "halocline/tddft/stencil/window.hpp"

#include <functional>
#include <span>
#include <vector>

namespace halocline::tddft {

/// One sweep over a block. Blocks are given as lines of eight doubles, also those in float: what moves lines does not
/// depend on what stands in them, and kernels for float read them as such.
struct Pass {
  double* out = nullptr;
  const double* in = nullptr;
  const double* base = nullptr;
  const double* v = nullptr;
  double* field = nullptr;  ///< scalar fields of the box, see detail::Row
  detail::Weights weights;
  detail::RowKernel kernel = nullptr;
  std::span<double> gradient;       ///< of all blocks; empty: not requested
  std::int64_t component = 0;       ///< see detail::Row
  const double* factors = nullptr;  ///< see detail::Row
  const Range* kept = nullptr;      ///< of each row (y, z) of the box, the points whose slopes are stored
  int lanes = orbital_lanes;        ///< orbitals of a block
  const LocalMomentum* local = nullptr;
  /// Called now and then by the thread that began the pass; absent: not called.
  const std::function<void()>* between = nullptr;

  /// The same pass, `doubles` further in the arrays.
  Pass at(std::int64_t doubles) const;
};

/// Buffers of one thread.
struct Scratch {
  /// @param windowed  tiles are read from a window
  Scratch(const Box& box, const std::vector<Box>& tiles, bool windowed);
  /// For axes that are not orthogonal.
  Scratch(const PaddedRows& rows, const std::vector<Box>& tiles);

  /// Sums of a tile, shape (6, most_products): see detail::point().
  double* products_of(std::size_t tile) noexcept {
    return products.data() + static_cast<std::int64_t>(tile) * detail::most_directions * detail::most_products;
  }

  core::AlignedArray<double> row;       ///< a row and the eight neighbours beyond its ends
  core::AlignedArray<double> products;  ///< shape (tiles, 6, most_products)
  Neighbourhood near;
  Window window;
  core::AlignedArray<double> copy;  ///< of a block, see PaddedRows
  bool windowed = false;
};

/// Computes a tile.
/// @param near      the tables of the block
/// @param box       the whole box that contains the tile
/// @param products  shape (6, most_products); the kernel adds to it if it forms them
void walk(const Pass& pass, const Neighbourhood& near, const Box& box, const Box& tile, Scratch& scratch,
          double* products);

/// Computes a tile whose axes are not orthogonal.
/// @param copy        of the block, as PaddedBlocks fills it
/// @param directions  axes and diagonals
void walk(const Pass& pass, const PaddedRows& rows, const double* copy, std::span<const Direction> directions,
          const Box& tile, double* products);

}  // namespace halocline::tddft
