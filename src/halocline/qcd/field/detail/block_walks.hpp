// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The walks of linear_algebra.hpp in which columns meet other columns: products of blocks, and products with vectors
/// that all columns share. Tiles are the outer loop, so what meets stays in cache.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "halocline/qcd/field/detail/tile_column.hpp"

namespace halocline::qcd::detail {

/// The local sums of a Gram matrix, one chunk at a time: `partial` is [chunk][i][j]. If x is y, only j >= i.
template <class T, int V>
void gram_walk(const FlatShape& shape, const T* x, const T* y, std::int64_t chunk_tiles, std::span<Scalar> partial,
               double* under_way, std::int64_t stride) {
  using Kernel = TileColumn<T, V>;
  const std::int64_t numbers = std::int64_t{shape.components} * V;
  const std::int64_t chunks = (shape.tiles + chunk_tiles - 1) / chunk_tiles;
  const int columns = shape.columns;
#pragma omp parallel
  {
    double* const sums = under_way + this_thread() * stride;
#pragma omp for schedule(static)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      std::fill_n(sums, std::int64_t{columns} * columns * Kernel::sum_reals, 0.0);
      const std::int64_t end = std::min(shape.tiles, (chunk + 1) * chunk_tiles);
      for (std::int64_t tile = chunk * chunk_tiles; tile < end; ++tile)
        for (int i = 0; i < columns; ++i) {
          const T* left = x + (tile * columns + i) * numbers;
          for (int j = x == y ? i : 0; j < columns; ++j) {
            double* to = sums + (i * columns + j) * Kernel::sum_reals;
            const T* right = y + (tile * columns + j) * numbers;
            if (left == right)
              Kernel::norm(to, left, numbers);
            else
              Kernel::template dot<DotPlan::Kind::dot>(to, to, left, right, numbers);
          }
        }
      for (int i = 0; i < columns; ++i)
        for (int j = x == y ? i : 0; j < columns; ++j) {
          const double* from = sums + (i * columns + j) * Kernel::sum_reals;
          partial[static_cast<std::size_t>((chunk * columns + i) * columns + j)] =
              x == y && i == j ? Kernel::finish_norm(from) : Kernel::finish_dot(from);
        }
    }
  }
}

/// y = x m or y += x m, tile by tile: all columns of a tile of x stay in cache while the columns of y are made.
template <class T, int V>
void multiply_walk(const FlatShape& shape, T* y, const T* x, std::span<const Scalar> m, bool overwrite) {
  using Kernel = TileColumn<T, V>;
  using Term = std::pair<const T*, Coefficient<T>>;
  const std::int64_t numbers = std::int64_t{shape.components} * V;
  const int columns = shape.columns;
  std::vector<std::vector<Term>> terms(static_cast<std::size_t>(columns));  // of each column of y
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < columns; ++j) {
      const auto a = coefficient_of<T>(m, i * columns + j);
      if (a.re != T(0) || a.im != T(0)) terms[static_cast<std::size_t>(j)].emplace_back(x + i * numbers, a);
    }
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < shape.tiles; ++tile)
    for (int j = 0; j < columns; ++j) {
      const std::span<const Term> list = terms[static_cast<std::size_t>(j)];
      const std::int64_t offset = tile * columns * numbers;
      if (overwrite)
        Kernel::template multiply<true>(y + j * numbers, list, offset, numbers);
      else if (!list.empty())
        Kernel::template multiply<false>(y + j * numbers, list, offset, numbers);
    }
}

/// The local sums of shared_dots, one chunk at a time: `partial` is [chunk][vector][column].
template <class T, int V>
void shared_dots_walk(const FlatShape& shape, std::span<const T* const> shared, const T* y, std::span<Scalar> partial,
                      double* under_way, std::int64_t stride) {
  using Kernel = TileColumn<T, V>;
  constexpr std::int64_t chunk_tiles = chunk_sites / V;
  const std::int64_t numbers = std::int64_t{shape.components} * V;
  const std::int64_t chunks = (shape.tiles + chunk_tiles - 1) / chunk_tiles;
  const int columns = shape.columns, count = static_cast<int>(shared.size());
#pragma omp parallel
  {
    double* const sums = under_way + this_thread() * stride;
    const auto place = [&](int vector, int column) { return sums + (vector * columns + column) * Kernel::sum_reals; };
#pragma omp for schedule(static)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      std::fill_n(sums, std::int64_t{count} * columns * Kernel::sum_reals, 0.0);
      const std::int64_t end = std::min(shape.tiles, (chunk + 1) * chunk_tiles);
      for (std::int64_t tile = chunk * chunk_tiles; tile < end; ++tile)
        for (int column = 0; column < columns; ++column) {
          const T* right = y + (tile * columns + column) * numbers;
          int i = 0;
          for (; i + 1 < count; i += 2)
            Kernel::two_dots(place(i, column), place(i + 1, column), shared[i] + tile * numbers,
                             shared[i + 1] + tile * numbers, right, numbers);
          if (i < count) {
            double* to = place(i, column);
            Kernel::template dot<DotPlan::Kind::dot>(to, to, shared[i] + tile * numbers, right, numbers);
          }
        }
      for (int i = 0; i < count; ++i)
        for (int column = 0; column < columns; ++column)
          partial[static_cast<std::size_t>((chunk * count + i) * columns + column)] =
              Kernel::finish_dot(place(i, column));
    }
  }
}

/// y_c += sum_i shared_i a[i * columns + c], tile by tile.
template <class T, int V>
void shared_add_walk(const FlatShape& shape, T* y, std::span<const Scalar> a, std::span<const T* const> shared) {
  using Kernel = TileColumn<T, V>;
  using Term = std::pair<const T*, Coefficient<T>>;
  const std::int64_t numbers = std::int64_t{shape.components} * V;
  const int columns = shape.columns, count = static_cast<int>(shared.size());
  std::vector<std::vector<Term>> terms(static_cast<std::size_t>(columns));
  for (int i = 0; i < count; ++i)
    for (int c = 0; c < columns; ++c) {
      const auto factor = coefficient_of<T>(a, i * columns + c);
      if (factor.re != T(0) || factor.im != T(0)) terms[static_cast<std::size_t>(c)].emplace_back(shared[i], factor);
    }
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < shape.tiles; ++tile)
    for (int c = 0; c < columns; ++c) {
      const std::span<const Term> list = terms[static_cast<std::size_t>(c)];
      // The offset is that of the shared vectors; y of a batch is further on.
      if (!list.empty())
        Kernel::template multiply<false>(y + (tile * (columns - 1) + c) * numbers, list, tile * numbers, numbers);
    }
}

}  // namespace halocline::qcd::detail
