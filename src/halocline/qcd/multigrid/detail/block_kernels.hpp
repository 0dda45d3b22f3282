// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Products of one block of a coarse operator with vectors of one site.
///
/// A block is `[row / 16][column][re, im][row mod 16]`. It is walked in groups of 16 rows. For each column of the group
/// the forward product adds a multiple of the column to the sums of the 16 rows. The adjoint product multiplies the
/// column by the conjugate rows of its vector; the lanes of the 2 N sums are added at the end, 16 sums at once. Both
/// products take the block from memory once, for `width` right-hand sides together.
///
/// Vectors are in the order of CoarseField, except where `packed` is said: `[row / 16][re, im][row mod 16]`.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "halocline/core/half.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/qcd/multigrid/coarse_field.hpp"

namespace halocline::qcd::multigrid {

using Rows = core::Pack<float, 16>;

/// Lanes of `a` and `b` in groups of 2 w, each group added up to w lanes; groups of a and b alternate.
template <int w>
__attribute__((always_inline)) inline Rows fold(const Rows& a, const Rows& b) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    constexpr auto lane = [](int l, int from) {
      const int group = l / w;
      return (group % 2 == 0 ? 0 : 16) + group / 2 * 2 * w + from * w + l % w;
    };
    return Rows(__builtin_shufflevector(a.v, b.v, lane(static_cast<int>(i), 0)...)) +
           Rows(__builtin_shufflevector(a.v, b.v, lane(static_cast<int>(i), 1)...));
  }(std::make_index_sequence<16>{});
}

/// Lane i of the result is the sum over the lanes of pack i.
__attribute__((always_inline)) inline Rows lane_sums(std::array<Rows, 16>& pack) {
  for (int i = 0; i < 8; ++i) pack[i] = fold<8>(pack[i], pack[i + 8]);
  for (int i = 0; i < 4; ++i) pack[i] = fold<4>(pack[i], pack[i + 4]);
  for (int i = 0; i < 2; ++i) pack[i] = fold<2>(pack[i], pack[i + 2]);
  return fold<1>(pack[0], pack[1]);
}

/// Rows of a site in packed order, the rows of chirality - times `minus`; and back, added to the field.
inline void pack_rows(float* packed, const float* field, int rows, float minus) {
  for (int row = 0; row < rows; row += row_group) {
    const float factor = row < rows / 2 ? 1.f : minus;
    for (int i = 0; i < row_group; ++i) {
      packed[row / 16 * 32 + row % 16 + i] = factor * field[2 * row + i];
      packed[row / 16 * 32 + 16 + row % 16 + i] = factor * field[2 * row + row_group + i];
    }
  }
}
inline void unpack_rows(float* field, const float* packed, int rows) {
  for (int row = 0; row < rows; row += row_group)
    for (int i = 0; i < row_group; ++i) {
      field[2 * row + i] = packed[row / 16 * 32 + row % 16 + i];
      field[2 * row + row_group + i] = packed[row / 16 * 32 + 16 + row % 16 + i];
    }
}

/// Most rows of a site: room for the sums of the adjoint product.
inline constexpr int most_rows = 128;

/// The numbers of one site that a thread works on.
struct SiteWork {
  alignas(64) float sums[4 * 2 * most_rows];
  alignas(64) float u[4 * 2 * most_rows];
};

/// Calls body(first column, width as a constant) for all columns, four at a time where possible.
template <class Body>
void for_columns(int columns, const Body& body) {
  int c = 0;
  for (; c + 4 <= columns; c += 4) body(c, std::integral_constant<int, 4>{});
  for (; c + 2 <= columns; c += 2) body(c, std::integral_constant<int, 2>{});
  if (c < columns) body(c, std::integral_constant<int, 1>{});
}

template <int width>
inline std::array<const float*, width> columns_at(const float* first, int stride) {
  std::array<const float*, width> at{};
  for (int c = 0; c < width; ++c) at[c] = first + c * stride;
  return at;
}
template <int width>
inline std::array<float*, width> columns_at(float* first, int stride) {
  std::array<float*, width> at{};
  for (int c = 0; c < width; ++c) at[c] = first + c * stride;
  return at;
}

/// sums += M v, and out = M^dagger u, for `width` right-hand sides.
/// @tparam forward, adjoint  which of the two products are wanted
/// @param sums  packed, one right-hand side `2 rows` numbers after the other
/// @param v     first number of each right-hand side at the neighbour
/// @param u     packed, like sums
/// @param out   first number of each right-hand side, in the order of a field
template <class S, int width, bool forward, bool adjoint>
inline void multiply_block(const S* block, int rows, float* sums, const std::array<const float*, width>& v,
                           const float* u, const std::array<float*, width>& out) {
  using Memory = core::Stored<S, Rows>;
  // [right-hand side][column / 8][re, im][column mod 8]: the order in which lane_sums() wants them.
  alignas(64) Rows dots[adjoint ? width * 2 * most_rows : 1];
  for (int group = 0; group < rows / 16; ++group) {
    Rows sum_re[width], sum_im[width], u_re[width], u_im[width];
    for (int c = 0; c < width; ++c) {
      if constexpr (forward) {
        sum_re[c] = Rows::load(sums + c * 2 * rows + group * 32);
        sum_im[c] = Rows::load(sums + c * 2 * rows + group * 32 + 16);
      }
      if constexpr (adjoint) {
        u_re[c] = Rows::load(u + c * 2 * rows + group * 32);
        u_im[c] = Rows::load(u + c * 2 * rows + group * 32 + 16);
      }
    }
    const S* column = block + static_cast<std::int64_t>(group) * rows * 32;
    for (int j = 0; j < rows; ++j, column += 32) {
      const Rows re = Memory::load(column), im = Memory::load(column + 16);
      const int place = CoarseField::place(j);
#pragma GCC unroll 4
      for (int c = 0; c < width; ++c) {
        if constexpr (forward) {
          const Rows v_re(v[c][place]), v_im(v[c][place + row_group]);
          sum_re[c] += re * v_re;
          sum_im[c] += re * v_im;
          sum_re[c] -= im * v_im;
          sum_im[c] += im * v_re;
        }
        if constexpr (adjoint) {
          Rows& dot_re = dots[c * 2 * most_rows + place];
          Rows& dot_im = dots[c * 2 * most_rows + place + row_group];
          if (group == 0) {
            dot_re = re * u_re[c] + im * u_im[c];
            dot_im = re * u_im[c] - im * u_re[c];
          } else {
            dot_re += re * u_re[c];
            dot_im += re * u_im[c];
            dot_re += im * u_im[c];
            dot_im -= im * u_re[c];
          }
        }
      }
    }
    if constexpr (forward)
      for (int c = 0; c < width; ++c) {
        sum_re[c].store(sums + c * 2 * rows + group * 32);
        sum_im[c].store(sums + c * 2 * rows + group * 32 + 16);
      }
  }
  if constexpr (adjoint)
    for (int c = 0; c < width; ++c)
      for (int first = 0; first < 2 * rows; first += 16) {
        std::array<Rows, 16> pack;
        for (int i = 0; i < 16; ++i) pack[i] = dots[c * 2 * most_rows + first + i];
        lane_sums(pack).store(out[c] + first);
      }
}

}  // namespace halocline::qcd::multigrid
