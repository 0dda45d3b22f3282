// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Definition of hop_tiles, for the files that instantiate it (hop_tiles_float.cpp and hop_tiles_double.cpp).

#include <algorithm>
#include <cstring>

#include "halocline/qcd/field/su3.hpp"
#include "halocline/qcd/staggered/detail/hop_tiles.hpp"

namespace halocline::qcd::staggered {
namespace detail {

/// Columns whose sums, and one colour of whose vectors, fit into the registers beside an element of a link: 8 packs for
/// each column. With one lane the compiler decides how products are rounded, loop by loop; then one loop must serve all
/// columns, so that they have the same bits.
template <class T, int V>
inline constexpr int group_columns = V == 1                            ? 1
                                     : core::native_lanes<double> == 8 ? 3
                                                                       : 1;

/// Copies V numbers, lane i from lane rotation[i].
template <class T, int V>
HALOCLINE_INLINE void rotate(T* to, const T* from, const typename HopView<T, V>::Index* rotation) {
  using Real = typename HopView<T, V>::Real;
  constexpr int width = HopView<T, V>::width;
  if constexpr (V == width && V > 1) {
    typename Real::Mask table;
    std::memcpy(&table, rotation, sizeof(table));
    core::permute(Real::load(from), table).store(to);
  } else if constexpr (V == 2 * width && width > 1) {
    const Real low = Real::load(from), high = Real::load(from + width);
    for (int half = 0; half < V; half += width) {
      typename Real::Mask table;
      std::memcpy(&table, rotation + half, sizeof(table));
      core::permute(low, high, table).store(to + half);
    }
  } else {
    for (int lane = 0; lane < V; ++lane) to[lane] = from[rotation[lane]];
  }
}

/// The vectors of one column at a neighbour over an edge of the box, written into `to`, [6][lane].
template <class T, int V>
__attribute__((noinline)) void fetch(T* to, const HopView<T, V>& view, lattice::Neighbour n, int d, int column) {
  const int count = view.received_count[d];
  const T* slot = n.slot >= 0 ? view.received[d] + (std::int64_t{n.slot} * view.columns + column) *
                                                       (staggered_reals * std::int64_t{count})
                              : nullptr;
  if (slot != nullptr && count == V) {
    std::copy_n(slot, staggered_reals * V, to);
    return;
  }
  const T* from = view.in + (std::int64_t{n.tile} * view.columns + column) * (staggered_reals * V);
  HALOCLINE_UNROLLED(6)
  for (int r = 0; r < staggered_reals; ++r) rotate<T, V>(to + r * V, from + r * V, view.rotation[d]);
  if (slot == nullptr) return;
  for (int r = 0; r < staggered_reals; ++r)
    for (int i = 0; i < count; ++i) to[r * V + view.received_lanes[d][i]] = slot[r * count + i];
}

/// One target tile.
template <class T, int V>
struct Target {
  const lattice::Neighbour* near;
  const lattice::Neighbour* far;
  const T* links;       ///< [step][column][row][re, im][lane]
  const T* next_links;  ///< of the tile that comes next
  std::int64_t tile;
};

/// The hop of `group` columns from `first` on, for one tile.
template <class T, int V, int steps, int group>
HALOCLINE_INLINE void hop_group(T* out, const HopView<T, V>& view, const Target<T, V>& at, int first, bool prefetch,
                                const HopTerms<T>& terms, bool past_caches, T* work) {
  using View = HopView<T, V>;
  using Real = typename View::Real;
  using L = core::Lanes<Real>;
  // The packs of a tile are independent; with two of them the addresses are computed once.
  const T* source[steps][group];
  for (int step = 0; step < steps; ++step) {
    const int d = step % 8;
    const lattice::Neighbour n = (step < 8 ? at.near : at.far)[d];
    for (int g = 0; g < group; ++g) {
      source[step][g] = view.in + (std::int64_t{n.tile} * view.columns + first + g) * (staggered_reals * V);
      if (__builtin_expect(n.slot != lattice::Neighbour::local, 0)) {
        T* copy = work + (step * group + g) * (staggered_reals * V);
        fetch<T, V>(copy, view, n, d, first + g);
        source[step][g] = copy;
      }
    }
  }
  for (int lane = 0; lane < V; lane += View::width) {
    Complex<Real> sum[group][colours];
    HALOCLINE_UNROLLED(3)
    for (int g = 0; g < group; ++g) HALOCLINE_UNROLLED(3)
    for (int row = 0; row < colours; ++row) sum[g][row] = {Real(T(0)), Real(T(0))};
    for (int step = 0; step < steps; ++step) {
      const T* link = at.links + step * (link_reals * V) + lane;
      if (prefetch) {
        const T* next = at.next_links + step * (link_reals * V) + lane;
        HALOCLINE_UNROLLED(18)
        for (int real = 0; real < link_reals; ++real) __builtin_prefetch(next + real * V, 0, 2);
      }
      HALOCLINE_UNROLLED(3)
      for (int column = 0; column < colours; ++column) {
        Complex<Real> v[group];
        HALOCLINE_UNROLLED(3)
        for (int g = 0; g < group; ++g) {
          const T* from = source[step][g] + 2 * column * V + lane;
          v[g] = {core::load_held<Real>(from), core::load_held<Real>(from + V)};
        }
        HALOCLINE_UNROLLED(3)
        for (int row = 0; row < colours; ++row) {
          const T* element = link + 2 * (colours * column + row) * V;
          const Complex<Real> u{core::load_held<Real>(element), core::load_held<Real>(element + V)};
          HALOCLINE_UNROLLED(3)
          for (int g = 0; g < group; ++g) core::multiply_add(sum[g][row], u, v[g]);
        }
      }
    }
    const Real hop_scale(terms.hop_scale), add_scale(terms.add_scale);
    // Sums that a loop indexes would be kept in memory.
    HALOCLINE_UNROLLED(3)
    for (int g = 0; g < group; ++g) HALOCLINE_UNROLLED(3)
    for (int row = 0; row < colours; ++row) {
      const std::int64_t place = (at.tile * view.columns + first + g) * (staggered_reals * V) + 2 * row * V + lane;
      Complex<Real> result;
      if (terms.add != nullptr) {
        result = {add_scale * L::load(terms.add + place), add_scale * L::load(terms.add + place + V)};
        core::hold(result.re);
        core::hold(result.im);
        result.re += hop_scale * sum[g][row].re;
        result.im += hop_scale * sum[g][row].im;
      } else {
        result = {hop_scale * sum[g][row].re, hop_scale * sum[g][row].im};
      }
      if (past_caches) {
        core::stream(out + place, result.re);
        core::stream(out + place + V, result.im);
      } else {
        L::store(out + place, result.re);
        L::store(out + place + V, result.im);
      }
    }
  }
}

template <class T, int V, int steps>
void hop_all(T* out, const HopView<T, V>& view, const lattice::Neighbours& neighbours, int parity,
             std::span<const std::int32_t> tiles, const HopTerms<T>& terms, bool past_caches) {
  constexpr int group = group_columns<T, V>;
  const auto count = static_cast<std::int64_t>(tiles.size());
  constexpr std::int64_t stride = std::int64_t{steps} * link_reals * V;
#pragma omp parallel
  {
    alignas(64) T work[steps * group * staggered_reals * V];
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t tile = tiles[i], next = tiles[std::min(i + 1, count - 1)];
      const Target<T, V> at{neighbours.near(parity, tile), neighbours.of(parity, tile), view.links + tile * stride,
                            view.links + next * stride, tile};
      int column = 0;
      for (; column + group <= view.columns; column += group)
        hop_group<T, V, steps, group>(out, view, at, column, column == 0, terms, past_caches, work);
      if constexpr (group > 1) {
        if (view.columns - column == 2) {
          hop_group<T, V, steps, 2>(out, view, at, column, column == 0, terms, past_caches, work);
          column += 2;
        }
        if (column < view.columns)
          hop_group<T, V, steps, 1>(out, view, at, column, column == 0, terms, past_caches, work);
      }
    }
    if (past_caches) core::fence_streams();
  }
}

}  // namespace detail

template <class T, int V>
void hop_tiles(T* out, const HopView<T, V>& view, const lattice::Neighbours& neighbours, int parity,
               std::span<const std::int32_t> tiles, const HopTerms<T>& terms) {
  // A result that outgrows the caches is stored past them, so that its lines are not read to be overwritten.
  const auto bytes = static_cast<std::int64_t>(tiles.size()) * view.columns * (staggered_reals * V) *
                     static_cast<std::int64_t>(sizeof(T));
  const bool past_caches = terms.add == nullptr && bytes > std::int64_t{8} << 20;
  if (neighbours.reach() == 1)
    detail::hop_all<T, V, 8>(out, view, neighbours, parity, tiles, terms, past_caches);
  else
    detail::hop_all<T, V, 16>(out, view, neighbours, parity, tiles, terms, past_caches);
}

}  // namespace halocline::qcd::staggered
