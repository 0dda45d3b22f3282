// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The hopping term of domain_hop.hpp in an order for CPUs with long latencies, such as A64FX.
///
/// A chain of multiply-adds in the product with a link has six, each of which waits for the one before: 54 cycles on
/// A64FX. Two pipelines need 18 chains at a time. domain_hop.hpp has six chains a direction, and its adds to the 18
/// sums between them: too few reach the window in which the CPU looks for work. Here a direction has twelve chains,
/// those of both upper spins, which leave no registers for sums. So the products of all directions go to a buffer in
/// the first-level cache first, and a second part adds them up, all 24 sums in registers.
///
/// Every number is computed by the same operations as in domain_hop.hpp, and spins 0, 1 and 3 in the same order: there
/// the bits agree. Spin 2 is summed over x, y, z, t here, and over z, t, x, y there.
///
/// Flops and reals from beyond the first-level cache as there; a direction stores 12 numbers more there and loads them
/// once, and loads its link once instead of twice.

#include "halocline/core/hold.hpp"
#include "halocline/qcd/schwarz/detail/domain_hop.hpp"

namespace halocline::qcd::schwarz {

/// `count` consecutive packs in memory, addressed from a register for every 16. An address of an SVE load reaches 8
/// packs below a register and 7 above; where all are addressed from the first, most loads take an addition of their
/// own.
template <class S, class Real, int count>
struct NearPacks {
  static constexpr int V = core::Lanes<Real>::count;
  static constexpr int registers = (count + 15) / 16;
  using Memory = core::Stored<S, Real>;
  S* middle[registers];

  explicit HALOCLINE_INLINE NearPacks(S* first) {
#pragma GCC unroll 8
    for (int i = 0; i < registers; ++i) {
      middle[i] = first + (16 * i + 8) * V;
      core::hold_address(middle[i]);
    }
  }
  HALOCLINE_INLINE Real load(int pack) const { return Memory::load(middle[pack / 16] + (pack % 16 - 8) * V); }
  HALOCLINE_INLINE Complex<Real> pair(int number) const { return {load(2 * number), load(2 * number + 1)}; }
  HALOCLINE_INLINE void store(int pack, const Real& value) const {
    Memory::store(middle[pack / 16] + (pack % 16 - 8) * V, value);
  }
};
template <class S, class Real, int count>
struct NearPacks<const S, Real, count> : NearPacks<S, Real, count> {
  explicit HALOCLINE_INLINE NearPacks(const S* first) : NearPacks<S, Real, count>(const_cast<S*>(first)) {}
};

/// @tparam S, Real  as for TileHop; links of three rows
template <class S, class Real>
struct StagedHop {
  static constexpr int V = core::Lanes<Real>::count;
  using Plain = TileHop<S, Real, 3>;
  using C = Complex<Real>;
  using Memory = core::Stored<S, Real>;
  using L = core::Lanes<Real>;
  using Sum = typename L::Scalar;

  const Plain plain;

  /// The product of direction d, [colour][spin][re, im], for the two upper spins.
  template <int d, bool own, bool through_faces>
  HALOCLINE_INLINE bool multiply(Sum* product) const {
    constexpr int mu = d % 4;
    constexpr int sign = d < 4 ? -1 : 1;
    constexpr int turn = sign > 0 ? 0 : 2;
    const lattice::DomainNeighbour n = plain.neighbours[d];
    const bool edge = n.slot != lattice::DomainNeighbour::inside;
    const bool inside = own && (!edge || plain.lanes.face_lanes[mu] < V);
    const bool face = through_faces && edge && ((plain.view.faces >> d) & 1u) != 0;
    if (!inside && !face) return false;
    C h[2][3];
    if (inside) {
      const NearPacks<const S, Real, spinor_numbers> psi(plain.view.spinor + n.tile * plain.view.spinor_tile);
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) {
        h[0][colour] =
            psi.pair(4 * colour) + times_i_to<gamma[mu].power[0] + turn>(psi.pair(4 * colour + gamma[mu].column[0]));
        h[1][colour] = psi.pair(4 * colour + 1) +
                       times_i_to<gamma[mu].power[1] + turn>(psi.pair(4 * colour + gamma[mu].column[1]));
      }
    } else {
      Plain::clear(h[0]);
      Plain::clear(h[1]);
    }
    if constexpr (d < 4) {
      if (inside && edge) move<d>(h);
      if (face) take_face<d>(h);
    }
    C chi[2][3];
    if (d < 4 || inside) {
      const NearPacks<const S, Real, 18> u(plain.view.links + ((d < 4 ? plain.tile : n.tile) * 4 + mu) * (18 * V));
      // chi = U h or U^dagger h, in rounds of twelve numbers.
#pragma GCC unroll 3
      for (int column = 0; column < 3; ++column) {
#pragma GCC unroll 3
        for (int row = 0; row < 3; ++row)
          add_real(chi, h, row, column, u.load(2 * (d < 4 ? 3 * row + column : 3 * column + row)));
#pragma GCC unroll 3
        for (int row = 0; row < 3; ++row)
          add_imaginary<(d < 4)>(chi, h, row, column, u.load(2 * (d < 4 ? 3 * row + column : 3 * column + row) + 1));
      }
    } else {
      Plain::clear(chi[0]);
      Plain::clear(chi[1]);
    }
    if constexpr (d >= 4) {
      if (inside && edge) move<d>(chi);
      if (face) take_face<d>(chi);
    }
    const NearPacks<Sum, Real, half_numbers> to(product);
#pragma GCC unroll 3
    for (int colour = 0; colour < 3; ++colour)
#pragma GCC unroll 2
      for (int s = 0; s < 2; ++s) {
        to.store(4 * colour + 2 * s, chi[s][colour].re);
        to.store(4 * colour + 2 * s + 1, chi[s][colour].im);
      }
    return true;
  }

  /// Products with the real part of a column of the link. Those of the first column are rounded by themselves, as g++
  /// rounds the first one of a sum of two products.
  static HALOCLINE_INLINE void add_real(C (&chi)[2][3], const C (&h)[2][3], int row, int column, const Real& re) {
#pragma GCC unroll 2
    for (int s = 0; s < 2; ++s) {
      if (column == 0) {
        chi[s][row].re = re * h[s][0].re;
        chi[s][row].im = re * h[s][0].im;
        core::hold(chi[s][row].re);
        core::hold(chi[s][row].im);
      } else {
        chi[s][row].re += re * h[s][column].re;
        chi[s][row].im += re * h[s][column].im;
      }
    }
  }
  template <bool up>
  static HALOCLINE_INLINE void add_imaginary(C (&chi)[2][3], const C (&h)[2][3], int row, int column, const Real& im) {
#pragma GCC unroll 2
    for (int s = 0; s < 2; ++s) {
      if constexpr (up) {
        chi[s][row].re -= im * h[s][column].im;
        chi[s][row].im += im * h[s][column].re;
      } else {
        chi[s][row].re += im * h[s][column].im;
        chi[s][row].im -= im * h[s][column].re;
      }
    }
  }

  template <int d>
  HALOCLINE_INLINE void move(C (&h)[2][3]) const {
    plain.template move<d>(h[0]);
    plain.template move<d>(h[1]);
  }
  template <int d>
  HALOCLINE_INLINE void take_face(C (&h)[2][3]) const {
    plain.template take_face<d, 0>(h[0]);
    plain.template take_face<d, 1>(h[1]);
  }

  /// Adds the product of direction d to the sums, as TileHop::add, or with `first` makes it the sums.
  template <int d, bool first>
  HALOCLINE_INLINE void add(C (&sum)[4][3], const Sum* product) const {
    constexpr int mu = d % 4;
    constexpr int turn = d < 4 ? 2 : 0;
    constexpr auto below = [](int spin) { return mu < 2 ? 3 - spin : 2 + spin; };
    const NearPacks<const Sum, Real, half_numbers> from(product);
#pragma GCC unroll 3
    for (int colour = 0; colour < 3; ++colour) {
      const C chi0{from.load(4 * colour), from.load(4 * colour + 1)};
      const C chi1{from.load(4 * colour + 2), from.load(4 * colour + 3)};
      if constexpr (first) {
        put(sum[0][colour], chi0);
        put(sum[1][colour], chi1);
        put(sum[below(0)][colour], times_i_to<gamma[mu].power[below(0)] + turn>(chi0));
        put(sum[below(1)][colour], times_i_to<gamma[mu].power[below(1)] + turn>(chi1));
      } else {
        sum[0][colour] += chi0;
        sum[1][colour] += chi1;
        sum[below(0)][colour] += times_i_to<gamma[mu].power[below(0)] + turn>(chi0);
        sum[below(1)][colour] += times_i_to<gamma[mu].power[below(1)] + turn>(chi1);
      }
    }
  }
  /// Part by part: g++ copies a pair of packs through memory.
  static HALOCLINE_INLINE void put(C& to, const C& from) {
    to.re = from.re;
    to.im = from.im;
  }

  /// The sums, [colour][spin][re, im][lane].
  template <bool own, bool through_faces>
  HALOCLINE_INLINE void run(Sum* sum) const {
    alignas(64) Sum product[8][half_numbers * V];
    bool there[8];
    [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) {
      ((there[order[k]] = multiply<order[k], own, through_faces>(product[order[k]])), ...);
    }(std::make_integer_sequence<int, 8>{});
    C total[4][3];
    if (there[order[0]]) {
      add<order[0], true>(total, product[order[0]]);
    } else {
#pragma GCC unroll 4
      for (int spin = 0; spin < 4; ++spin) Plain::clear(total[spin]);
    }
    [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) {
      ((there[order[k + 1]] ? add<order[k + 1], false>(total, product[order[k + 1]]) : void()), ...);
    }(std::make_integer_sequence<int, 7>{});
    const NearPacks<Sum, Real, spinor_numbers> to(sum);
#pragma GCC unroll 4
    for (int spin = 0; spin < 4; ++spin)
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) {
        to.store(2 * (4 * colour + spin), total[spin][colour].re);
        to.store(2 * (4 * colour + spin) + 1, total[spin][colour].im);
      }
  }

  static constexpr int order[8] = {0, 4, 1, 5, 2, 6, 3, 7};
};

}  // namespace halocline::qcd::schwarz
