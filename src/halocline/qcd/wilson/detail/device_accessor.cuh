// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the per-site source of the hop (kernels.hpp) asks for, in a thread of a device.
///
/// A thread computes one site and `columns` columns of it: a link is loaded, and its missing reals computed, once for
/// all of them. Gamma5 on both sides, which turns the hop into its hermitian conjugate, is a sign of the lower two
/// spins that is known at launch: exact, a multiply-add in place of an addition, and one kernel for both.
///
/// The hopping coefficient and a real boundary phase are one number, chosen by whether the neighbour is across the edge
/// of the box, that a compiler fuses with the sums as a multiply-add. Other phases turn the half spinor before the
/// product, in warps with a site at that edge.

#include <type_traits>

#include "halocline/qcd/device/link_array.cuh"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/qcd/wilson/cuda_halo.cuh"
#include "halocline/qcd/wilson/detail/hop_lattice.cuh"

/// The sums of several columns are registers of a GPU; the host executor has a loop, which compiles faster.
#if defined(__CUDACC__)
#define HALOCLINE_UNROLL_COLUMNS HALOCLINE_UNROLLED(4)
#else
#define HALOCLINE_UNROLL_COLUMNS
#endif

namespace halocline::qcd::device {

/// No halo: for kernels of sites whose neighbours are all in the box.
struct NoHalo {};

/// All that a hop onto one parity reads. A plain value, the argument of kernels.
template <class S, int reals, bool with_halo>
struct HopInput {
  using Real = RealOf<S>;
  HopLattice lattice;
  int target_parity;
  LinkReader<S, reals> links;  ///< of the target parity
  SpinorReader<S> in;          ///< of the other parity
  Real lower;                  ///< sign of the lower spins: -1 for the hermitian conjugate
  Real inside[4];              ///< factor of a neighbour in the box, by axis
  Real across[8];              ///< factor across the edge of the box, by direction, where it is real; else 1
  core::Complex<Real> phase[8];
  unsigned turned;  ///< bit d: across the edge the factor is phase[d], not real
  [[no_unique_address]] std::conditional_t<with_halo, HaloReader<S>, NoHalo> halo;
};

/// One direction of one column, for wilson::add_direction.
template <class Real>
struct DirectionAccessor {
  const Su3<Real>& u;
  const HalfSpinor<Real>& h;
  Real factor;

  template <int d, int sign>
  HALOCLINE_INLINE const HalfSpinor<Real>& half() const {
    return h;
  }
  template <int d>
  HALOCLINE_INLINE core::Complex<Real> link(int row, int column) const {
    return u.e[row][column];
  }
  template <int d>
  HALOCLINE_INLINE void weigh(core::Complex<Real> (&chi)[2]) const {
    chi[0] = factor * chi[0];
    chi[1] = factor * chi[1];
  }
};

/// The neighbour in direction d projected: of the box, or what a message brought.
template <int d, class S, int reals, bool with_halo>
HALOCLINE_KERNEL_PART HalfSpinor<RealOf<S>> half_spinor(const HopInput<S, reals, with_halo>& input,
                                                        const HopPlace& place, int from, bool edge, int column) {
  constexpr int axis = d % 4;
  constexpr int sign = d < 4 ? -1 : 1;
  if constexpr (with_halo)
    if (edge && input.lattice.box.is_split(axis))
      return input.halo.load(d, input.lattice.box.slot(place.c, axis), column);
  const Spinor<RealOf<S>> psi = input.in.load(from, column);
  return wilson::project<axis, sign, RealOf<S>>(
      [&](int colour, int spin) { return spin < 2 ? psi.at[colour][spin] : input.lower * psi.at[colour][spin]; });
}

/// Adds direction d to the sums of `columns` columns from `first` on. Columns beyond the last take the last.
template <int d, int columns, class S, int reals, bool with_halo>
HALOCLINE_KERNEL_PART void add_neighbour(Spinor<RealOf<S>> (&sum)[columns], const HopInput<S, reals, with_halo>& input,
                                         const HopPlace& place, int first) {
  using Real = RealOf<S>;
  constexpr int axis = d % 4;
  constexpr int sign = d < 4 ? -1 : 1;
  const bool edge = input.lattice.template at_edge<d>(place);
  const int from = input.lattice.template neighbour<d>(place, edge);
  const Su3<Real> u = input.links.load(place.site, d);
  HALOCLINE_UNROLL_COLUMNS
  for (int k = 0; k < columns; ++k) {
    const int column = columns == 1 || first + k < input.in.columns ? first + k : input.in.columns - 1;
    HalfSpinor<Real> h = half_spinor<d>(input, place, from, edge, column);
    if ((input.turned >> d & 1u) != 0 && edge) {
      HALOCLINE_UNROLLED(3)
      for (int colour = 0; colour < 3; ++colour) {
        h.at[colour][0] = input.phase[d] * h.at[colour][0];
        h.at[colour][1] = input.phase[d] * h.at[colour][1];
      }
    }
    const DirectionAccessor<Real> accessor{u, h, edge ? input.across[d] : input.inside[axis]};
    wilson::add_direction<d, sign>(sum[k], accessor);
  }
}

/// The hop at a site, of `columns` columns from `first` on, without its lower sign for the hermitian conjugate.
template <int columns, class S, int reals, bool with_halo>
HALOCLINE_INLINE void hop(Spinor<RealOf<S>> (&sum)[columns], const HopInput<S, reals, with_halo>& input,
                          const HopPlace& place, int first) {
  add_neighbour<0>(sum, input, place, first);
  add_neighbour<1>(sum, input, place, first);
  add_neighbour<2>(sum, input, place, first);
  add_neighbour<3>(sum, input, place, first);
  add_neighbour<4>(sum, input, place, first);
  add_neighbour<5>(sum, input, place, first);
  add_neighbour<6>(sum, input, place, first);
  add_neighbour<7>(sum, input, place, first);
}

}  // namespace halocline::qcd::device
