// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Blocks of eight by eight numbers, transposed in registers, and stores that bypass the caches.
///
/// Both layouts of a reordering keep some numbers side by side: one the numbers of a site, the other the same number of
/// several sites. Eight loads, a transposition in three rounds of eight shuffles, and eight stores move 64 numbers. So
/// memory is read and written in whole lines, and no number is handled alone.
///
/// A copy of a large array is limited by memory. A plain store first reads the line that it overwrites, a third of all
/// traffic. Streaming stores avoid this, for whole lines only: `copy_streaming` moves a finished piece from a small
/// buffer to its place.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "halocline/core/device.hpp"
#include "halocline/core/pack.hpp"

namespace halocline::qcd::order::detail {

/// Numbers of a block along each side.
inline constexpr int side = 8;

template <class T>
using Row = core::Pack<T, side>;
template <class T>
using Block = std::array<Row<T>, side>;

/// What blocks of an array of Real are moved as: Real, or double where eight floats are no register of their own (SVE
/// of 512 bits).
template <class Real>
using Moved = std::conditional_t<core::whole_pack_lanes<Real>(side) == side, Real, double>;

/// Lanes of a and b, whose groups of `chunk` lanes alternate: the lower groups of both, or the upper ones.
template <int chunk, bool upper, class T>
HALOCLINE_INLINE Row<T> interleave_groups(const Row<T>& a, const Row<T>& b) {
  constexpr auto from = [](std::size_t lane) {
    const int l = static_cast<int>(lane);
    const bool of_b = (l & chunk) != 0;
    return (of_b ? side : 0) + (upper ? (l | chunk) : (l & ~chunk));
  };
  return [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    return Row<T>(__builtin_shufflevector(a.v, b.v, from(i)...));
  }(std::make_index_sequence<side>{});
}

template <int chunk, std::size_t runs, class T>
HALOCLINE_INLINE void transpose_round(std::array<Row<T>, runs>& rows) {
  constexpr std::size_t step = chunk * runs / side;
  for (std::size_t i = 0; i < runs; ++i)
    if ((i & step) == 0) {
      const Row<T> low = interleave_groups<chunk, false>(rows[i], rows[i + step]);
      rows[i + step] = interleave_groups<chunk, true>(rows[i], rows[i + step]);
      rows[i] = low;
    }
}

/// Run j of row i becomes run i of row j. Eight rows have eight runs of one number, four have four of two numbers.
template <std::size_t runs, class T>
HALOCLINE_INLINE void transpose(std::array<Row<T>, runs>& rows) {
  static_assert(runs == 1 || runs == 2 || runs == 4 || runs == side);
  constexpr int run = side / static_cast<int>(runs);
  if constexpr (runs > 1) transpose_round<run>(rows);
  if constexpr (runs > 2) transpose_round<2 * run>(rows);
  if constexpr (runs > 4) transpose_round<4 * run>(rows);
}

/// Eight numbers, rounded or widened.
template <class To, class T>
HALOCLINE_INLINE Row<To> converted(const Row<T>& row) {
  if constexpr (std::is_same_v<To, T>)
    return row;
  else
    return core::convert<To>(row);
}
template <class T, class Real>
HALOCLINE_INLINE Row<T> load_row(const Real* from) {
  return converted<T>(Row<Real>::load(from));
}
template <class Real, class T>
HALOCLINE_INLINE void store_row(Real* to, const Row<T>& row) {
  converted<Real>(row).store(to);
}

/// Asks for a line that will be read later, into the second-level cache. Always inlined: GCC 12 otherwise drops calls
/// of always inlined functions that do nothing else.
HALOCLINE_INLINE void prefetch(const void* address) { __builtin_prefetch(address, 0, 2); }

/// Numbers after those at work that are asked for where memory is read in order: 12 KiB. What is asked for 1.5 KiB
/// ahead comes too late.
template <class T>
inline constexpr std::int64_t far_ahead = 12288 / std::int64_t{sizeof(T)};

inline bool begins_line(const void* address) { return (reinterpret_cast<std::uintptr_t>(address) & 63U) == 0; }

/// Eight numbers to memory; `streaming`: past the caches, where they are a whole line.
template <class T>
HALOCLINE_INLINE void put_row(T* to, const Row<T>& row, bool streaming) {
  if (streaming)
    core::stream(to, row);
  else
    row.store(to);
}

/// Sixteen numbers: two lines of doubles, or one of floats.
template <class T>
HALOCLINE_INLINE void put_rows(T* to, const Row<T>& low, const Row<T>& high, bool streaming) {
  if constexpr (sizeof(T) == 4) {
    using Line = core::Pack<T, 2 * side>;
    const Line line(__builtin_shufflevector(low.v, high.v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    if (streaming)
      core::stream(to, line);
    else
      line.store(to);
  } else {
    put_row(to, low, streaming);
    put_row(to + side, high, streaming);
  }
}

/// a0 b0 a1 b1 ... : the numbers of two rows in turn.
template <class T>
HALOCLINE_INLINE std::array<Row<T>, 2> zip(const Row<T>& a, const Row<T>& b) {
  return {Row<T>(__builtin_shufflevector(a.v, b.v, 0, 8, 1, 9, 2, 10, 3, 11)),
          Row<T>(__builtin_shufflevector(a.v, b.v, 4, 12, 5, 13, 6, 14, 7, 15))};
}
/// The inverse of zip: numbers with even and with odd places of sixteen.
template <class T>
HALOCLINE_INLINE std::array<Row<T>, 2> unzip(const Row<T>& low, const Row<T>& high) {
  return {Row<T>(__builtin_shufflevector(low.v, high.v, 0, 2, 4, 6, 8, 10, 12, 14)),
          Row<T>(__builtin_shufflevector(low.v, high.v, 1, 3, 5, 7, 9, 11, 13, 15))};
}

/// Copies `count` numbers, whole cache lines with streaming stores; ask() is called for each. Readers in other threads
/// need fence_streams() first.
template <class T, class Ask>
void copy_streaming(T* to, const T* from, std::int64_t count, const Ask& ask) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  using Line = core::Pack<T, static_cast<int>(line)>;
  const auto past = static_cast<std::int64_t>((reinterpret_cast<std::uintptr_t>(to) & 63U) / sizeof(T));
  std::int64_t i = std::min((line - past) % line, count);
  std::memcpy(to, from, static_cast<std::size_t>(i) * sizeof(T));
  for (; i + line <= count; i += line) {
    core::stream(to + i, Line::load(from + i));
    ask();
  }
  std::memcpy(to + i, from + i, static_cast<std::size_t>(count - i) * sizeof(T));
}
template <class T>
void copy_streaming(T* to, const T* from, std::int64_t count) {
  copy_streaming(to, from, count, [] {});
}

}  // namespace halocline::qcd::order::detail
