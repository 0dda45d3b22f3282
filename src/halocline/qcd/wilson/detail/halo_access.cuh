// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Half spinors in messages: how a packing kernel writes them and an exterior kernel reads them. Included only at the
/// end of cuda_halo.cuh.
///
/// A half spinor is 12 reals, [colour][spin][re, im], in words of 16 bytes:
///
///   | storage | words | content                                              |
///   |---------|-------|------------------------------------------------------|
///   | double  | 6     | 12 reals                                             |
///   | float   | 3     | 12 reals                                             |
///   | fixed16 | 2     | 12 integers of 16 bits, the scale, 4 bytes of zeros  |
///   | fixed8  | 1     | 12 integers of 8 bits, the scale                     |
///
/// A reader must not use the read-only path of a GPU: a neighbour writes this memory, perhaps while the reading kernel
/// is already running.

#include "halocline/qcd/device/fixed_point.cuh"

namespace halocline::qcd::device {
namespace detail {

inline constexpr int halo_reals = 12;

/// The number of 16-byte words of a half spinor.
template <class S>
inline constexpr int halo_words = Storage<S>::scaled ? static_cast<int>(sizeof(typename Storage<S>::Word))
                                                     : halo_reals * static_cast<int>(sizeof(RealOf<S>)) / 16;

template <class Real>
HALOCLINE_INLINE Real& real_of(HalfSpinor<Real>& h, int i) {
  core::Complex<Real>& z = h.at[i / 4][i / 2 % 2];
  return i % 2 == 0 ? z.re : z.im;
}
template <class Real>
HALOCLINE_INLINE Real real_of(const HalfSpinor<Real>& h, int i) {
  const core::Complex<Real>& z = h.at[i / 4][i / 2 % 2];
  return i % 2 == 0 ? z.re : z.im;
}

/// Loads or stores a word, at a multiple of 16 bytes, as four 32-bit parts.
HALOCLINE_INLINE void load_word(std::uint32_t* parts, const std::byte* from) {
#if defined(__CUDA_ARCH__)
  const uint4 v = __ldcg(reinterpret_cast<const uint4*>(from));
  parts[0] = v.x;
  parts[1] = v.y;
  parts[2] = v.z;
  parts[3] = v.w;
#else
  std::memcpy(parts, from, 16);
#endif
}
HALOCLINE_INLINE void store_word(std::byte* to, const std::uint32_t* parts) {
#if defined(__CUDA_ARCH__)
  store_vector(reinterpret_cast<uint4*>(to), make_uint4(parts[0], parts[1], parts[2], parts[3]));
#else
  std::memcpy(to, parts, 16);
#endif
}

HALOCLINE_INLINE double double_of(std::uint32_t low, std::uint32_t high) {
#if defined(__CUDA_ARCH__)
  return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
#else
  return std::bit_cast<double>(std::uint64_t{high} << 32 | low);
#endif
}
HALOCLINE_INLINE void parts_of(double x, std::uint32_t& low, std::uint32_t& high) {
#if defined(__CUDA_ARCH__)
  low = static_cast<std::uint32_t>(__double2loint(x));
  high = static_cast<std::uint32_t>(__double2hiint(x));
#else
  const auto bits = std::bit_cast<std::uint64_t>(x);
  low = static_cast<std::uint32_t>(bits);
  high = static_cast<std::uint32_t>(bits >> 32);
#endif
}

/// Offset [bytes] of word 0 of a half spinor. Each further word follows `slots` words later.
template <class S>
HALOCLINE_INLINE std::int64_t halo_place(int slots, int slot, int column) {
  return 16 * (std::int64_t{slots} * (halo_words<S> * column) + slot);
}

}  // namespace detail

template <class S>
constexpr std::size_t halo_bytes(int slots, int columns) {
  return std::size_t{16} * static_cast<std::size_t>(detail::halo_words<S>) * static_cast<std::size_t>(slots) *
         static_cast<std::size_t>(columns);
}

template <class S>
HALOCLINE_INLINE HalfSpinor<RealOf<S>> HaloReader<S>::load(int d, int slot, int column) const {
  constexpr int words = detail::halo_words<S>;
  std::uint32_t parts[4 * words];
  const std::byte* place = inbox[d] + detail::halo_place<S>(slots[d], slot, column);
  HALOCLINE_UNROLLED(6)
  for (int w = 0; w < words; ++w) detail::load_word(parts + 4 * w, place + std::int64_t{16} * slots[d] * w);
  HalfSpinor<Real> h;
  if constexpr (Storage<S>::scaled) {
    detail::Record<typename Storage<S>::Word, detail::halo_reals> record;
    constexpr int integers = sizeof(record.at) / 4;
    HALOCLINE_UNROLLED(6)
    for (int i = 0; i < integers; ++i) record.at[i] = parts[i];
    const float factor = detail::float_of(parts[integers]) * (1.0f / Storage<S>::largest);
    HALOCLINE_UNROLLED(12)
    for (int i = 0; i < detail::halo_reals; ++i) detail::real_of(h, i) = detail::number(record, i) * factor;
  } else {
    HALOCLINE_UNROLLED(12)
    for (int i = 0; i < detail::halo_reals; ++i) {
      if constexpr (sizeof(Real) == 8)
        detail::real_of(h, i) = detail::double_of(parts[2 * i], parts[2 * i + 1]);
      else
        detail::real_of(h, i) = detail::float_of(parts[i]);
    }
  }
  return h;
}

template <class S>
HALOCLINE_INLINE void store_half(std::byte* outbox, int slots, int columns, int slot, int column,
                                 const HalfSpinor<RealOf<S>>& h) {
  static_cast<void>(columns);
  constexpr int words = detail::halo_words<S>;
  std::uint32_t parts[4 * words] = {};
  if constexpr (Storage<S>::scaled) {
    std::uint32_t largest = 0;
    HALOCLINE_UNROLLED(12)
    for (int i = 0; i < detail::halo_reals; ++i) {
      const std::uint32_t bits = detail::bits_of(detail::real_of(h, i)) & 0x7fffffffu;
      largest = bits > largest ? bits : largest;
    }
    const detail::FixedScale found = detail::fixed_scale<S>(largest);
    detail::Record<typename Storage<S>::Word, detail::halo_reals> record;
    detail::pack_fixed(record, found.factor, [&](int i) { return detail::real_of(h, i); });
    constexpr int integers = sizeof(record.at) / 4;
    HALOCLINE_UNROLLED(6)
    for (int i = 0; i < integers; ++i) parts[i] = record.at[i];
    parts[integers] = detail::bits_of(found.kept);
  } else {
    HALOCLINE_UNROLLED(12)
    for (int i = 0; i < detail::halo_reals; ++i) {
      if constexpr (sizeof(RealOf<S>) == 8)
        detail::parts_of(detail::real_of(h, i), parts[2 * i], parts[2 * i + 1]);
      else
        parts[i] = detail::bits_of(detail::real_of(h, i));
    }
  }
  std::byte* place = outbox + detail::halo_place<S>(slots, slot, column);
  HALOCLINE_UNROLLED(6)
  for (int w = 0; w < words; ++w) detail::store_word(place + std::int64_t{16} * slots * w, parts + 4 * w);
}

}  // namespace halocline::qcd::device
