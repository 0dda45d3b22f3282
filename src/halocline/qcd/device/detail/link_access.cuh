// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Included by link_array.cuh, at its end, and by nothing else.
///
/// How a kernel reads a link, and how a link is encoded in 18, 12 or 8 reals of any storage.

#include "halocline/qcd/device/detail/link_compression.cuh"

namespace halocline::qcd::device {

namespace detail {

/// Number i of a link's record as a real.
template <class S, int n>
HALOCLINE_INLINE RealOf<S> link_real(const Record<typename Storage<S>::Word, n>& record, int i) {
  if constexpr (Storage<S>::scaled)
    return number(record, i) * (1.0f / Storage<S>::largest);
  else
    return number(record, i);
}

/// The lowest bit of number i of a record, which stores the pole of the projection.
template <int n>
HALOCLINE_INLINE bool low_bit(const Record<double, n>& record, int i) {
#if defined(__CUDA_ARCH__)
  return (__double2loint(record.at[i]) & 1) != 0;
#else
  return (std::bit_cast<std::uint64_t>(record.at[i]) & 1u) != 0;
#endif
}
template <int n>
HALOCLINE_INLINE bool low_bit(const Record<float, n>& record, int i) {
  return (bits_of(record.at[i]) & 1u) != 0;
}
template <int n>
HALOCLINE_INLINE bool low_bit(const Record<std::int16_t, n>& record, int i) {
  return (record.at[i / 2] >> 16 * (i % 2) & 1u) != 0;
}
template <int n>
HALOCLINE_INLINE bool low_bit(const Record<std::int8_t, n>& record, int i) {
  return (record.at[i / 4] >> 8 * (i % 4) & 1u) != 0;
}

/// The matrix of a record.
template <class S, int reals>
HALOCLINE_INLINE Su3<RealOf<S>> decode_link(const Record<typename Storage<S>::Word, reals>& record) {
  using Real = RealOf<S>;
  if constexpr (reals == 8) {
    Real y[8];
    HALOCLINE_UNROLL
    for (int i = 0; i < 8; ++i) y[i] = link_real<S>(record, i);
    return decode_eight(y, low_bit(record, 0), low_bit(record, 5));
  } else {
    Su3<Real> u;
    HALOCLINE_UNROLL
    for (int i = 0; i < reals / 2; ++i)
      u.e[i / 3][i % 3] = {link_real<S>(record, 2 * i), link_real<S>(record, 2 * i + 1)};
    if constexpr (reals == 12) reconstruct_third_row(u);
    return u;
  }
}

/// Rounds a number in [-1, 1] of a record of eight reals to one that the storage can hold. Returns it as the real that
/// a kernel will read. If `bit` is 0 or 1, it becomes the lowest bit of the stored number, which costs one more unit in
/// the last place. If bit < 0, no bit is stored.
template <class S>
HALOCLINE_HOST_DEVICE inline double quantized(double value, int bit) {
  if constexpr (Storage<S>::scaled) {
    constexpr double largest = Storage<S>::largest;  // odd
    double integer;
    if (bit < 0) {
      integer = rint(value * largest);
    } else {
      integer = 2 * rint((value * largest - bit) / 2) + bit;
      if (integer > largest) integer -= 2;
      if (integer < -largest) integer += 2;
    }
    return integer / largest;
  } else if constexpr (sizeof(RealOf<S>) == 4) {
    const float f = static_cast<float>(value);
    std::uint32_t bits = bits_of(f);
    if (bit >= 0 && static_cast<int>(bits & 1u) != bit) {
      const bool up = fabs(static_cast<double>(f)) < fabs(value) || (bits & 0x7fffffffu) == 0;
      bits = up ? bits + 1 : bits - 1;
    }
    return float_of(bits);
  } else {
    auto bits = std::bit_cast<std::uint64_t>(value);
    if (bit >= 0 && static_cast<int>(bits & 1u) != bit) bits ^= 1u;
    return std::bit_cast<double>(bits);
  }
}

/// Puts numbers in [-1, 1] into a record. They may have been rounded by quantized().
template <class S, int n>
HALOCLINE_HOST_DEVICE inline void pack_link(Record<typename Storage<S>::Word, n>& record, const double* numbers) {
  if constexpr (Storage<S>::scaled) {
    pack_fixed(record, Storage<S>::largest, [numbers](int i) { return static_cast<float>(numbers[i]); });
  } else {
    for (int i = 0; i < n; ++i) record.at[i] = static_cast<RealOf<S>>(numbers[i]);
  }
}

/// The eight reals of a matrix of SU(3). The frame for row 1 is made from the rounded row 0, which is the one that a
/// kernel will read.
template <class S>
HALOCLINE_HOST_DEVICE inline void encode_eight(double (&y)[8], const Su3<double>& u) {
  // The pole farther from u has the opposite sign of Re u_0.
  const bool negative0 = u.e[0][0].re > 0;
  const double d0 = 1 / (1 + fabs(u.e[0][0].re));
  const double first[5] = {u.e[0][0].im, u.e[0][1].re, u.e[0][1].im, u.e[0][2].re, u.e[0][2].im};
  for (int i = 0; i < 5; ++i) y[i] = quantized<S>(d0 * first[i], i == 0 ? int{negative0} : -1);
  y[5] = y[6] = y[7] = 0;
  Complex<double> a, b;
  frame_components(y, negative0, u.e[1], a, b);
  const double length = sqrt(core::norm(a) + core::norm(b));
  const bool negative1 = a.re > 0;
  const double d1 = 1 / (length + fabs(a.re));
  const double second[3] = {a.im, b.re, b.im};
  for (int i = 0; i < 3; ++i) y[5 + i] = quantized<S>(d1 * second[i], i == 0 ? int{negative1} : -1);
}

/// The record of a matrix. For 12 and 8 reals the matrix must be in SU(3); for fixed point its entries must lie in
/// [-1, 1].
template <class S, int reals>
HALOCLINE_HOST_DEVICE inline Record<typename Storage<S>::Word, reals> encode_link(const Su3<double>& u) {
  Record<typename Storage<S>::Word, reals> record;
  double numbers[reals];
  if constexpr (reals == 8) {
    encode_eight<S>(numbers, u);
  } else {
    for (int i = 0; i < reals / 2; ++i) {
      numbers[2 * i] = u.e[i / 3][i % 3].re;
      numbers[2 * i + 1] = u.e[i / 3][i % 3].im;
    }
  }
  pack_link<S>(record, numbers);
  return record;
}

}  // namespace detail

template <class S, int reals>
template <detail::Read read>
HALOCLINE_INLINE Su3<RealOf<S>> LinkReader<S, reals>::load(int site, int d) const {
  detail::Record<typename Storage<S>::Word, reals> record;
  detail::load_record<read>(record, data + std::int64_t{stride} * (reals * d), stride, site);
  return detail::decode_link<S, reals>(record);
}

}  // namespace halocline::qcd::device
