// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Definition of hop_tiles, for the files that instantiate it (hop_tiles_float.cpp and hop_tiles_double.cpp).

#include <algorithm>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/dirac/fifth_kernel.hpp"
#include "halocline/qcd/site/clover_block.hpp"
#include "halocline/qcd/wilson/detail/hop_tiles.hpp"

namespace halocline::qcd::wilson {
namespace detail {

template <class T, int V>
HALOCLINE_INLINE auto load_spinor(const T* at) {
  using Real = typename HopView<T, V>::Real;
  Spinor<Real> psi;
#pragma GCC unroll 3
  for (int colour = 0; colour < 3; ++colour)
#pragma GCC unroll 4
    for (int spin = 0; spin < 4; ++spin) psi.at[colour][spin] = TileAccessor<T, V>::load(at, colour, spin);
  return psi;
}

template <class T, int V, class Real>
__attribute__((noinline)) void multiply_in_memory(Spinor<Real>& psi, const SiteTerm<T>& term, std::int64_t place) {
  if (term.full != nullptr) {
    psi = apply_full<V>(term, place, psi);
    return;
  }
  if (term.first != nullptr) {
    const T* block = term.first + place;
    psi = clover::multiply_block<Real>([&](int i) { return core::load_held<Real>(block + i * V); }, psi);
  }
  if (term.twisted()) psi = apply_twist(term, place, V, psi);
}

/// Multiplies a copy of psi. A spinor whose address is taken is kept in memory as well as in registers, and the sums of
/// a hop are too many to be stored twice.
template <class T, int V, class Real>
HALOCLINE_INLINE Spinor<Real> multiplied_by(const SiteTerm<T>& term, const Spinor<Real>& psi, std::int64_t place) {
  Spinor<Real> copy = psi;
  multiply_in_memory<T, V>(copy, term, place);
  return copy;
}

/// out = hop_scale [B] sum + add_scale [A] add, for one sub-pack of one column.
/// @param spinor       offset of the spinor in out and add;  @param block  offset of the blocks
/// @param past_caches  store past the caches, if nothing is added
template <class T, int V, class Real>
HALOCLINE_INLINE void finish(T* out, Spinor<Real> sum, const HopTerms<T>& terms, std::int64_t spinor,
                             std::int64_t block, bool past_caches) {
  if (terms.hop_term) sum = multiplied_by<T, V>(*terms.hop_term, sum, block);
  const Real hop_scale(terms.hop_scale);
  T* to = out + spinor;
  if (terms.add) {
    Spinor<Real> add = load_spinor<T, V>(terms.add + spinor);
    if (terms.add_term) add = multiplied_by<T, V>(*terms.add_term, add, block);
    const Real add_scale(terms.add_scale);
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        T* at = to + 2 * (4 * colour + spin) * V;
        const auto& s = sum.at[colour][spin];
        const auto& a = add.at[colour][spin];
        core::Lanes<Real>::store(at, hop_scale * s.re + add_scale * a.re);
        core::Lanes<Real>::store(at + V, hop_scale * s.im + add_scale * a.im);
      }
  } else if (past_caches) {
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        T* at = to + 2 * (4 * colour + spin) * V;
        core::stream(at, hop_scale * sum.at[colour][spin].re);
        core::stream(at + V, hop_scale * sum.at[colour][spin].im);
      }
  } else {
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        T* at = to + 2 * (4 * colour + spin) * V;
        core::Lanes<Real>::store(at, hop_scale * sum.at[colour][spin].re);
        core::Lanes<Real>::store(at + V, hop_scale * sum.at[colour][spin].im);
      }
  }
}

template <class T, int width, class Real>
HALOCLINE_INLINE void store_packed(T* to, const Spinor<Real>& sum) {
  for (int colour = 0; colour < 3; ++colour)
    for (int spin = 0; spin < 4; ++spin) {
      T* at = to + 2 * (4 * colour + spin) * width;
      core::Lanes<Real>::store(at, sum.at[colour][spin].re);
      core::Lanes<Real>::store(at + width, sum.at[colour][spin].im);
    }
}

/// The hop at a tile of which third rows have factors: few tiles, so out of line, and the sum comes through memory.
template <bool dagger, class T, int width, class Accessor>
__attribute__((noinline)) void hop_with_factors(T* to, const Accessor& accessor) {
  Spinor<typename Accessor::Real> sum;
  hop<dagger>(sum, accessor);
  store_packed<T, width>(to, sum);
}

/// How finish_columns() writes the two reals of a result: to the caches, or past them.
template <class T, class Real, int stride, bool streams>
struct FifthResult {
  T* to;
  HALOCLINE_INLINE void operator()(std::int64_t s, int real, const Real& re, const Real& im) const {
    T* at = to + (s * spinor_reals + real) * stride;
    if constexpr (streams) {
      core::stream(at, re);
      core::stream(at + stride, im);
    } else {
      core::Lanes<Real>::store(at, re);
      core::Lanes<Real>::store(at + stride, im);
    }
  }
};

/// out = hop_scale [B] sum + add_scale [A] add for all columns of one right-hand side and a sub-pack, where A and B
/// connect columns or are absent.
/// @param sums   [column][24] packs;  @param added  the same, for work with both terms
/// @param place  offset of the first column in out and add
template <class T, int V, class Real, bool streams>
void finish_columns(T* out, const T* sums, T* added, const HopTerms<T>& terms, std::int64_t place) {
  constexpr int width = HopView<T, V>::width;
  const FifthTerm<T>* b = terms.hop_term != nullptr ? terms.hop_term->fifth : nullptr;
  const FifthTerm<T>* a = terms.add_term != nullptr ? terms.add_term->fifth : nullptr;
  const Real hop_scale(terms.hop_scale), add_scale(terms.add_scale);
  const FifthLoad<T, Real, width> load_sum{sums};
  const FifthLoad<T, Real, V> load_add{terms.add != nullptr ? terms.add + place : nullptr};
  const FifthResult<T, Real, V, streams> store{out + place};
  if (a != nullptr && b != nullptr) {
    const FifthStore<T, Real, width> keep{added};
    const FifthLoad<T, Real, width> load_added{added};
    apply_fifth<Real>(*a, load_add, [=](int s, int real, const Real(&x)[2]) {
      const Real scaled[2] = {add_scale * x[0], add_scale * x[1]};
      keep(s, real, scaled);
    });
    apply_fifth<Real>(*b, load_sum, [=](int s, int real, const Real(&x)[2]) {
      Real plus[2];
      load_added(plus, s, real);
      store(s, real, hop_scale * x[0] + plus[0], hop_scale * x[1] + plus[1]);
    });
  } else if (a != nullptr) {
    apply_fifth<Real>(*a, load_add, [=](int s, int real, const Real(&x)[2]) {
      Real hop[2];
      load_sum(hop, s, real);
      store(s, real, hop_scale * hop[0] + add_scale * x[0], hop_scale * hop[1] + add_scale * x[1]);
    });
  } else if (terms.add != nullptr) {
    apply_fifth<Real>(*b, load_sum, [=](int s, int real, const Real(&x)[2]) {
      Real plus[2];
      load_add(plus, s, real);
      store(s, real, hop_scale * x[0] + add_scale * plus[0], hop_scale * x[1] + add_scale * plus[1]);
    });
  } else {
    apply_fifth<Real>(*b, load_sum,
                      [=](int s, int real, const Real(&x)[2]) { store(s, real, hop_scale * x[0], hop_scale * x[1]); });
  }
}

/// The same where A and B connect the flavours of a doublet or are absent. @param block  offset of the blocks
template <class T, int V, class Real>
void finish_doublets(T* out, const T* sums, int columns, const HopTerms<T>& terms, std::int64_t place,
                     std::int64_t block, bool past_caches) {
  constexpr int width = HopView<T, V>::width;
  const HopTerms<T> sum_alone{.hop_scale = 1};
  const HopTerms<T> scaled{.hop_scale = terms.hop_scale, .add = nullptr};
  for (int first = 0; first < columns; first += 2) {
    Spinor<Real> sum[2], add[2];
    for (int flavour = 0; flavour < 2; ++flavour)
      sum[flavour] = load_spinor<T, width>(sums + (first + flavour) * (spinor_reals * width));
    if (terms.hop_term != nullptr) apply_doublet<V>(*terms.hop_term, block, sum);
    if (terms.add == nullptr) {
      for (int flavour = 0; flavour < 2; ++flavour)
        finish<T, V>(out, sum[flavour], scaled, place + (first + flavour) * (spinor_reals * V), block, past_caches);
      continue;
    }
    for (int flavour = 0; flavour < 2; ++flavour)
      add[flavour] = load_spinor<T, V>(terms.add + place + (first + flavour) * (spinor_reals * V));
    if (terms.add_term != nullptr) apply_doublet<V>(*terms.add_term, block, add);
    const Real hop_scale(terms.hop_scale), add_scale(terms.add_scale);
    for (int flavour = 0; flavour < 2; ++flavour) {
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 4; ++spin) {
          auto& s = sum[flavour].at[colour][spin];
          const auto& a = add[flavour].at[colour][spin];
          s.re = hop_scale * s.re + add_scale * a.re;
          s.im = hop_scale * s.im + add_scale * a.im;
        }
      finish<T, V>(out, sum[flavour], sum_alone, place + (first + flavour) * (spinor_reals * V), block, false);
    }
  }
}

/// Expands the links of a tile from 12 to 18 reals. TileAccessor::complete() applies the factors of the third rows
/// later.
template <class T, int V>
void complete_links(T* whole, const HopView<T, V>& view, std::int64_t tile) {
  using View = HopView<T, V>;
  using Real = typename View::Real;
  using L = core::Lanes<Real>;
  for (int d = 0; d < 8; ++d)
    for (int lane = 0; lane < V; lane += View::width) {
      const T* from = view.links + (tile * 8 + d) * (12 * V) + lane;
      T* to = whole + d * (18 * V) + lane;
      Complex<Real> u[2][3];
      for (int column = 0; column < 3; ++column)
        for (int row = 0; row < 2; ++row) {
          const T* at = from + 2 * (2 * column + row) * V;
          u[row][column] = {L::load(at), L::load(at + V)};
        }
      for (int column = 0; column < 3; ++column) {
        const int next = (column + 1) % 3, last = (column + 2) % 3;
        const Complex<Real> third = third_row(u[0][next], u[1][last], u[0][last], u[1][next]);
        for (int row = 0; row < 3; ++row) {
          const Complex<Real>& value = row < 2 ? u[row][column] : third;
          T* at = to + 2 * (3 * column + row) * V;
          L::store(at, value.re);
          L::store(at + V, value.im);
        }
      }
    }
}

/// The loop for one column.
template <class T, int V, int reals, bool dagger>
void hop_single(T* out, const HopView<T, V>& view, const lattice::Neighbours& neighbours, int parity,
                std::span<const std::int32_t> tiles, const HopTerms<T>& terms, bool past_caches) {
  using View = HopView<T, V>;
  const auto count = static_cast<std::int64_t>(tiles.size());
#pragma omp parallel
  {
    alignas(64) T far[spinor_reals * V] = {};
    alignas(64) T edge[spinor_reals * View::width];
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t tile = tiles[i];
      const lattice::Neighbour* near = neighbours.of(parity, tile);
      const lattice::Neighbour* coming = neighbours.of(parity, tiles[std::min(i + 1, count - 1)]);
      for (int lane = 0; lane < V; lane += View::width) {
        const TileAccessor<T, V, reals> accessor{
            view, near, coming, view.links + tile * (8 * reals * V) + lane, tile, lane, 0, 0, far};
        Spinor<typename View::Real> sum;
        if (reals == 12 && __builtin_expect(accessor.has_factors(), 0)) {
          hop_with_factors<dagger, T, View::width>(edge, accessor.with_factors());
          sum = load_spinor<T, View::width>(edge);
        } else {
          hop<dagger>(sum, accessor);
        }
        finish<T, V>(out, sum, terms, tile * (spinor_reals * V) + lane, tile * (clover::block_reals * V) + lane,
                     past_caches);
      }
    }
    if (past_caches) core::fence_streams();
  }
}

/// How many columns a pass over the tiles takes: the links are read once in a pass, and the more columns it has, the
/// fewer neighbours are still in the caches when the next tile needs them.
inline int columns_of_pass(int columns, int extent) {
  constexpr int most = 24;
  return std::min(columns, std::max(1, most / extent) * extent);
}

/// The columns of one pass over the tiles, and how many of them belong to one right-hand side.
struct ColumnRange {
  int begin, end, extent;
};

/// The loop for several columns.
template <class T, int V, bool dagger>
void hop_batch(T* out, const HopView<T, V>& view, const lattice::Neighbours& neighbours, int parity,
               std::span<const std::int32_t> tiles, const HopTerms<T>& terms, const ColumnRange& range,
               bool past_caches) {
  using View = HopView<T, V>;
  const auto count = static_cast<std::int64_t>(tiles.size());
  const int columns = view.columns, pass = range.end - range.begin;
  const int stored = 8 * view.link_reals;
  const bool mixed = terms.mixes_columns();
  const bool doublets =
      (terms.hop_term != nullptr && terms.hop_term->doublet) || (terms.add_term != nullptr && terms.add_term->doublet);
#pragma omp parallel
  {
    alignas(64) T far[spinor_reals * V] = {};
    alignas(64) T edge[spinor_reals * View::width];
    core::AlignedArray<T> sums, added;
    if (mixed) sums = core::AlignedArray<T>(range.extent * spinor_reals * View::width);
    if (mixed && !doublets && terms.hop_term != nullptr && terms.add_term != nullptr)
      added = core::AlignedArray<T>(range.extent * spinor_reals * View::width);
    alignas(64) T whole[8 * 18 * V];
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t tile = tiles[i];
      const std::int64_t next = tiles[std::min(i + 1, count - 1)];
      const lattice::Neighbour* near = neighbours.of(parity, tile);
      const lattice::Neighbour* coming = neighbours.of(parity, next);
      const T* links = view.links + tile * (stored * V);
      if (view.link_reals == 12) {
        complete_links<T, V>(whole, view, tile);
        links = whole;
      }
      const T* next_links = view.links + next * (stored * V);
      for (int lane = 0; lane < V; lane += View::width) {
        for (int column = range.begin; column < range.end; ++column) {
          const int number = column - range.begin;
          for (int real = stored * number / pass; real < stored * (number + 1) / pass; ++real)
            __builtin_prefetch(next_links + real * V + lane, 0, 2);
          // Prefetch two columns ahead: one is a little late where spinors come from memory.
          const bool over = column + 2 >= range.end;
          const int ahead = over ? std::min(column + 2 - pass, range.end - 1) : column + 2;
          const TileAccessor<T, V, 18, true> accessor{
              view, near, over ? coming : near, links + lane, tile, lane, column, ahead, far};
          Spinor<typename View::Real> sum;
          if (__builtin_expect(accessor.has_factors(), 0)) {
            hop_with_factors<dagger, T, View::width>(edge, accessor.with_factors());
            sum = load_spinor<T, View::width>(edge);
          } else {
            hop<dagger>(sum, accessor);
          }
          // The terms below read the columns of `add` in pieces, which no prefetcher of the processor follows.
          if (mixed && terms.add != nullptr)
            for (int real = 0; real < spinor_reals; ++real)
              __builtin_prefetch(terms.add + (tile * columns + column) * (spinor_reals * V) + real * V + lane, 0, 2);
          if (!mixed) {
            finish<T, V>(out, sum, terms, (tile * columns + column) * (spinor_reals * V) + lane,
                         tile * (clover::block_reals * V) + lane, past_caches);
            continue;
          }
          const int point = number % range.extent;
          store_packed<T, View::width>(sums.data() + point * (spinor_reals * View::width), sum);
          if (point + 1 < range.extent) continue;
          // All columns of a right-hand side are there, and still in the first-level cache.
          const std::int64_t place = (tile * columns + column - point) * (spinor_reals * V) + lane;
          if (doublets)
            finish_doublets<T, V, typename View::Real>(out, sums.data(), range.extent, terms, place,
                                                       tile * (clover::block_reals * V) + lane, past_caches);
          else if (past_caches && terms.add != out)
            finish_columns<T, V, typename View::Real, true>(out, sums.data(), added.data(), terms, place);
          else
            finish_columns<T, V, typename View::Real, false>(out, sums.data(), added.data(), terms, place);
        }
      }
    }
    if (past_caches) core::fence_streams();
  }
}

}  // namespace detail

template <class T, int V>
void hop_tiles(T* out, const HopView<T, V>& view, const lattice::Neighbours& neighbours, int parity, bool dagger,
               std::span<const std::int32_t> tiles, const HopTerms<T>& terms) {
  // A result that outgrows the caches is stored past them. Otherwise its lines would be read only to be overwritten.
  const auto bytes = static_cast<std::int64_t>(tiles.size()) * view.columns * (spinor_reals * V) *
                     static_cast<std::int64_t>(sizeof(T));
  const bool past_caches = bytes > std::int64_t{8} << 20;
  const auto run = [&]<bool with_dagger> {
    // With one lane, numbers are plain scalars, and the compiler chooses loop by loop which product it rounds by
    // itself. Then one loop serves any number of columns, so that a column always has the same bits.
    if (V == 1 || view.columns > 1) {
      const int extent = terms.extent(), pass = detail::columns_of_pass(view.columns, extent);
      for (int begin = 0; begin < view.columns; begin += pass)
        detail::hop_batch<T, V, with_dagger>(out, view, neighbours, parity, tiles, terms,
                                             {begin, std::min(begin + pass, view.columns), extent}, past_caches);
    } else if constexpr (V > 1) {
      if (view.link_reals == 12)
        detail::hop_single<T, V, 12, with_dagger>(out, view, neighbours, parity, tiles, terms, past_caches);
      else
        detail::hop_single<T, V, 18, with_dagger>(out, view, neighbours, parity, tiles, terms, past_caches);
    }
  };
  if (dagger)
    run.template operator()<true>();
  else
    run.template operator()<false>();
}

}  // namespace halocline::qcd::wilson
