// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The accessor of the per-site hop (site/hop.hpp) in a thread of a device.
///
/// A thread computes `columns` columns of one site. It loads a link, and computes the link's missing reals, once for
/// all of them. The hermitian conjugate of the hop is gamma5 hop gamma5. Here gamma5 is a sign of the lower two
/// spins, known at launch. The sign is exact, makes an addition a multiply-add, and lets one kernel serve both cases.
///
/// In fixed point, spinors and links of 18 or 12 reals enter the projection and the product as integers, which floats
/// hold exactly. Their scales, the hopping coefficient and a real boundary phase are one factor, chosen by whether
/// the neighbour is across the edge of the box. The compiler fuses this factor with the sums as a multiply-add. A
/// phase that is not real multiplies the half spinor before the product, in warps with a site at that edge.

#include <type_traits>

#include "halocline/qcd/device/link_array.cuh"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/qcd/wilson/cuda_halo.cuh"
#include "halocline/qcd/wilson/detail/hop_lattice.cuh"

/// On a GPU the loop over columns is unrolled, so that their sums are in registers. On the host executor it stays a
/// loop, which compiles faster.
#if defined(__CUDACC__)
#define HALOCLINE_UNROLL_COLUMNS HALOCLINE_UNROLLED(2)
#else
#define HALOCLINE_UNROLL_COLUMNS
#endif

namespace halocline::qcd::device {

namespace detail {

/// Integer i of a record, converted in the slow unit of a GPU (number() avoids this unit).
template <int n>
HALOCLINE_INLINE float converted(const Record<std::int16_t, n>& record, int i) {
  return static_cast<std::int16_t>(record.at[i / 2] >> 16 * (i % 2) & 0xffffu);
}
template <int n>
HALOCLINE_INLINE float converted(const Record<std::int8_t, n>& record, int i) {
  return static_cast<std::int8_t>(record.at[i / 4] >> 8 * (i % 4) & 0xffu);
}

/// Integer i of a record plus bias<S>, as a float, made by a byte permutation (fixed_point.cuh explains why).
template <class S>
inline constexpr float bias = 8388608.0f + Storage<S>::largest + 1.0f;
template <int n>
HALOCLINE_INLINE float biased(const Record<std::int16_t, n>& record, int i) {
#if defined(__CUDA_ARCH__)
  return float_of(__byte_perm(record.at[i / 2] ^ 0x80008000u, 0x4B000000u, i % 2 == 0 ? 0x7610u : 0x7632u));
#else
  return number(record, i) + bias<Fixed16>;
#endif
}
template <int n>
HALOCLINE_INLINE float biased(const Record<std::int8_t, n>& record, int i) {
#if defined(__CUDA_ARCH__)
  return float_of(__byte_perm(record.at[i / 4] ^ 0x80808080u, 0x4B000000u, 0x7650u + static_cast<unsigned>(i % 4)));
#else
  return number(record, i) + bias<Fixed8>;
#endif
}

}  // namespace detail

/// No halo: for kernels of sites whose neighbours are all in the box. It takes a byte in HopInput, since nvcc and the
/// host's compiler place what is behind an empty member differently if it takes none.
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
  Real inside[4];              ///< factor of a neighbour in the box, by axis; for integer links over the largest
  Real across[8];              ///< the same across the edge of the box, by direction; a complex factor counts as 1
  core::Complex<Real> phase[8];
  unsigned turned;  ///< bit d: the factor across the edge is not real, and phase[d] applies
  std::conditional_t<with_halo, HaloReader<S>, NoHalo> halo;
};

/// Fixed-point links of 18 and 12 reals enter the product as integers.
template <class S, int reals>
inline constexpr bool integer_links = Storage<S>::scaled && reals != 8;

/// The link; with integer_links, its integers. Rows of integers are too long by the factor `largest`, and a third row
/// computed from two of them by its square. The integers are converted in the slow unit of a GPU, which is idle here
/// otherwise.
template <detail::Read read, class S, int reals>
HALOCLINE_INLINE Su3<RealOf<S>> stored_link(const LinkReader<S, reals>& links, int site, int d) {
  if constexpr (integer_links<S, reals>) {
    detail::Record<typename Storage<S>::Word, reals> record;
    detail::load_record<read>(record, links.data + std::int64_t{links.stride} * (reals * d), links.stride, site);
    Su3<float> u;
    HALOCLINE_UNROLLED(9)
    for (int i = 0; i < reals / 2; ++i)
      u.e[i / 3][i % 3] = {detail::converted(record, 2 * i), detail::converted(record, 2 * i + 1)};
    if constexpr (reals == 12) reconstruct_third_row(u);
    return u;
  } else {
    return links.template load<read>(site, d);
  }
}

/// One direction of one column, for wilson::add_direction.
template <class S, int reals>
struct DirectionAccessor {
  using Real = RealOf<S>;
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
  HALOCLINE_INLINE void complete(core::Complex<Real> (&chi)[2]) const {
    if constexpr (integer_links<S, reals> && reals == 12) {
      chi[0] = (1 / Storage<S>::largest) * chi[0];
      chi[1] = (1 / Storage<S>::largest) * chi[1];
    }
  }
  template <int d>
  HALOCLINE_INLINE void weigh(core::Complex<Real> (&chi)[2]) const {
    HALOCLINE_UNROLLED(2)
    for (int spin = 0; spin < 2; ++spin) {
      if constexpr (d == 0)  // the sum begins with it, and the next direction may be fused with one product alone
        chi[spin] = {core::rounded_product(factor, chi[spin].re), core::rounded_product(factor, chi[spin].im)};
      else
        chi[spin] = factor * chi[spin];
    }
  }
};

/// A half spinor, scale x at. Projected from fixed point, `at` holds integers, exactly.
template <class Real>
struct ScaledHalf {
  HalfSpinor<Real> at;
  Real scale;
};

/// Projects a fixed-point spinor in integers. The integers come with a bias (detail::biased). A difference of two of
/// them has no bias, a sum has it twice. Which of the two applies is known at compile time, except for the sign
/// `lower`.
template <int axis, int sign, class S>
HALOCLINE_INLINE HalfSpinor<float> project_integers(const detail::Record<typename Storage<S>::Word, 24>& record,
                                                    float lower) {
  constexpr int turn = sign > 0 ? 0 : 2;
  constexpr int first = (gamma[axis].power[0] + turn) % 4;
  constexpr int second = (gamma[axis].power[1] + turn) % 4;
  const float plus = detail::bias<S> + lower * detail::bias<S>;
  const float minus = detail::bias<S> - lower * detail::bias<S>;
  return wilson::project<axis, sign, float>([&](int colour, int spin) {
    const int i = 8 * colour + 2 * spin;
    const core::Complex<float> z{detail::biased(record, i), detail::biased(record, i + 1)};
    if (spin >= 2) return lower * z;
    const int power = spin == 0 ? first : second;
    return core::Complex<float>{z.re - (power == 0 || power == 3 ? plus : minus),
                                z.im - (power == 0 || power == 1 ? plus : minus)};
  });
}

/// The projected neighbour in direction d, from the box or from a message.
template <int d, class S, int reals, bool with_halo>
HALOCLINE_KERNEL_PART ScaledHalf<RealOf<S>> half_spinor(const HopInput<S, reals, with_halo>& input,
                                                        const HopPlace& place, int from, bool edge, int column) {
  using Real = RealOf<S>;
  constexpr int axis = d % 4;
  constexpr int sign = d < 4 ? -1 : 1;
  if constexpr (with_halo)
    if (edge && input.lattice.box.is_split(axis))
      return {input.halo.load(d, input.lattice.box.slot(place.c, axis), column), Real(1)};
  if constexpr (Storage<S>::scaled) {
    const SpinorReader<S>& in = input.in;
    detail::Record<typename Storage<S>::Word, 24> record;
    detail::load_record<detail::Read::constant>(record, in.data + std::int64_t{in.stride} * (24 * column), in.stride,
                                                from);
    const float scale = detail::load_scale<true>(in.scale + std::int64_t{in.stride} * column + from);
    return {project_integers<axis, sign, S>(record, input.lower), scale * (1 / Storage<S>::largest)};
  } else {
    const Spinor<Real> psi = input.in.load(from, column);
    return {wilson::project<axis, sign, Real>([&](int colour, int spin) {
              return spin < 2 ? psi.at[colour][spin] : input.lower * psi.at[colour][spin];
            }),
            Real(1)};
  }
}

/// The neighbours that a hop adds up. Those in messages are across a split edge.
enum class Neighbours { all, in_box, in_messages };

/// Adds direction d to the sums of `columns` columns from `first` on. In place of a column beyond the last it
/// computes the last column again.
template <int d, detail::Read read, Neighbours which, int columns, class S, int reals, bool with_halo>
HALOCLINE_KERNEL_PART void add_neighbour(Spinor<RealOf<S>> (&sum)[columns], const HopInput<S, reals, with_halo>& input,
                                         const HopPlace& place, int first) {
  using Real = RealOf<S>;
  constexpr int axis = d % 4;
  constexpr int sign = d < 4 ? -1 : 1;
  const bool edge = input.lattice.template at_edge<d>(place);
  if constexpr (which != Neighbours::all)
    if ((edge && input.lattice.box.is_split(axis)) != (which == Neighbours::in_messages)) return;
  const int from = input.lattice.template neighbour<d>(place, edge);
  const Su3<Real> u = stored_link<read>(input.links, place.site, d);
  const Real factor = edge ? input.across[d] : input.inside[axis];
  HALOCLINE_UNROLL_COLUMNS
  for (int k = 0; k < columns; ++k) {
    const int column = columns == 1 || first + k < input.in.columns ? first + k : input.in.columns - 1;
    ScaledHalf<Real> h = half_spinor<d>(input, place, from, edge, column);
    if ((input.turned >> d & 1u) != 0 && edge) {
      HALOCLINE_UNROLLED(3)
      for (int colour = 0; colour < 3; ++colour) {
        h.at.at[colour][0] = input.phase[d] * h.at.at[colour][0];
        h.at.at[colour][1] = input.phase[d] * h.at.at[colour][1];
      }
    }
    const DirectionAccessor<S, reals> accessor{u, h.at, Storage<S>::scaled ? factor * h.scale : factor};
    wilson::add_direction<d, sign, d == 0 && which == Neighbours::all>(sum[k], accessor);
  }
}

/// The hop at a site, of `columns` columns from `first` on. For the hermitian conjugate, HopOutput still has to
/// change the signs of the lower spins.
/// @tparam read   of the links
/// @tparam which  if not all: `sum` holds zero or another part of the sum before
template <detail::Read read, Neighbours which = Neighbours::all, int columns, class S, int reals, bool with_halo>
HALOCLINE_INLINE void hop(Spinor<RealOf<S>> (&sum)[columns], const HopInput<S, reals, with_halo>& input,
                          const HopPlace& place, int first) {
  add_neighbour<0, read, which>(sum, input, place, first);
  add_neighbour<1, read, which>(sum, input, place, first);
  add_neighbour<2, read, which>(sum, input, place, first);
  add_neighbour<3, read, which>(sum, input, place, first);
  add_neighbour<4, read, which>(sum, input, place, first);
  add_neighbour<5, read, which>(sum, input, place, first);
  add_neighbour<6, read, which>(sum, input, place, first);
  add_neighbour<7, read, which>(sum, input, place, first);
}

}  // namespace halocline::qcd::device
