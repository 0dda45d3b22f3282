// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Random SU(2) matrices with the weight exp(alpha a0), a pack of them at once.
///
/// With a = a0 + i (a1, a2, a3) . sigma and the Haar measure, a0 has the density sqrt(1 - a0^2) exp(alpha a0) and the
/// rest is uniform on a sphere. Two rejection methods share the same four uniform numbers; each lane uses the method
/// that accepts more often:
///   - alpha > 0.85, Kennedy and Pendleton, Phys. Lett. B 156 (1985) 393: 1 - a0 is drawn with the density
///     sqrt(x) exp(-alpha x), from two logarithms and a cosine, and kept with probability sqrt(1 - x / 2);
///   - else a0 is drawn from the Haar measure and kept with probability exp(alpha (a0 - 1)).
/// At least 45 % of the draws are kept at any alpha, more than 94 % at alpha > 12.
///
/// Draw k of a lane does not depend on the other lanes: a lane that has accepted keeps its number while the others draw
/// again.

#include "halocline/qcd/field/su3_projection.hpp"
#include "halocline/qcd/gauge/detail/pack_random.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace halocline::qcd::gauge::detail {

/// The random numbers of a pack of links during one update: uniform pairs, numbered.
template <int N>
struct LinkStream {
  std::uint64_t key;   ///< seed of the run
  Words<N> link;       ///< global index of each link
  std::uint64_t step;  ///< of the Markov chain, below 2^32

  UniformPair<N> pair(std::uint64_t number) const {
    const Words<N> zero{};
    return uniforms<N>({zero + number, zero + step, link & 0xFFFFFFFF, link >> 32}, key);
  }
};

using qcd::detail::square_root;

/// sqrt(1 - a^2), where rounding may have taken a beyond 1.
template <class P>
inline P sine_of(const P& cosine) {
  const P square = (P(1.0) - cosine) * (P(1.0) + cosine);
  return square_root(core::select(square < P(0.0), P(0.0), square));
}

template <int N>
inline bool any(const typename core::Pack<double, N>::Mask& mask) {
  std::array<std::int64_t, N> lanes;
  std::memcpy(lanes.data(), &mask, sizeof(mask));
  std::int64_t all = 0;
  for (const std::int64_t lane : lanes) all |= lane;
  return all != 0;
}

/// @param alpha   not negative; a lane where it is a NaN or infinite gives NaN
/// @param first   number of the first pair that may be drawn; pairs first, first + stride, ... are used
template <int N>
inline Quaternion<core::Pack<double, N>> su2_heatbath(const core::Pack<double, N>& alpha, const LinkStream<N>& stream,
                                                      std::uint64_t first, std::uint64_t stride) {
  using P = core::Pack<double, N>;
  using Mask = typename P::Mask;
  // With an acceptance of 0.45 in the worst case, a link is left at its last draw once in 10^130 updates.
  constexpr int most_draws = 500;

  std::uint64_t number = first;
  const auto direction = stream.pair(number);
  const Mask finite = (alpha - alpha).v == P(0.0).v;
  const Mask peaked = alpha > P(0.85);
  const P safe_alpha = core::select(peaked, alpha, P(1.0));
  Mask open = finite;
  P a0 = alpha - alpha;  // NaN stays NaN
  for (int draw = 0; draw < most_draws && any<N>(open); ++draw) {
    const auto u = stream.pair(number += stride);
    const auto v = stream.pair(number += stride);
    const P cosine = turn(u.second).cosine;
    const P log_v = logarithm(v.first);
    const P kennedy_pendleton = P(1.0) + (logarithm(u.first) + cosine * cosine * log_v) / safe_alpha;
    const P haar = square_root(u.first) * cosine;
    const P trial = core::select(peaked, kennedy_pendleton, haar);
    const Mask keep_peaked = v.second * v.second < P(0.5) + P(0.5) * kennedy_pendleton;
    const Mask keep_haar = log_v < alpha * (haar - P(1.0));
    const Mask keep = ((peaked & keep_peaked) | (~peaked & keep_haar)) & open;
    a0 = core::select(keep, trial, a0);
    open &= ~keep;
  }

  // The direction is uniform on the sphere of radius sqrt(1 - a0^2).
  const P radius = sine_of(a0);
  const P height = P(1.0) - P(2.0) * direction.first;
  const P flat = radius * sine_of(height);
  const auto angle = turn(direction.second);
  return {a0, flat * angle.cosine, flat * angle.sine, radius * height};
}

}  // namespace halocline::qcd::gauge::detail
