// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Included by spinor_array.cuh, at its end, and by nothing else.
///
/// How a kernel reads and writes a spinor: vector accesses, and the conversion from and to fixed point in registers.

#include "halocline/qcd/device/fixed_point.cuh"
#include "halocline/qcd/field/components.hpp"

namespace halocline::qcd::device {

namespace detail {

/// Real i of the 24, in the order [colour][spin][re, im].
template <class Real>
HALOCLINE_INLINE Real& real_of(Spinor<Real>& psi, int i) {
  core::Complex<Real>& z = psi.at[i / 8][i / 2 % 4];
  return i % 2 == 0 ? z.re : z.im;
}
template <class Real>
HALOCLINE_INLINE Real real_of(const Spinor<Real>& psi, int i) {
  const core::Complex<Real>& z = psi.at[i / 8][i / 2 % 4];
  return i % 2 == 0 ? z.re : z.im;
}

template <bool constant>
HALOCLINE_INLINE float load_scale(const float* place) {
#if defined(__CUDA_ARCH__)
  if constexpr (constant) return __ldg(place);
#endif
  return *place;
}

/// @tparam constant  no thread writes the field while the kernel runs
template <class S, bool constant>
HALOCLINE_INLINE Spinor<RealOf<S>> load_spinor(const typename Storage<S>::Word* data, const float* scale, int stride,
                                               int site, int column) {
  using Real = RealOf<S>;
  Record<typename Storage<S>::Word, spinor_reals> record;
  load_record<constant ? Read::constant : Read::written>(record, data + std::int64_t{stride} * (spinor_reals * column),
                                                         stride, site);
  Real factor = 1;
  if constexpr (Storage<S>::scaled)
    factor = load_scale<constant>(scale + std::int64_t{stride} * column + site) * (1.0f / Storage<S>::largest);
  Spinor<Real> psi;
  HALOCLINE_UNROLL
  for (int i = 0; i < spinor_reals; ++i) {
    if constexpr (Storage<S>::scaled)
      real_of(psi, i) = number(record, i) * factor;
    else
      real_of(psi, i) = number(record, i);
  }
  return psi;
}

/// Packs 24 reals in fixed point, and returns their scale. `real` gives number i.
template <class S, class Load>
HALOCLINE_INLINE float pack_spinor(Record<typename Storage<S>::Word, spinor_reals>& record, const Load& real) {
  std::uint32_t largest = 0;
  HALOCLINE_UNROLL
  for (int i = 0; i < spinor_reals; ++i) {
    const std::uint32_t bits = bits_of(real(i)) & 0x7fffffffu;
    largest = bits > largest ? bits : largest;
  }
  const FixedScale found = fixed_scale<S>(largest);
  pack_fixed(record, found.factor, real);
  return found.kept;
}

}  // namespace detail

template <class S>
HALOCLINE_INLINE Spinor<RealOf<S>> SpinorReader<S>::load(int site, int column) const {
  return detail::load_spinor<S, true>(data, scale, stride, site, column);
}
template <class S>
HALOCLINE_INLINE Spinor<RealOf<S>> SpinorWriter<S>::load(int site, int column) const {
  return detail::load_spinor<S, false>(data, scale, stride, site, column);
}

template <class S>
HALOCLINE_INLINE void SpinorWriter<S>::store(int site, int column, const Spinor<Real>& psi, bool streams) const {
  detail::Record<typename Storage<S>::Word, spinor_reals> record;
  if constexpr (Storage<S>::scaled) {
    scale[std::int64_t{stride} * column + site] =
        detail::pack_spinor<S>(record, [&](int i) { return detail::real_of(psi, i); });
  } else {
    HALOCLINE_UNROLL
    for (int i = 0; i < spinor_reals; ++i) record.at[i] = detail::real_of(psi, i);
  }
  typename Storage<S>::Word* rows = data + std::int64_t{stride} * (spinor_reals * column);
  if (streams)
    detail::store_record<true>(rows, stride, site, record);
  else
    detail::store_record<false>(rows, stride, site, record);
}

}  // namespace halocline::qcd::device
