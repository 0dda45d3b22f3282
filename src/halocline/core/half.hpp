// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Numbers stored in 16 bits (IEEE 754 binary16) and computed with in float.
///
/// A Half is storage only: eleven significant bits, normal numbers from 6.1e-5 to 65504. The caller scales a field
/// before demoting it, so that no number leaves this range. Where the instruction set can convert (F16C, AVX-512, SVE),
/// one instruction converts a full register. Elsewhere plain integer arithmetic converts, and rounds to nearest, ties
/// to even, as the hardware does.

#include <bit>
#include <cstdint>
#include <cstring>

#include "halocline/core/pack.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
#include <arm_sve.h>
#endif

namespace halocline::core {

struct Half {
  std::uint16_t bits = 0;
};

namespace detail {
inline float widen_bits(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u)  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  // The exponent biases differ by 112. Scaling by a multiplication is correct for subnormal numbers as well.
  const float value = std::bit_cast<float>(magnitude << 13) * std::bit_cast<float>(std::uint32_t{(127 + 112) << 23});
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

inline std::uint16_t narrow_bits(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 leaves units of 2^-24 in the last places
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - (112u << 23) + 0xfffu + odd) >> 13));
}
}  // namespace detail

inline float widen(Half half) { return detail::widen_bits(half.bits); }
inline Half narrow(float number) { return {detail::narrow_bits(number)}; }
/// For code that is written once for both: a float is itself.
inline float widen(float number) { return number; }
template <class S>
S narrow_to(float number) {
  if constexpr (std::is_same_v<S, Half>)
    return narrow(number);
  else
    return number;
}

/// How a kernel that computes in float loads and stores numbers of type S; Real is float or a pack of floats.
template <class S, class Real>
struct Stored;

template <class Real>
struct Stored<float, Real> {
  static __attribute__((always_inline)) Real load(const float* from) { return Lanes<Real>::load(from); }
  static __attribute__((always_inline)) void store(float* to, const Real& p) { Lanes<Real>::store(to, p); }
};

template <>
struct Stored<Half, float> {
  static float load(const Half* from) { return widen(*from); }
  static void store(Half* to, float number) { *to = narrow(number); }
};

template <int N>
struct Stored<Half, Pack<float, N>> {
  using P = Pack<float, N>;

  static __attribute__((always_inline)) P load(const Half* from) {
#if defined(__AVX512F__)
    if constexpr (N == 16) {
      __m256i raw;
      std::memcpy(&raw, from, sizeof(raw));
      return P(reinterpret_cast<typename P::Vector>(_mm512_maskz_cvtph_ps(0xffff, raw)));
    }
#endif
#if defined(__F16C__)
    if constexpr (N == 8) {
      __m128i raw;
      std::memcpy(&raw, from, sizeof(raw));
      return P(reinterpret_cast<typename P::Vector>(_mm256_cvtph_ps(raw)));
    }
#endif
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
    if constexpr (N * 32 == __ARM_FEATURE_SVE_BITS) {
      const svuint32_t raw = svld1uh_u32(svptrue_b32(), &from->bits);
      return P(typename P::Vector(svcvt_f32_f16_x(svptrue_b32(), svreinterpret_f16_u32(raw))));
    }
#endif
    P p;
    for (int i = 0; i < N; ++i) p.set(i, widen(from[i]));
    return p;
  }

  static __attribute__((always_inline)) void store(Half* to, const P& p) {
#if defined(__AVX512F__)
    if constexpr (N == 16) {
      const __m256i raw = _mm512_maskz_cvtps_ph(0xffff, reinterpret_cast<__m512>(p.v), _MM_FROUND_TO_NEAREST_INT);
      std::memcpy(static_cast<void*>(to), &raw, sizeof(raw));
      return;
    }
#endif
#if defined(__F16C__)
    if constexpr (N == 8) {
      const __m128i raw = _mm256_cvtps_ph(reinterpret_cast<__m256>(p.v), _MM_FROUND_TO_NEAREST_INT);
      std::memcpy(static_cast<void*>(to), &raw, sizeof(raw));
      return;
    }
#endif
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
    if constexpr (N * 32 == __ARM_FEATURE_SVE_BITS) {
      const svfloat16_t raw = svcvt_f16_f32_x(svptrue_b32(), svfloat32_t(p.v));
      svst1h_u32(svptrue_b32(), &to->bits, svreinterpret_u32_f16(raw));
      return;
    }
#endif
    for (int i = 0; i < N; ++i) to[i] = narrow(p[i]);
  }
};

}  // namespace halocline::core
