// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `HalfPack<N>`: N numbers of 16 bits (IEEE 754 binary16) whose arithmetic is done in 16 bits.
///
/// Where the instruction set has 16-bit arithmetic (AVX512-FP16; Arm's FP16 with or without SVE), a pack is a vector of
/// the compiler's 16-bit type. A register then holds twice as many lanes as for float, and a*b + c contracts to one
/// fused instruction.
///
/// Elsewhere the arithmetic is emulated: lanes are widened to float and each result is rounded to 16 bits. Rounding a
/// product or sum of two halves to float first and then to half gives the same half as rounding it once, because float
/// has more than twice as many bits. So the emulation differs only in that it fuses nothing. It is for tests, ten times
/// slower than float, and kept out of line to be small.
///
/// The rounding error is relative, 2^-11, for numbers between 6.1e-5 and 65504. Below this range it is absolute, 2^-25;
/// above, the result is infinity. The caller scales the numbers so that both limits are avoided.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "halocline/core/half.hpp"
#include "halocline/core/hold.hpp"
#include "halocline/core/pack.hpp"

namespace halocline::core {

/// to[i] = from[table[i]] for N numbers of 16 bits; not in place.
template <int N>
__attribute__((always_inline)) inline void permute_halves(Half* to, const Half* from, const std::int16_t* table) {
  if constexpr (N * sizeof(Half) == register_bytes) {
    using Raw = typename detail::VectorOf<std::int16_t, N>::type;
    Raw numbers, places;
    std::memcpy(&numbers, from, sizeof(Raw));
    std::memcpy(&places, table, sizeof(Raw));
#if defined(__AVX512BW__)
    numbers = reinterpret_cast<Raw>(_mm512_maskz_permutexvar_epi16(0xffffffffu, reinterpret_cast<__m512i>(places),
                                                                   reinterpret_cast<__m512i>(numbers)));
#elif __has_builtin(__builtin_shuffle)
    numbers = __builtin_shuffle(numbers, places);
#else  // clang
    const Raw before = numbers;
    for (int i = 0; i < N; ++i) numbers[i] = before[places[i]];
#endif
    std::memcpy(static_cast<void*>(to), &numbers, sizeof(Raw));
  } else {
    for (int i = 0; i < N; ++i) to[i] = from[table[i]];
  }
}

#if defined(__AVX512FP16__) || defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)

/// Whether the instruction set has 16-bit arithmetic.
inline constexpr bool native_half = true;

namespace detail {
#if defined(__AVX512FP16__)
__extension__ typedef _Float16 HalfElement;
#else
__extension__ typedef __fp16 HalfElement;
#endif
}  // namespace detail

template <int N>
struct HalfPack {
  using Scalar = Half;
  using Vector = typename detail::VectorOf<detail::HalfElement, N>::type;
  using Table = typename detail::VectorOf<std::int16_t, N>::type;
  static constexpr int lanes = N;

  Vector v;

  HalfPack() = default;
  __attribute__((always_inline)) HalfPack(Vector raw) : v(raw) {}
  /// Rounds the number and copies it to all lanes.
  __attribute__((always_inline)) explicit HalfPack(float number) {
    const auto rounded = static_cast<detail::HalfElement>(number);
    for (int i = 0; i < N; ++i) v[i] = rounded;
  }

  static __attribute__((always_inline)) HalfPack load(const Half* from) {
    HalfPack p;
    std::memcpy(&p.v, from, sizeof(Vector));
    return p;
  }
  __attribute__((always_inline)) void store(Half* to) const { std::memcpy(static_cast<void*>(to), &v, sizeof(Vector)); }

  __attribute__((always_inline)) HalfPack& operator+=(const HalfPack& b) {
    v += b.v;
    return *this;
  }
  __attribute__((always_inline)) HalfPack& operator-=(const HalfPack& b) {
    v -= b.v;
    return *this;
  }
  friend __attribute__((always_inline)) HalfPack operator+(const HalfPack& a, const HalfPack& b) { return a.v + b.v; }
  friend __attribute__((always_inline)) HalfPack operator-(const HalfPack& a, const HalfPack& b) { return a.v - b.v; }
  friend __attribute__((always_inline)) HalfPack operator*(const HalfPack& a, const HalfPack& b) { return a.v * b.v; }
  friend __attribute__((always_inline)) HalfPack operator-(const HalfPack& a) { return -a.v; }
};

/// A selection of lanes, like LaneMask.
template <int N>
struct HalfLaneMask {
#if defined(__AVX512FP16__)
  std::uint32_t raw = 0;
  HalfLaneMask() = default;
  explicit HalfLaneMask(const std::array<bool, N>& chosen) {
    for (int i = 0; i < N; ++i) raw |= std::uint32_t{chosen[i]} << i;
  }
#else
  typename HalfPack<N>::Table raw{};
  HalfLaneMask() = default;
  explicit HalfLaneMask(const std::array<bool, N>& chosen) {
    for (int i = 0; i < N; ++i) raw[i] = chosen[i] ? -1 : 0;
  }
#endif
};

template <int N>
struct LaneMoves<HalfPack<N>> {
  using Index = std::int16_t;
  using Table = typename HalfPack<N>::Table;
  using Chosen = HalfLaneMask<N>;
  static __attribute__((always_inline)) Table table(const Index* from) {
    Table t;
    std::memcpy(&t, from, sizeof(t));
    return t;
  }
};

/// permute, permute_or_zero and permute_or_keep have the same meaning as for Pack (pack.hpp).
template <int N>
__attribute__((always_inline)) inline HalfPack<N> permute(const HalfPack<N>& a, typename HalfPack<N>::Table table) {
#if defined(__AVX512FP16__) || !__has_builtin(__builtin_shuffle)
#if defined(__AVX512FP16__)
  using Vector = typename HalfPack<N>::Vector;
  if constexpr (N == 32) return (Vector)_mm512_maskz_permutexvar_epi16(0xffffffffu, (__m512i)table, (__m512i)a.v);
  if constexpr (N == 16) return (Vector)_mm256_maskz_permutexvar_epi16(0xffffu, (__m256i)table, (__m256i)a.v);
#endif
  HalfPack<N> moved;
  for (int i = 0; i < N; ++i) moved.v[i] = a.v[table[i]];
  return moved;
#else
  return __builtin_shuffle(a.v, table);
#endif
}
template <int N>
__attribute__((always_inline)) inline HalfPack<N>
permute_or_zero(const HalfPack<N>& a, typename HalfPack<N>::Table table, const HalfLaneMask<N>& chosen) {
  using Vector = typename HalfPack<N>::Vector;
#if defined(__AVX512FP16__)
  if constexpr (N == 32) return (Vector)_mm512_maskz_permutexvar_epi16(chosen.raw, (__m512i)table, (__m512i)a.v);
  HalfPack<N> moved = permute(a, table);
  for (int i = 0; i < N; ++i)
    if (((chosen.raw >> i) & 1u) == 0) moved.v[i] = 0;
  return moved;
#else
  return (Vector)((typename HalfPack<N>::Table)permute(a, table).v & chosen.raw);
#endif
}
template <int N>
__attribute__((always_inline)) inline HalfPack<N> permute_or_keep(const HalfPack<N>& a, const HalfPack<N>& b,
                                                                  typename HalfPack<N>::Table table,
                                                                  const HalfLaneMask<N>& kept) {
  using Vector = typename HalfPack<N>::Vector;
#if defined(__AVX512FP16__)
  if constexpr (N == 32)
    return (Vector)_mm512_mask_permutexvar_epi16((__m512i)a.v, ~kept.raw, (__m512i)table, (__m512i)b.v);
  HalfPack<N> merged = permute(b, table);
  for (int i = 0; i < N; ++i)
    if (((kept.raw >> i) & 1u) != 0) merged.v[i] = a.v[i];
  return merged;
#else
  using Bits = typename HalfPack<N>::Table;
  return (Vector)(((Bits)a.v & kept.raw) | ((Bits)permute(b, table).v & ~kept.raw));
#endif
}

template <int N>
__attribute__((always_inline)) inline void hold([[maybe_unused]] HalfPack<N>& p) {
#if defined(__x86_64__)
  if constexpr (N * sizeof(Half) <= register_bytes) asm("" : "+v"(p.v));
#elif defined(__aarch64__)
  if constexpr (N * sizeof(Half) == register_bytes) asm("" : "+w"(p.v));
#endif
}

#else

inline constexpr bool native_half = false;

template <int N>
struct alignas(N * sizeof(Half)) HalfPack {
  using Scalar = Half;
  static constexpr int lanes = N;

  std::array<Half, N> lane;

  HalfPack() = default;
  explicit HalfPack(float number) { lane.fill(narrow(number)); }

  static HalfPack load(const Half* from) {
    HalfPack p;
    std::memcpy(static_cast<void*>(&p), from, sizeof(p));
    return p;
  }
  void store(Half* to) const { std::memcpy(static_cast<void*>(to), this, sizeof(*this)); }

  __attribute__((noinline)) HalfPack& operator+=(const HalfPack& b) {
    rounded(*this, *this, b, [](const Part& x, const Part& y) { return x + y; });
    return *this;
  }
  __attribute__((noinline)) HalfPack& operator-=(const HalfPack& b) {
    rounded(*this, *this, b, [](const Part& x, const Part& y) { return x - y; });
    return *this;
  }
  __attribute__((noinline)) friend HalfPack operator+(const HalfPack& a, const HalfPack& b) {
    HalfPack sum;
    rounded(sum, a, b, [](const Part& x, const Part& y) { return x + y; });
    return sum;
  }
  __attribute__((noinline)) friend HalfPack operator-(const HalfPack& a, const HalfPack& b) {
    HalfPack difference;
    rounded(difference, a, b, [](const Part& x, const Part& y) { return x - y; });
    return difference;
  }
  __attribute__((noinline)) friend HalfPack operator*(const HalfPack& a, const HalfPack& b) {
    HalfPack product;
    rounded(product, a, b, [](const Part& x, const Part& y) { return x * y; });
    return product;
  }
  __attribute__((noinline)) friend HalfPack operator-(const HalfPack& a) {
    HalfPack minus;
    for (int i = 0; i < N; ++i) minus.lane[i].bits = static_cast<std::uint16_t>(a.lane[i].bits ^ 0x8000u);
    return minus;
  }

private:
  static constexpr int width = std::min(N, native_lanes<float>);
  using Part = Number<float, width>;

  template <class Operation>
  static void rounded(HalfPack& to, const HalfPack& a, const HalfPack& b, Operation operation) {
    using Memory = Stored<Half, Part>;
    for (int i = 0; i < N; i += width)
      Memory::store(&to.lane[i], operation(Memory::load(&a.lane[i]), Memory::load(&b.lane[i])));
  }
};

template <int N>
struct HalfLaneMask {
  std::array<bool, N> raw{};
  HalfLaneMask() = default;
  explicit HalfLaneMask(const std::array<bool, N>& chosen) : raw(chosen) {}
};

template <int N>
struct LaneMoves<HalfPack<N>> {
  using Index = std::int16_t;
  using Table = const Index*;
  using Chosen = HalfLaneMask<N>;
  static Table table(const Index* from) { return from; }
};

template <int N>
HalfPack<N> permute(const HalfPack<N>& a, const std::int16_t* table) {
  HalfPack<N> moved;
  permute_halves<N>(moved.lane.data(), a.lane.data(), table);
  return moved;
}
template <int N>
__attribute__((noinline)) HalfPack<N> permute_or_keep(const HalfPack<N>& a, const HalfPack<N>& b,
                                                      const std::int16_t* table, const HalfLaneMask<N>& kept) {
  HalfPack<N> merged = a;
  for (int i = 0; i < N; ++i)
    if (!kept.raw[i]) merged.lane[i] = b.lane[table[i]];
  return merged;
}
template <int N>
HalfPack<N> permute_or_zero(const HalfPack<N>& a, const std::int16_t* table, const HalfLaneMask<N>& chosen) {
  return permute_or_keep(permute(a, table), HalfPack<N>(0.0f), table, chosen);
}

template <int N>
void hold(HalfPack<N>&) {}

#endif

/// A kernel that computes in 16 bits loads and stores Half without conversion.
template <int N>
struct Stored<Half, HalfPack<N>> {
  static __attribute__((always_inline)) HalfPack<N> load(const Half* from) { return HalfPack<N>::load(from); }
  static __attribute__((always_inline)) void store(Half* to, const HalfPack<N>& p) { p.store(to); }
};

}  // namespace halocline::core
