// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `Pack<T, N>`: N numbers on which every operation acts lane by lane.
///
/// A thin wrapper over the vector extensions of GCC and Clang. The compiler maps a pack onto the registers of the
/// compiled instruction set, two or more of them if N is wider than one register. Measured on the SU(3) times
/// half-spinor product, it is as fast as intrinsics and the portable SIMD libraries (docs/design/0001). Contraction to
/// fused multiply-add is left to the compiler (-ffp-contract=fast): a*b + c is one instruction where one exists. A pack
/// of one lane is the plain scalar, so the scalar fallback of a layout runs the same kernels.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
#include <arm_sve.h>
#endif

namespace halocline::core {

/// Bytes of one vector register of the compiled instruction set.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
inline constexpr int register_bytes = __ARM_FEATURE_SVE_BITS / 8;
#elif defined(__AVX2__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

/// Lanes of T that fill one register.
template <class T>
inline constexpr int native_lanes = register_bytes / static_cast<int>(sizeof(T));

/// Lanes of the packs in which a kernel computes a tile of V lanes: at most V, at most a register, and a number that
/// compiles to vector instructions. GCC turns packs between 16 bytes and the register of a fixed-length SVE into scalar
/// code. Such a tile is computed in packs of 16 bytes.
template <class T, int V>
inline constexpr int pack_lanes =
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
    V >= native_lanes<T> ? native_lanes<T> : (V * int{sizeof(T)} > 16 ? 16 / int{sizeof(T)} : V);
#else
    V < native_lanes<T> ? V : native_lanes<T>;
#endif

/// The most lanes, `lanes` or fewer, of a pack that compiles to vector instructions as a whole: with registers of
/// 512-bit SVE 4 instead of 8 for float, see pack_lanes.
template <class T>
constexpr int whole_pack_lanes(int lanes) {
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
  if (lanes < native_lanes<T> && lanes * static_cast<int>(sizeof(T)) > 16) return 16 / static_cast<int>(sizeof(T));
#endif
  return lanes;
}

namespace detail {
template <class T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * N)));
};
template <int N, class T>
using MaskInt = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

/// Hides from the compiler where a vector comes from that fits into a register, where it can be named as one.
template <class Vector>
__attribute__((always_inline)) inline void hold_register([[maybe_unused]] Vector& v) {
#if defined(__x86_64__)
  if constexpr (sizeof(Vector) >= 16 && sizeof(Vector) <= register_bytes) {
#if defined(__AVX512F__)
    asm("" : "+v"(v));
#else
    asm("" : "+x"(v));
#endif
  }
#elif defined(__aarch64__)
#if defined(__clang__) && defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
  // Clang takes a wide vector for an operand under its SVE type alone.
  if constexpr (sizeof(Vector) == register_bytes && sizeof(v[0]) == 4) {
    svfloat32_t r = (svfloat32_t)v;
    asm("" : "+w"(r));
    v = Vector(r);
  } else if constexpr (sizeof(Vector) == register_bytes && sizeof(v[0]) == 8) {
    svfloat64_t r = (svfloat64_t)v;
    asm("" : "+w"(r));
    v = Vector(r);
  }
#else
  if constexpr (sizeof(Vector) == 16 || sizeof(Vector) == register_bytes) asm("" : "+w"(v));
#endif
#endif
}
}  // namespace detail

template <std::floating_point T, int N>
struct Pack {
  static_assert(N >= 2 && (N & (N - 1)) == 0, "lanes are a power of two");
  using Scalar = T;
  using Vector = typename detail::VectorOf<T, N>::type;
  using MaskLane = detail::MaskInt<N, T>;
  using Mask = typename detail::VectorOf<MaskLane, N>::type;
  static constexpr int lanes = N;

  Vector v;

  Pack() = default;
  __attribute__((always_inline)) Pack(Vector raw) : v(raw) {}
  __attribute__((always_inline)) Pack(T scalar) : v(scalar - Vector{}) {}

  /// Loads N consecutive numbers; no alignment required.
  static __attribute__((always_inline)) Pack load(const T* from) {
    Pack p;
    std::memcpy(&p.v, from, sizeof(Vector));
    return p;
  }
  __attribute__((always_inline)) void store(T* to) const { std::memcpy(to, &v, sizeof(Vector)); }

  T operator[](int lane) const { return v[lane]; }
  void set(int lane, T value) { v[lane] = value; }

  __attribute__((always_inline)) Pack& operator+=(const Pack& b) {
    v += b.v;
    return *this;
  }
  __attribute__((always_inline)) Pack& operator-=(const Pack& b) {
    v -= b.v;
    return *this;
  }
  __attribute__((always_inline)) Pack& operator*=(const Pack& b) {
    v *= b.v;
    return *this;
  }
  friend __attribute__((always_inline)) Pack operator+(const Pack& a, const Pack& b) { return Pack(a.v + b.v); }
  friend __attribute__((always_inline)) Pack operator-(const Pack& a, const Pack& b) { return Pack(a.v - b.v); }
  friend __attribute__((always_inline)) Pack operator*(const Pack& a, const Pack& b) { return Pack(a.v * b.v); }
  friend __attribute__((always_inline)) Pack operator/(const Pack& a, const Pack& b) { return Pack(a.v / b.v); }
  friend __attribute__((always_inline)) Pack operator-(const Pack& a) { return Pack(-a.v); }
  friend __attribute__((always_inline)) Mask operator<(const Pack& a, const Pack& b) { return a.v < b.v; }
  friend __attribute__((always_inline)) Mask operator>(const Pack& a, const Pack& b) { return a.v > b.v; }
};

/// Non-temporal store: bypasses the caches if the instruction set can and the pack is a full register. `to` must then
/// be aligned to the register. Other threads see the store after fence_streams().
template <class T, int N>
__attribute__((always_inline)) inline void stream(T* to, const Pack<T, N>& p) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) * N == 64) {
    if constexpr (std::is_same_v<T, float>)
      _mm512_stream_ps(to, (__m512)p.v);
    else
      _mm512_stream_pd(to, (__m512d)p.v);
    return;
  }
#endif
  p.store(to);
}
template <std::floating_point T>
__attribute__((always_inline)) inline void stream(T* to, const T& number) {
  *to = number;
}
inline void fence_streams() {
#if defined(__AVX512F__)
  _mm_sfence();
#endif
}

/// lane by lane: mask ? a : b
template <class T, int N>
__attribute__((always_inline)) inline Pack<T, N> select(typename Pack<T, N>::Mask mask, const Pack<T, N>& a,
                                                        const Pack<T, N>& b) {
  return Pack<T, N>(mask ? a.v : b.v);
}

/// a b + c, with one rounding if the instruction set has fused multiply-add.
template <class P>
__attribute__((always_inline)) inline P fma(const P& a, const P& b, const P& c) {
  return a * b + c;
}

/// Lanes moved by a run-time table: result[i] = a[table[i]], with the table taken modulo N.
template <class T, int N>
__attribute__((always_inline)) inline Pack<T, N> permute(const Pack<T, N>& a, typename Pack<T, N>::Mask table) {
#if __has_builtin(__builtin_shuffle)
  return Pack<T, N>(__builtin_shuffle(a.v, table));
#else  // clang
#if defined(__AVX512F__)
  if constexpr (sizeof(T) * N == 64) {
    if constexpr (std::is_same_v<T, float>)
      return Pack<T, N>((typename Pack<T, N>::Vector)_mm512_permutexvar_ps((__m512i)table, (__m512)a.v));
    else
      return Pack<T, N>((typename Pack<T, N>::Vector)_mm512_permutexvar_pd((__m512i)table, (__m512d)a.v));
  }
#endif
  Pack<T, N> out;
  for (int i = 0; i < N; ++i) out.v[i] = a.v[table[i] & (N - 1)];
  return out;
#endif
}

/// Lanes of two packs: result[i] = table[i] < N ? a[table[i]] : b[table[i] - N], with the table taken modulo 2 N.
template <class T, int N>
__attribute__((always_inline)) inline Pack<T, N> permute(const Pack<T, N>& a, const Pack<T, N>& b,
                                                         typename Pack<T, N>::Mask table) {
#if __has_builtin(__builtin_shuffle)
  return Pack<T, N>(__builtin_shuffle(a.v, b.v, table));
#else  // clang
#if defined(__AVX512F__)
  if constexpr (sizeof(T) * N == 64) {
    if constexpr (std::is_same_v<T, float>)
      return Pack<T, N>((typename Pack<T, N>::Vector)_mm512_permutex2var_ps((__m512)a.v, (__m512i)table, (__m512)b.v));
    else
      return Pack<T, N>(
          (typename Pack<T, N>::Vector)_mm512_permutex2var_pd((__m512d)a.v, (__m512i)table, (__m512d)b.v));
  }
#endif
  Pack<T, N> out;
  for (int i = 0; i < N; ++i) {
    const auto from = table[i] & (2 * N - 1);
    out.v[i] = from < N ? a.v[from] : b.v[from - N];
  }
  return out;
#endif
}

/// A selection of lanes, in the form that the instruction set uses: a bit mask or a vector.
template <class T, int N>
struct LaneMask {
#if defined(__AVX512F__)
  static constexpr bool bits = sizeof(T) * N == 64;
#else
  static constexpr bool bits = false;
#endif
  using Raw = std::conditional_t<bits, std::uint16_t, typename Pack<T, N>::Mask>;
  Raw raw{};

  LaneMask() = default;
  explicit LaneMask(const std::array<bool, N>& chosen) {
    for (int i = 0; i < N; ++i) {
      if constexpr (bits)
        raw = static_cast<std::uint16_t>(raw | (unsigned{chosen[i]} << i));
      else
        raw[i] = chosen[i] ? -1 : 0;
    }
  }
};
template <class T>
struct LaneMask<T, 1> {
  bool raw = false;
  LaneMask() = default;
  explicit LaneMask(const std::array<bool, 1>& chosen) : raw(chosen[0]) {}
};

/// Loads a table of lanes from memory.
template <class T, int N>
__attribute__((always_inline)) inline typename Pack<T, N>::Mask load_table(const typename Pack<T, N>::MaskLane* from) {
  typename Pack<T, N>::Mask table;
  std::memcpy(&table, from, sizeof(table));
  return table;
}

/// The types for moving lanes of a number: lane indices in memory, a table of them in registers, and a selection of
/// lanes. A scalar has no lanes to move.
template <class Real>
struct LaneMoves {
  using Index = std::int32_t;
  using Chosen = LaneMask<Real, 1>;
};
template <class T, int N>
struct LaneMoves<Pack<T, N>> {
  using Index = typename Pack<T, N>::MaskLane;
  using Table = typename Pack<T, N>::Mask;
  using Chosen = LaneMask<T, N>;
  static __attribute__((always_inline)) Table table(const Index* from) { return load_table<T, N>(from); }
};

/// result[i] = chosen[i] ? a[table[i]] : 0
template <class T, int N>
__attribute__((always_inline)) inline Pack<T, N> permute_or_zero(const Pack<T, N>& a, typename Pack<T, N>::Mask table,
                                                                 const LaneMask<T, N>& chosen) {
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
  // An index beyond the lanes, which chosen.raw = 0 makes of any other, gives zero.
  if constexpr (sizeof(T) == 4 && N * 32 == __ARM_FEATURE_SVE_BITS)
    return Pack<T, N>(typename Pack<T, N>::Vector(svtbl_f32(a.v, svreinterpret_u32_s32(table | ~chosen.raw))));
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4 && N == 16)
    return Pack<T, N>(
        (typename Pack<T, N>::Vector)_mm512_maskz_permutexvar_ps(chosen.raw, (__m512i)table, (__m512)a.v));
#endif
  if constexpr (LaneMask<T, N>::bits) {
    Pack<T, N> moved = permute(a, table);
    for (int i = 0; i < N; ++i)
      if (((chosen.raw >> i) & 1) == 0) moved.set(i, T(0));
    return moved;
  } else {
    return select(chosen.raw, permute(a, table), Pack<T, N>(T(0)));
  }
}

/// result[i] = kept[i] ? a[i] : b[table[i]]
template <class T, int N>
__attribute__((always_inline)) inline Pack<T, N>
permute_or_keep(const Pack<T, N>& a, const Pack<T, N>& b, typename Pack<T, N>::Mask table, const LaneMask<T, N>& kept) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4 && N == 16)
    return Pack<T, N>((typename Pack<T, N>::Vector)_mm512_mask_permutexvar_ps(
        (__m512)a.v, static_cast<__mmask16>(~kept.raw), (__m512i)table, (__m512)b.v));
#endif
  if constexpr (LaneMask<T, N>::bits) {
    Pack<T, N> merged = permute(b, table);
    for (int i = 0; i < N; ++i)
      if (((kept.raw >> i) & 1) != 0) merged.set(i, a[i]);
    return merged;
  } else {
    return select(kept.raw, a, permute(b, table));
  }
}

/// Lane i of the result is lane i + shift of `a` followed by `b` (0 <= shift <= N): a window that slides along x.
template <int shift, class T, int N>
__attribute__((always_inline)) inline Pack<T, N> lane_shift(const Pack<T, N>& a, const Pack<T, N>& b) {
  static_assert(0 <= shift && shift <= N);
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return Pack<T, N>(__builtin_shufflevector(a.v, b.v, (static_cast<int>(i) + shift)...));
  }(std::make_index_sequence<N>{});
}

/// Sum over the lanes, pairwise, so that the order of the additions is fixed.
template <class T, int N>
inline T horizontal_sum(const Pack<T, N>& a) {
  std::array<T, N> lane;
  a.store(lane.data());
  for (int width = N / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  return lane[0];
}

namespace detail {

/// Adds neighbouring chunks of lanes, where each group of two chunks is of `a` and then of `b` in the result.
template <int chunk, class T, int N>
__attribute__((always_inline)) inline Pack<T, N> add_chunks(const Pack<T, N>& a, const Pack<T, N>& b) {
  constexpr auto from = [](std::size_t lane) {
    const int l = static_cast<int>(lane), group = l / (2 * chunk) * 2 * chunk, rest = l % (2 * chunk);
    return rest < chunk ? group + rest : N + group + rest - chunk;
  };
  return [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    return Pack<T, N>(__builtin_shufflevector(a.v, b.v, from(i)...) +
                      __builtin_shufflevector(a.v, b.v, (from(i) + chunk)...));
  }(std::make_index_sequence<N>{});
}

}  // namespace detail

/// Lane i of the result is the sum over the lanes of packs[i], of neighbours first: 2 (N - 1) shuffles and N - 1
/// additions, where horizontal_sum() of each pack would go through memory.
template <int chunk = 1, class T, int N, std::size_t count>
__attribute__((always_inline)) inline Pack<T, N> horizontal_sums(const std::array<Pack<T, N>, count>& packs) {
  if constexpr (count == 1) {
    return packs[0];
  } else {
    std::array<Pack<T, N>, count / 2> sums;
    for (std::size_t i = 0; i < count / 2; ++i) sums[i] = detail::add_chunks<chunk>(packs[2 * i], packs[2 * i + 1]);
    return horizontal_sums<2 * chunk>(sums);
  }
}

template <class To, class T, int N>
__attribute__((always_inline)) inline Pack<To, N> convert(const Pack<T, N>& a) {
#if defined(__AVX512F__) && !defined(__CUDACC__)
  // One instruction; GCC 12 would convert the two halves and join them. It warns of an undefined register in the form
  // without a mask. Not tried under nvcc.
  using Vector = typename Pack<To, N>::Vector;
  if constexpr (N == 8 && std::is_same_v<To, double> && std::is_same_v<T, float>)
    return Pack<To, N>((Vector)_mm512_maskz_cvtps_pd(0xff, (__m256)a.v));
  if constexpr (N == 8 && std::is_same_v<To, float> && std::is_same_v<T, double>)
    return Pack<To, N>((Vector)_mm512_maskz_cvtpd_ps(0xff, (__m512d)a.v));
#endif
  return Pack<To, N>(__builtin_convertvector(a.v, typename Pack<To, N>::Vector));
}

/// The number type that holds `N` sites: a pack, or the plain scalar for N = 1.
template <class T, int N>
struct NumberOf {
  using type = Pack<T, N>;
};
template <class T>
struct NumberOf<T, 1> {
  using type = T;
};
template <class T, int N>
using Number = typename NumberOf<T, N>::type;

/// Loads and stores that read the same for a pack and a scalar.
template <class P>
struct Lanes {
  using Scalar = typename P::Scalar;
  static constexpr int count = P::lanes;
  static __attribute__((always_inline)) P load(const Scalar* from) { return P::load(from); }
  static __attribute__((always_inline)) void store(Scalar* to, const P& p) { p.store(to); }
};
template <std::floating_point T>
struct Lanes<T> {
  using Scalar = T;
  static constexpr int count = 1;
  static __attribute__((always_inline)) T load(const T* from) { return *from; }
  static __attribute__((always_inline)) void store(T* to, const T& p) { *to = p; }
};

#if defined(__clang__)
/// As rounded() of complex.hpp.
template <class T, int N>
__attribute__((always_inline)) inline Pack<T, N> rounded(Pack<T, N> product) {
  detail::hold_register(product.v);
  return product;
}
#endif

}  // namespace halocline::core
