// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Numbers of a record as reals, and reals as fixed-point integers.
///
/// A GPU converts integers in its slow unit, at a sixteenth of the rate of arithmetic. So the conversions here use byte
/// permutations and additions. A biased integer placed in the mantissa of 2^23 represents that power plus the integer.
/// A real added to 1.5 x 2^23 has its nearest integer in the low bits. Host and device give the same bits, except for
/// the reciprocal of the scale: rcp.approx on a GPU is accurate to one unit in the last place. A number half-way
/// between two integers can therefore round to the other one.
///
/// A record that holds NaN or infinity is not finite when it is read again. Its largest number is found by comparing
/// bit patterns, where NaN > inf > any finite number. This largest number is kept as the scale, which makes every
/// number of the record NaN or inf. Records smaller than 2^-110 become zero.

#include "halocline/qcd/device/record_access.cuh"

namespace halocline::qcd::device::detail {

HALOCLINE_INLINE std::uint32_t bits_of(float x) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}
HALOCLINE_INLINE float float_of(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

/// 1 / x of a normal number whose reciprocal is normal too; on a GPU in one instruction, to one unit in the last place.
HALOCLINE_INLINE float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / x;
#endif
}
HALOCLINE_INLINE double reciprocal(double x) { return 1.0 / x; }

/// Number i of a record; in fixed point, the integer.
template <int n>
HALOCLINE_INLINE double number(const Record<double, n>& record, int i) {
  return record.at[i];
}
template <int n>
HALOCLINE_INLINE float number(const Record<float, n>& record, int i) {
  return record.at[i];
}
template <int n>
HALOCLINE_INLINE float number(const Record<std::int16_t, n>& record, int i) {
  const std::uint32_t word = record.at[i / 2];
#if defined(__CUDA_ARCH__)
  return float_of(__byte_perm(word ^ 0x80008000u, 0x4B000000u, i % 2 == 0 ? 0x7610u : 0x7632u)) - 8421376.0f;
#else
  return static_cast<std::int16_t>(word >> 16 * (i % 2) & 0xffffu);
#endif
}
template <int n>
HALOCLINE_INLINE float number(const Record<std::int8_t, n>& record, int i) {
  const std::uint32_t word = record.at[i / 4];
#if defined(__CUDA_ARCH__)
  return float_of(__byte_perm(word ^ 0x80808080u, 0x4B000000u, 0x7650u + static_cast<unsigned>(i % 4))) - 8388736.0f;
#else
  return static_cast<std::int8_t>(word >> 8 * (i % 4) & 0xffu);
#endif
}

/// The scale of a fixed-point record: the float that is kept, and the factor that makes the integers.
struct FixedScale {
  float kept;    ///< largest modulus of the record; a real is kept / Storage<S>::largest x integer
  float factor;  ///< an integer is the nearest to factor x real
};
/// @param largest_bits  the largest bit pattern among those of |real|
template <class S>
HALOCLINE_INLINE FixedScale fixed_scale(std::uint32_t largest_bits) {
  const float largest = float_of(largest_bits);
  if (largest_bits < 0x08800000u) return {0.0f, 0.0f};      // below 2^-110
  if (largest_bits >= 0x7f800000u) return {largest, 0.0f};  // not finite
  // 2^-10 on both sides keeps the reciprocal of the largest floats normal.
  return {largest, reciprocal(largest * 0x1p-10f) * (Storage<S>::largest * 0x1p-10f)};
}

/// The nearest integer to factor x real, in the low bits.
HALOCLINE_INLINE std::uint32_t nearest(float real, float factor) { return bits_of(real * factor + 12582912.0f); }

/// The record of the integers nearest to factor x real(i). `real` gives number i for i = 0 ... n - 1 as a float.
template <int n, class Load>
HALOCLINE_INLINE void pack_fixed(Record<std::int16_t, n>& record, float factor, const Load& real) {
  HALOCLINE_UNROLL
  for (int i = 0; i < n; i += 2) {
    const std::uint32_t low = nearest(real(i), factor);
    const std::uint32_t high = i + 1 < n ? nearest(real(i + 1), factor) : 0;
#if defined(__CUDA_ARCH__)
    record.at[i / 2] = __byte_perm(low, high, 0x5410u);
#else
    record.at[i / 2] = (low & 0xffffu) | high << 16;
#endif
  }
}
template <int n, class Load>
HALOCLINE_INLINE void pack_fixed(Record<std::int8_t, n>& record, float factor, const Load& real) {
  HALOCLINE_UNROLL
  for (int i = 0; i < n; i += 4) {
    const std::uint32_t b0 = nearest(real(i), factor);
    const std::uint32_t b1 = i + 1 < n ? nearest(real(i + 1), factor) : 0;
    const std::uint32_t b2 = i + 2 < n ? nearest(real(i + 2), factor) : 0;
    const std::uint32_t b3 = i + 3 < n ? nearest(real(i + 3), factor) : 0;
#if defined(__CUDA_ARCH__)
    record.at[i / 4] = __byte_perm(__byte_perm(b0, b1, 0x0040u), __byte_perm(b2, b3, 0x0040u), 0x5410u);
#else
    record.at[i / 4] = (b0 & 0xffu) | (b1 & 0xffu) << 8 | (b2 & 0xffu) << 16 | b3 << 24;
#endif
  }
}

}  // namespace halocline::qcd::device::detail
