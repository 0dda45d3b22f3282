// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the hopping kernel reads tiled fields on a CPU.
///
/// A tile of V sites goes through the kernel in V / W sub-packs of W lanes, W being what a register holds. A local
/// neighbour is loaded and projected in registers. A rotated one is permuted as it is loaded; a halo slot holds half
/// spinors that the sender projected already; both are the rare case and stand out of line.
///
/// Links come as 18 reals, or as the 12 of their first two rows, and the third row is computed from those in registers:
/// u_2 = f conj(u_0 x u_1). A stored link is c e^(i theta) U, U in SU(3), with the hopping coefficient and the boundary
/// phase in it, so f = e^(3 i theta) / c. Where f is not one, which is at the edge of the lattice or in an anisotropic
/// action, it multiplies the third row of the product. 24 multiply-adds a link more than the 72 of the product, and a
/// third of the bytes less.
///
/// The kernel reads links in the order of its arithmetic and spinors from eight places, which no hardware prefetcher
/// follows: where the fields outgrow the cache, it prefetches one tile ahead (in a batch two columns) into the second
/// level. Of the neighbours those along z and t are worth it; along x and y they were read a moment ago. At 24^4 this
/// is 4.7 -> 8.9 Gflop/s in double and 19 -> 24 in float on one core; at 8^4 it costs float 4 % and gains double 3 %.
/// Two tiles ahead, or into the first level, is slower; so is prefetching the neighbours along x and y as well.
///
/// Links are held in registers (core/hold.hpp): each number of a link has four uses, and the compiler would make each
/// an operand in memory. A direction then takes 24 loads of spinors, 18 of links and 24 of sums, and 24 stores of sums
/// (two cycles each of a 512-bit register on the machine of docs/benchmarks), beside 72 multiply-adds and 36 additions.

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "halocline/core/hold.hpp"
#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/site/hop.hpp"

namespace halocline::qcd::wilson {

inline constexpr int half_spinor_reals = 12;

/// Conjugate of the cross product of the rows u_0 and u_1 in one column, three entries of whose other columns are
/// given.
template <class Real>
HALOCLINE_INLINE Complex<Real> third_row(const Complex<Real>& u01, const Complex<Real>& u12, const Complex<Real>& u02,
                                         const Complex<Real>& u11) {
  // conj(u01 u12 - u02 u11), a product and three multiply-adds a part. Which product is rounded by itself is said, as
  // all places that compute the row must agree on its bits.
  Complex<Real> row{u01.re * u12.re, u02.re * u11.im};
  core::hold(row.re);
  core::hold(row.im);
  row.re -= u01.im * u12.im;
  row.re -= u02.re * u11.re;
  row.re += u02.im * u11.im;
  row.im += u02.im * u11.re;
  row.im -= u01.re * u12.im;
  row.im -= u01.im * u12.re;
  return row;
}

/// Everything about one hop that is the same for all tiles.
template <class T, int V>
struct HopView {
  static constexpr int width = V < core::native_lanes<T> ? V : core::native_lanes<T>;
  using Real = core::Number<T, width>;
  using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

  const T* in;     ///< spinor tiles of the source parity, [tile][column][24]
  const T* links;  ///< of the target parity, [tile][8][column][row][re, im]
  int columns;
  int link_reals;                   ///< 18, or 12
  const std::uint8_t* row_factors;  ///< [tile][8]: which factor the third row has, 0 for one; null for 18 reals
  const T* factors;                 ///< [8][which - 1][re, im][lane]
  /// Lane tables and halo of each direction.
  alignas(64) Index rotation[8][V];
  std::array<const T*, 8> received;                   ///< slots, [slot][column][12][lanes that travel]
  std::array<const std::int32_t*, 8> received_lanes;  ///< where they go
  std::array<int, 8> received_count;                  ///< how many a slot has: V / T_mu
};

/// @tparam reals  18, or 12 with the third row computed
/// @tparam batch       one of several columns: the links are in the first-level cache, and not prefetched with the
/// loads
template <class T, int V, int reals = 18, bool batch = false>
struct TileAccessor {
  static constexpr int rows = reals / 6;
  using View = HopView<T, V>;
  using Real = typename View::Real;
  static constexpr int width = View::width;

  /// Into the second-level cache, for reading.
  static HALOCLINE_INLINE void prefetch(const T* at) {
    __builtin_prefetch(at, 0, 2);
    __builtin_prefetch(at + V, 0, 2);
  }

  const View& view;
  const lattice::Neighbour* neighbours;
  const lattice::Neighbour* coming;  ///< of the tile to prefetch for: the next one, or this one for a later column
  const T* links;                    ///< of this tile, at this sub-pack
  std::int64_t tile;
  int first_lane;  ///< of this sub-pack
  int column;
  int coming_column;  ///< to prefetch for
  T* far;             ///< one spinor tile of this thread, zero in its lower two spins

  /// Where the column of a source tile begins.
  HALOCLINE_INLINE const T* source(std::int32_t of, int at_column) const {
    if constexpr (batch)
      return view.in + (std::int64_t(of) * view.columns + at_column) * (spinor_reals * V);
    else
      return view.in + std::int64_t(of) * (spinor_reals * V);
  }

  static HALOCLINE_INLINE Complex<Real> load(const T* spinor, int colour, int spin) {
    const T* at = spinor + 2 * (4 * colour + spin) * V;
    return {core::Lanes<Real>::load(at), core::Lanes<Real>::load(at + V)};
  }

  template <int d>
  HALOCLINE_INLINE Complex<Real> stored(int row, int link_column) const {
    const T* at = links + (d * reals + 2 * (rows * link_column + row)) * V;
    return {core::load_held<Real>(at), core::load_held<Real>(at + V)};
  }

  template <int d>
  HALOCLINE_INLINE Complex<Real> link(int row, int link_column) const {
    if (row == rows) {
      const int next = (link_column + 1) % 3, last = (link_column + 2) % 3;
      return third_row(stored<d>(0, next), stored<d>(1, last), stored<d>(0, last), stored<d>(1, next));
    }
    if constexpr (!batch) prefetch(links + (8 * reals + d * reals + 2 * (rows * link_column + row)) * V);
    return stored<d>(row, link_column);
  }

  /// The factor of the third row that the stored rows do not tell. In a batch as well, where the third rows were
  /// computed beforehand, so that its columns have the bits that they have alone.
  template <int d>
  HALOCLINE_INLINE void complete(Complex<Real> (&row)[2]) const {
    if constexpr (reals == 12 || batch) {
      const int which = batch && !view.row_factors ? 0 : view.row_factors[8 * tile + d];
      if (__builtin_expect(which != 0, 0)) {
        const T* at = view.factors + (d * 2 + which - 1) * (2 * V) + first_lane;
        const Complex<Real> factor{core::Lanes<Real>::load(at), core::Lanes<Real>::load(at + V)};
        for (int spin = 0; spin < 2; ++spin) {
          Complex<Real> product{factor.re * row[spin].re, factor.re * row[spin].im};
          core::hold(product.re);
          core::hold(product.im);
          product.re -= factor.im * row[spin].im;
          product.im += factor.im * row[spin].re;
          core::hold(product.re);
          core::hold(product.im);
          row[spin] = product;
        }
      }
    }
  }

  template <int d, int sign>
  HALOCLINE_INLINE HalfSpinor<Real> half() const {
    const lattice::Neighbour n = neighbours[d];
    const T* spinor = source(n.tile, column) + first_lane;
    if (__builtin_expect(n.slot != lattice::Neighbour::local, 0)) spinor = fetch_far<d, sign>(n);
    const T* ahead = source(coming[d].tile, coming_column) + first_lane;
    return project<d % 4, sign, Real>([&](int colour, int spin) {
      if constexpr (d % 4 >= 2) prefetch(ahead + 2 * (4 * colour + spin) * V);
      return load(spinor, colour, spin);
    });
  }

  /// Leaves the projected neighbour of a rotated or halo direction in the upper two spins of `far`, whose lower two
  /// are zero: projecting that once more changes nothing, and the hot path needs no second form of its data.
  template <int d, int sign>
  __attribute__((noinline)) const T* fetch_far(lattice::Neighbour n) const {
    const int count = view.received_count[d];
    T* to = far + first_lane;
    const auto place = [](int colour, int spin) { return 2 * (4 * colour + spin) * V; };
    if (n.slot >= 0 && count == V) {
      const T* slot = slot_of<d>(n.slot, V) + first_lane;
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 2; ++spin)
          for (int part = 0; part < 2; ++part)
            core::Lanes<Real>::store(to + place(colour, spin) + part * V,
                                     core::Lanes<Real>::load(slot + (2 * (2 * colour + spin) + part) * V));
      return to;
    }
    const T* spinor = source(n.tile, column);
    const HalfSpinor<Real> h = project<d % 4, sign, Real>([&](int colour, int spin) {
      const T* at = spinor + place(colour, spin);
      return Complex<Real>{load_rotated<d>(at), load_rotated<d>(at + V)};
    });
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 2; ++spin) {
        core::Lanes<Real>::store(to + place(colour, spin), h.at[colour][spin].re);
        core::Lanes<Real>::store(to + place(colour, spin) + V, h.at[colour][spin].im);
      }
    if (n.slot < 0) return to;
    const T* slot = slot_of<d>(n.slot, count);
    for (int i = 0; i < count; ++i) {
      const int lane = view.received_lanes[d][i];
      if (lane < first_lane || lane >= first_lane + width) continue;
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 2; ++spin)
          for (int part = 0; part < 2; ++part)
            far[place(colour, spin) + part * V + lane] = slot[(2 * (2 * colour + spin) + part) * count + i];
    }
    return to;
  }

  template <int d>
  const T* slot_of(std::int32_t slot, int count) const {
    return view.received[d] + (std::int64_t(slot) * view.columns + column) * (half_spinor_reals * count);
  }

  /// The sub-pack of V numbers whose lanes are rotated along the axis of direction d.
  template <int d>
  HALOCLINE_INLINE Real load_rotated(const T* numbers) const {
    if constexpr (V == 1) {
      return *numbers;
    } else if constexpr (V == width || V == 2 * width) {
      typename Real::Mask table;
      std::memcpy(&table, view.rotation[d] + first_lane, sizeof(table));
      if constexpr (V == width)
        return core::permute(Real::load(numbers), table);
      else
        return core::permute(Real::load(numbers), Real::load(numbers + width), table);
    } else {
      alignas(64) T lane[width];
      for (int i = 0; i < width; ++i) lane[i] = numbers[view.rotation[d][first_lane + i]];
      return core::Lanes<Real>::load(lane);
    }
  }
};

}  // namespace halocline::qcd::wilson
