// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Uniform random numbers, logarithm and cosine for a pack of links at once.
///
/// The generator is Philox-4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11), the one of
/// core/philox.hpp. Each lane has its own counter and gets the same bits as a call of its own; eight lanes take the
/// time of one. The elementary functions are plain polynomials, so a lane's result depends neither on the other lanes
/// nor on a mathematics library. Their errors, a few units of the last place, are far below what any average over a
/// Markov chain resolves.

#include "halocline/core/pack.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace halocline::qcd::gauge::detail {

/// Unsigned 64-bit words, one for each lane of a pack of doubles.
template <int N>
using Words = typename core::detail::VectorOf<std::uint64_t, N>::type;

template <class To, class From>
__attribute__((always_inline)) inline To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// Philox-4x32-10 in every lane. @param counter, key  32-bit words, each in the low half of a 64-bit lane
/// About 120 instructions.
template <int N>
inline std::array<Words<N>, 4> philox(std::array<Words<N>, 4> counter, std::uint64_t key) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr std::uint64_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85, low = 0xFFFFFFFF;
  std::uint64_t key0 = key & low, key1 = key >> 32;
  for (int round = 0; round < 10; ++round) {
    const Words<N> product0 = counter[0] * multiplier0, product1 = counter[2] * multiplier1;
    counter = {(product1 >> 32) ^ counter[1] ^ key0, product1 & low, (product0 >> 32) ^ counter[3] ^ key1,
               product0 & low};
    key0 = (key0 + weyl0) & low;
    key1 = (key1 + weyl1) & low;
  }
  return counter;
}

/// Two independent uniform numbers a lane, in (0, 1], multiples of 2^-52.
template <int N>
struct UniformPair {
  core::Pack<double, N> first, second;
};
template <int N>
inline UniformPair<N> uniforms(const std::array<Words<N>, 4>& counter, std::uint64_t key) {
  using P = core::Pack<double, N>;
  const auto words = philox<N>(counter, key);
  auto uniform = [](const Words<N>& high, const Words<N>& low) {
    // 52 random bits behind the exponent of 1 make a number in [1, 2).
    const Words<N> bits = (high << 20) | (low >> 12) | 0x3FF0000000000000ULL;
    return P(2.0) - P(same_bits<typename P::Vector>(bits));
  };
  return {uniform(words[0], words[1]), uniform(words[2], words[3])};
}

/// Natural logarithm of a positive normal number: 2 artanh((m - 1) / (m + 1)) + e ln 2 with m in [1/sqrt 2, sqrt 2).
template <int N>
inline core::Pack<double, N> logarithm(const core::Pack<double, N>& a) {
  using P = core::Pack<double, N>;
  const auto bits = same_bits<Words<N>>(a.v);
  P mantissa(same_bits<typename P::Vector>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL));
  // The exponent as a double: its bits become the mantissa of a number near 2^52, then 2^52 and the bias are
  // subtracted.
  P exponent = P(same_bits<typename P::Vector>((bits >> 52) | 0x4330000000000000ULL)) - P(0x1p52 + 1023.0);
  const auto large = mantissa > P(1.4142135623730951);
  mantissa = core::select(large, P(0.5) * mantissa, mantissa);
  exponent = core::select(large, exponent + P(1.0), exponent);
  const P s = (mantissa - P(1.0)) / (mantissa + P(1.0));
  const P square = s * s;
  P series(1.0 / 23.0);  // |s| < 0.1716: the next term is below 1e-17
  for (int odd = 21; odd >= 1; odd -= 2) series = series * square + P(1.0 / odd);
  return exponent * P(0.6931471805599453) + P(2.0) * s * series;
}

/// cos and sin of 2 pi u, 0 <= u <= 1.
template <int N>
struct Turn {
  core::Pack<double, N> cosine, sine;
};
template <int N>
inline Turn<N> turn(const core::Pack<double, N>& u) {
  using P = core::Pack<double, N>;
  // The nearest quarter turn, rounded by adding a number whose last place is 1.
  const P rounder(0x1.8p52);
  const P shifted = P(4.0) * u + rounder;
  const auto quarter = same_bits<Words<N>>(shifted.v);
  const P angle = (u - P(0.25) * (shifted - rounder)) * P(6.283185307179586);  // in [-pi/4, pi/4]
  const P square = angle * angle;
  P sine(1.0), cosine(1.0);  // Horner forms of the Taylor series; (pi/4)^18 / 18! < 3e-18
  for (int n = 16; n >= 2; n -= 2) {
    sine = P(1.0) - square * P(1.0 / (n * (n + 1))) * sine;
    cosine = P(1.0) - square * P(1.0 / (n * (n - 1))) * cosine;
  }
  sine *= angle;
  using Mask = typename P::Mask;
  const Mask odd = (quarter & 1) == 1;
  const Mask negative_sine = (quarter & 2) == 2;
  const Mask negative_cosine = ((quarter + 1) & 2) == 2;
  const P c = core::select(odd, sine, cosine), s = core::select(odd, cosine, sine);
  return {core::select(negative_cosine, -c, c), core::select(negative_sine, -s, s)};
}

}  // namespace halocline::qcd::gauge::detail
