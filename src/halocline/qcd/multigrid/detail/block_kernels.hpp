// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Products of one block of a coarse operator with vectors of one site.
///
/// A block is `[row / 16][column][re, im][row mod 16]`. It is walked in groups of 16 rows. For each column of the group
/// the forward product adds a multiple of the column to the sums of the 16 rows. The adjoint product multiplies the
/// column by the conjugate rows of its vector; the lanes of the 2 N sums are added at the end, 16 sums at once. Both
/// products take the block from memory once, for `width` right-hand sides together; see multiply_block().
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

/// Asks for `count` numbers of the next block, which in most cases lies behind this one. Without it a processor waits
/// for memory at the beginning of every page, and one column reaches half of the bandwidth of reading.
template <int count, class S>
__attribute__((always_inline)) inline void prefetch_behind(const S* at, int rows) {
  constexpr int line = 64 / static_cast<int>(sizeof(S));
  const S* next = at + std::int64_t{2} * rows * rows;
#pragma GCC unroll 4
  for (int i = 0; i < count; i += line) __builtin_prefetch(next + i, 0, 2);
}

/// The sums of `count` groups from `first` on, and the dots of their rows with every column: one walk over the columns,
/// with the sums in registers.
/// @param dots  [right-hand side][column / 8][re, im][column mod 8], in the order in which lane_sums() wants them;
/// those
///              of group 0 begin the sums
template <class S, int width, int count, bool forward, bool adjoint>
__attribute__((always_inline)) inline void multiply_groups(const S* block, int rows, int first, float* sums,
                                                           const std::array<const float*, width>& v, const float* u,
                                                           Rows* dots) {
  using Memory = core::Stored<S, Rows>;
  Rows sum_re[count][width], sum_im[count][width], u_re[count][width], u_im[count][width];
  for (int g = 0; g < count; ++g)
    for (int c = 0; c < width; ++c) {
      const int at = c * 2 * rows + (first + g) * 32;
      if constexpr (forward) {
        sum_re[g][c] = Rows::load(sums + at);
        sum_im[g][c] = Rows::load(sums + at + 16);
      }
      if constexpr (adjoint) {
        u_re[g][c] = Rows::load(u + at);
        u_im[g][c] = Rows::load(u + at + 16);
      }
    }
  for (int j = 0; j < rows; ++j) {
    const int place = CoarseField::place(j);
    Rows dot_re[width], dot_im[width];
    if constexpr (adjoint)
      for (int c = 0; c < width; ++c) {
        dot_re[c] = first == 0 ? Rows(0.f) : dots[c * 2 * most_rows + place];
        dot_im[c] = first == 0 ? Rows(0.f) : dots[c * 2 * most_rows + place + row_group];
      }
#pragma GCC unroll 3
    for (int g = 0; g < count; ++g) {
      const S* column = block + (static_cast<std::int64_t>(first + g) * rows + j) * 32;
      prefetch_behind<32>(column, rows);
      const Rows re = Memory::load(column), im = Memory::load(column + 16);
#pragma GCC unroll 4
      for (int c = 0; c < width; ++c) {
        if constexpr (forward) {
          const Rows v_re(v[c][place]), v_im(v[c][place + row_group]);
          sum_re[g][c] += re * v_re;
          sum_im[g][c] += re * v_im;
          sum_re[g][c] -= im * v_im;
          sum_im[g][c] += im * v_re;
        }
        if constexpr (adjoint) {
          dot_re[c] += re * u_re[g][c];
          dot_im[c] += re * u_im[g][c];
          dot_re[c] += im * u_im[g][c];
          dot_im[c] -= im * u_re[g][c];
        }
      }
    }
    if constexpr (adjoint)
      for (int c = 0; c < width; ++c) {
        dots[c * 2 * most_rows + place] = dot_re[c];
        dots[c * 2 * most_rows + place + row_group] = dot_im[c];
      }
  }
  if constexpr (forward)
    for (int g = 0; g < count; ++g)
      for (int c = 0; c < width; ++c) {
        sum_re[g][c].store(sums + c * 2 * rows + (first + g) * 32);
        sum_im[g][c].store(sums + c * 2 * rows + (first + g) * 32 + 16);
      }
}

/// out = M^dagger u, two columns at a time with their dots in registers: the loads of u serve both columns.
template <class S, int width>
inline void multiply_adjoint(const S* block, int rows, const float* u, const std::array<float*, width>& out) {
  using Memory = core::Stored<S, Rows>;
  for (int first = 0; first < rows; first += row_group) {
    std::array<Rows, 16> dots[width];
    for (int i = 0; i < row_group; i += 2) {
      Rows dot_re[2][width], dot_im[2][width];
      for (int k = 0; k < 2; ++k)
        for (int c = 0; c < width; ++c) dot_re[k][c] = dot_im[k][c] = Rows(0.f);
      for (int group = 0; group < rows / 16; ++group) {
        const S* column = block + (static_cast<std::int64_t>(group) * rows + first + i) * 32;
        prefetch_behind<64>(column, rows);
        const Rows re[2] = {Memory::load(column), Memory::load(column + 32)};
        const Rows im[2] = {Memory::load(column + 16), Memory::load(column + 48)};
#pragma GCC unroll 4
        for (int c = 0; c < width; ++c) {
          const Rows u_re = Rows::load(u + c * 2 * rows + group * 32),
                     u_im = Rows::load(u + c * 2 * rows + group * 32 + 16);
#pragma GCC unroll 2
          for (int k = 0; k < 2; ++k) {
            dot_re[k][c] += re[k] * u_re;
            dot_im[k][c] += re[k] * u_im;
            dot_re[k][c] += im[k] * u_im;
            dot_im[k][c] -= im[k] * u_re;
          }
        }
      }
      for (int c = 0; c < width; ++c)
        for (int k = 0; k < 2; ++k) {
          dots[c][static_cast<std::size_t>(i + k)] = dot_re[k][c];
          dots[c][static_cast<std::size_t>(i + k + row_group)] = dot_im[k][c];
        }
    }
    for (int c = 0; c < width; ++c) lane_sums(dots[c]).store(out[c] + 2 * first);
  }
}

/// sums += M v, and out = M^dagger u, for `width` right-hand sides.
///
/// One or two right-hand sides are limited by memory: both products take three groups of a column at a time, so that
/// neither waits for its own sums. Four have sums enough for one group, and the adjoint product follows in a pass of
/// its own, while the block is in the cache: its dots would take the bandwidth of storing. The order of every sum is
/// the same for any width, so a right-hand side has the same bits alone and beside others.
/// @tparam forward, adjoint  which of the two products are wanted
/// @param sums  packed, one right-hand side `2 rows` numbers after the other
/// @param v     first number of each right-hand side at the neighbour
/// @param u     packed, like sums
/// @param out   first number of each right-hand side, in the order of a field
template <class S, int width, bool forward, bool adjoint>
inline void multiply_block(const S* block, int rows, float* sums, const std::array<const float*, width>& v,
                           const float* u, const std::array<float*, width>& out) {
  const int groups = rows / 16;
  if constexpr (width > 2 || !forward) {
    if constexpr (forward)
      for (int group = 0; group < groups; ++group)
        multiply_groups<S, width, 1, true, false>(block, rows, group, sums, v, nullptr, nullptr);
    if constexpr (adjoint) multiply_adjoint<S, width>(block, rows, u, out);
  } else {
    alignas(64) Rows dots[adjoint ? width * 2 * most_rows : 1];
    int group = 0;
    for (; group + 3 <= groups; group += 3)
      multiply_groups<S, width, 3, forward, adjoint>(block, rows, group, sums, v, u, dots);
    if (groups - group == 2) multiply_groups<S, width, 2, forward, adjoint>(block, rows, group, sums, v, u, dots);
    if (groups - group == 1) multiply_groups<S, width, 1, forward, adjoint>(block, rows, group, sums, v, u, dots);
    if constexpr (adjoint)
      for (int c = 0; c < width; ++c)
        for (int first = 0; first < 2 * rows; first += 16) {
          std::array<Rows, 16> pack;
          for (int i = 0; i < 16; ++i) pack[i] = dots[c * 2 * most_rows + first + i];
          lane_sums(pack).store(out[c] + first);
        }
  }
}

}  // namespace halocline::qcd::multigrid
