// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the hopping kernel reads tiled fields on a CPU.
///
/// The kernel processes a tile of V sites in V / W sub-packs of W lanes, where W is the number of lanes of a
/// register, at most V. The operators choose V = W (lattice::NeighboursByPrecision). A local neighbour is loaded and
/// projected in registers. A rotated neighbour is permuted while it is loaded. A halo slot holds half spinors that the
/// sender has projected. Rotated and halo neighbours are rare, so their code is kept out of line.
///
/// A link comes as 18 reals, or as the 12 reals of its first two rows. From these the third row is computed in
/// registers: u_2 = f conj(u_0 x u_1). A stored link is c e^(i theta) U with U in SU(3), because it includes the
/// hopping coefficient c and the boundary phase; so f = e^(3 i theta) / c. Where f is not one, it multiplies the
/// third row of the product. This happens at the edge of the lattice with a boundary phase, and with an anisotropic
/// action. Links of 12 reals need a third fewer bytes. They cost 24 multiply-adds a link, beside the 72 of the
/// product.
///
/// The kernel reads links in the order of its arithmetic and spinors from eight places. No hardware prefetcher
/// follows these, so the kernel prefetches into the second-level cache: one tile ahead, in a batch two columns ahead.
/// Of the neighbours it prefetches those along z and t; those along x and y were read a moment ago. On one core this
/// changes the speed by
///
///   | lattice | double              | float             |
///   |---------|---------------------|-------------------|
///   | 24^4    | 4.7 -> 8.9 Gflop/s  | 19 -> 24 Gflop/s  |
///   | 8^4     | 3 % faster          | 4 % slower        |
///
/// Prefetching two tiles ahead, into the first-level cache, or also along x and y is slower.
///
/// Links are held in registers (core/hold.hpp). Each number of a link is used four times, and the compiler would make
/// each use a memory operand. The instructions of one direction are then
///
///   loads             24 of spinors, 18 of links, 24 of sums
///   stores            24 of sums; 2 cycles each for a 512-bit register on the machine of docs/benchmarks
///   arithmetic        72 multiply-adds, 36 additions

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

/// One column of conj(u_0 x u_1), the conjugate cross product of two rows, from the entries of u_0 and u_1 in the other
/// two columns. In column 0 these are columns 1 and 2, as the arguments are called.
template <class Real>
HALOCLINE_INLINE Complex<Real> third_row(const Complex<Real>& u01, const Complex<Real>& u12, const Complex<Real>& u02,
                                         const Complex<Real>& u11) {
  // conj(u01 u12 - u02 u11): a product and three multiply-adds for each part. hold() fixes which product is rounded by
  // itself, because all places that compute the row must agree on its bits.
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

/// The arguments of one hop that all its tiles share.
template <class T, int V>
struct HopView {
  static constexpr int width = core::pack_lanes<T, V>;
  using Real = core::Number<T, width>;
  using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

  const T* in;     ///< spinor tiles of the source parity, [tile][column][24]
  const T* links;  ///< of the target parity, [tile][8][column][row][re, im]
  int columns;
  int link_reals;                   ///< 18, or 12
  const std::uint8_t* row_factors;  ///< [tile][8]: `which` factor the third row has; 0: none. Null for 18 reals
  const T* factors;                 ///< [8][which - 1][re, im][lane]
  /// Lane tables and halo of each direction.
  alignas(64) Index rotation[8][V];
  std::array<const T*, 8> received;                   ///< slots, [slot][column][12][lanes of a slot]
  std::array<const std::int32_t*, 8> received_lanes;  ///< the lanes of a tile that a slot fills
  std::array<int, 8> received_count;                  ///< lanes of a slot: V / T_mu
};

/// @tparam reals     18, or 12 with the third row computed
/// @tparam batch     for the loop over several columns. Their links are in the first-level cache, so loads do not
///                   prefetch
/// @tparam factored  for a tile of which third rows have a factor f. The others have a kernel without the branch, which
///                   made the compiler keep the rows of all products in memory.
template <class T, int V, int reals = 18, bool batch = false, bool factored = false>
struct TileAccessor {
  static constexpr int rows = reals / 6;
  using View = HopView<T, V>;
  using Real = typename View::Real;
  static constexpr int width = View::width;

  /// Prefetches the packs at `at` and `at + V` into the second-level cache, for reading.
  static HALOCLINE_INLINE void prefetch(const T* at) {
    __builtin_prefetch(at, 0, 2);
    __builtin_prefetch(at + V, 0, 2);
  }

  const View& view;
  const lattice::Neighbour* neighbours;
  const lattice::Neighbour* coming;  ///< of the tile to prefetch for: the next tile, or this tile for a later column
  const T* links;                    ///< of this tile, from this sub-pack on
  std::int64_t tile;
  int first_lane;  ///< of this sub-pack
  int column;
  int coming_column;  ///< the column to prefetch for
  T* far;             ///< buffer of this thread: a spinor tile whose lower two spins are zero

  /// The first number of a column of a source tile.
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

  /// True if a third row of this tile has a factor.
  HALOCLINE_INLINE bool has_factors() const {
    if (view.row_factors == nullptr) return false;
    std::uint64_t all;
    std::memcpy(&all, view.row_factors + 8 * tile, sizeof(all));
    return all != 0;
  }

  /// The accessor of such a tile.
  HALOCLINE_INLINE TileAccessor<T, V, reals, batch, true> with_factors() const {
    return {view, neighbours, coming, links, tile, first_lane, column, coming_column, far};
  }

  /// Multiplies the third row of the product by f, which the stored rows do not contain. The batch loop computes
  /// third rows beforehand, but multiplies by f here too, so that a column has the same bits as when it is computed
  /// alone.
  template <int d>
  HALOCLINE_INLINE void complete(Complex<Real> (&row)[2]) const
    requires factored
  {
    const int which = view.row_factors[8 * tile + d];
    if (which == 0) return;
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

  /// Projects a rotated or halo neighbour into the upper two spins of `far`. The lower two spins of `far` are zero,
  /// so projecting once more changes nothing, and the hot path needs no second form of its data.
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

  /// Loads this sub-pack from V numbers, with their lanes rotated by one for a step in direction d.
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
