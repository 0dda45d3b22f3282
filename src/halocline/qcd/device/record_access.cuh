// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Records of numbers, one a site, read and written by vector accesses.
///
/// A record of n numbers is cut into pieces of 16 bytes and, at its end, of 8, 4, 2 or 1 bytes. For example, a fixed16
/// link of twelve reals has pieces of 16 and 8 bytes. The pieces j of consecutive sites are contiguous,
/// `[piece][site]`, so each access of a warp reads whole lines. The row of a piece begins at base + stride x (numbers
/// before the piece in the record). The stride is a multiple of 64 sites (padded()), so every row begins at a multiple
/// of 128 bytes for any number type.
///
/// Addresses are base + 64-bit products of the 32-bit stride or site with a constant. Each takes one instruction on a
/// GPU, and no box that Box accepts can overflow them.

#include <bit>
#include <cstdint>
#include <cstring>

#include "halocline/core/device.hpp"
#include "halocline/qcd/device/storage.cuh"

/// Goes before a loop over arrays in registers, because their indices must become constants.
#if defined(__CUDACC__)
#define HALOCLINE_UNROLL _Pragma("unroll")
#else
#define HALOCLINE_UNROLL
#endif

namespace halocline::qcd::device::detail {

/// How many numbers the piece has that begins at number `first` of a record of n.
constexpr int piece_numbers(int bytes_each, int n, int first) {
  const int left = (n - first) * bytes_each;
  for (int bytes = 16; bytes > bytes_each; bytes /= 2)
    if (left >= bytes) return bytes / bytes_each;
  return 1;
}

/// A record in registers: floating-point numbers as they are, fixed-point ones packed in 32-bit words, lowest first.
template <class Word, int n>
struct Record {
  Word at[n];
};
template <int n>
struct Record<std::int16_t, n> {
  std::uint32_t at[(n + 1) / 2];
};
template <int n>
struct Record<std::int8_t, n> {
  std::uint32_t at[(n + 3) / 4];
};

#if defined(__CUDACC__)
/// The device's vector types.
template <class Word, int count>
struct Vector;
template <>
struct Vector<double, 2> {
  using type = double2;
};
template <>
struct Vector<double, 1> {
  using type = double;
};
template <>
struct Vector<float, 4> {
  using type = float4;
};
template <>
struct Vector<float, 2> {
  using type = float2;
};
template <>
struct Vector<float, 1> {
  using type = float;
};
/// The types for fixed point, by number of bytes.
template <int bytes>
struct Bits;
template <>
struct Bits<16> {
  using type = uint4;
};
template <>
struct Bits<8> {
  using type = uint2;
};
template <>
struct Bits<4> {
  using type = std::uint32_t;
};
template <>
struct Bits<2> {
  using type = std::uint16_t;
};
template <>
struct Bits<1> {
  using type = std::uint8_t;
};
#endif

/// How a kernel loads memory.
enum class Read {
  written,   ///< threads of this kernel may write it
  constant,  ///< no thread writes it while the kernel runs, so the read-only path may be used
  once       ///< the same, and the first-level cache keeps no copy, because no other thread reads it
};

#if defined(__CUDA_ARCH__)
/// Loads that leave no line in the first-level cache, of the types in records that are read so.
__device__ __forceinline__ void load_past_cache(uint4& v, const uint4* from) {
  asm("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(__cvta_generic_to_global(from)));
}
__device__ __forceinline__ void load_past_cache(uint2& v, const uint2* from) {
  asm("ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];"
      : "=r"(v.x), "=r"(v.y)
      : "l"(__cvta_generic_to_global(from)));
}
__device__ __forceinline__ void load_past_cache(float4& v, const float4* from) {
  asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "l"(__cvta_generic_to_global(from)));
}
__device__ __forceinline__ void load_past_cache(double2& v, const double2* from) {
  asm("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];"
      : "=d"(v.x), "=d"(v.y)
      : "l"(__cvta_generic_to_global(from)));
}
template <Read read, class V>
__device__ __forceinline__ V load_vector(const V* from) {
  if constexpr (read == Read::written) {
    return *from;
  } else if constexpr (read == Read::constant) {
    return __ldg(from);
  } else {
    V v;
    load_past_cache(v, from);
    return v;
  }
}
#endif

/// Copies `count` contiguous numbers from memory into the record, from number `first` on.
template <Read read, int first, int count, class Word, int n>
HALOCLINE_INLINE void load_piece(Record<Word, n>& record, const Word* from) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_floating_point_v<Word>) {
    using V = typename Vector<Word, count>::type;
    const V* place = reinterpret_cast<const V*>(from);
    const V v = load_vector<read>(place);
    if constexpr (count == 1) {
      record.at[first] = v;
    } else {
      record.at[first] = v.x;
      record.at[first + 1] = v.y;
      if constexpr (count == 4) {
        record.at[first + 2] = v.z;
        record.at[first + 3] = v.w;
      }
    }
  } else {
    constexpr int bytes = count * static_cast<int>(sizeof(Word));
    constexpr int word = first * static_cast<int>(sizeof(Word)) / 4;
    using V = typename Bits<bytes>::type;
    const V* place = reinterpret_cast<const V*>(from);
    const V v = load_vector<read>(place);
    if constexpr (bytes <= 4) {
      record.at[word] = v;
    } else {
      record.at[word] = v.x;
      record.at[word + 1] = v.y;
      if constexpr (bytes == 16) {
        record.at[word + 2] = v.z;
        record.at[word + 3] = v.w;
      }
    }
  }
#else
  std::memcpy(reinterpret_cast<std::byte*>(record.at) + first * sizeof(Word), from, count * sizeof(Word));
#endif
}

#if defined(__CUDA_ARCH__)
/// A store of 16 bytes that stays one. ptxas may cut a plain store of a vector into four, where it would otherwise keep
/// the parts in registers that are not adjacent.
/// @tparam streams  the second-level cache gives the data up before others
template <bool streams = false, class V>
__device__ __forceinline__ void store_vector(V* to, const V& v) {
  if constexpr (streams)
    __stcs(to, v);
  else if constexpr (sizeof(V) == 16)
    __stwb(to, v);
  else
    *to = v;
}
#endif

/// Copies `count` numbers of the record, from number `first` on, to contiguous memory.
template <bool streams, int first, int count, class Word, int n>
HALOCLINE_INLINE void store_piece(Word* to, const Record<Word, n>& record) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_floating_point_v<Word>) {
    using V = typename Vector<Word, count>::type;
    V v;
    if constexpr (count == 1) {
      v = record.at[first];
    } else {
      v.x = record.at[first];
      v.y = record.at[first + 1];
      if constexpr (count == 4) {
        v.z = record.at[first + 2];
        v.w = record.at[first + 3];
      }
    }
    store_vector<streams>(reinterpret_cast<V*>(to), v);
  } else {
    constexpr int bytes = count * static_cast<int>(sizeof(Word));
    constexpr int word = first * static_cast<int>(sizeof(Word)) / 4;
    using V = typename Bits<bytes>::type;
    V v;
    if constexpr (bytes <= 4) {
      v = static_cast<V>(record.at[word]);
    } else {
      v.x = record.at[word];
      v.y = record.at[word + 1];
      if constexpr (bytes == 16) {
        v.z = record.at[word + 2];
        v.w = record.at[word + 3];
      }
    }
    store_vector<streams>(reinterpret_cast<V*>(to), v);
  }
#else
  std::memcpy(to, reinterpret_cast<const std::byte*>(record.at) + first * sizeof(Word), count * sizeof(Word));
#endif
}

/// Loads the record of a site.
/// @param base    start of the first row
/// @param stride  length of a row in sites, from padded()
template <Read read, class Word, int n, int first = 0>
HALOCLINE_INLINE void load_record(Record<Word, n>& record, const Word* base, int stride, int site) {
  if constexpr (first < n) {
    constexpr int count = piece_numbers(sizeof(Word), n, first);
    load_piece<read, first, count>(record, base + std::int64_t{stride} * first + std::int64_t{site} * count);
    load_record<read, Word, n, first + count>(record, base, stride, site);
  }
}
/// Prefetches the record of a site into the second-level cache, for a later load. Does nothing on the host.
template <class Word, int n, int first = 0>
HALOCLINE_INLINE void prefetch_record([[maybe_unused]] const Word* base, [[maybe_unused]] int stride,
                                      [[maybe_unused]] int site) {
#if defined(__CUDA_ARCH__)
  if constexpr (first < n) {
    constexpr int count = piece_numbers(sizeof(Word), n, first);
    const Word* from = base + std::int64_t{stride} * first + std::int64_t{site} * count;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from)));
    prefetch_record<Word, n, first + count>(base, stride, site);
  }
#endif
}
/// Stores the record of a site. @tparam streams  as for store_vector()
template <bool streams = false, class Word, int n, int first = 0>
HALOCLINE_INLINE void store_record(Word* base, int stride, int site, const Record<Word, n>& record) {
  if constexpr (first < n) {
    constexpr int count = piece_numbers(sizeof(Word), n, first);
    store_piece<streams, first, count>(base + std::int64_t{stride} * first + std::int64_t{site} * count, record);
    store_record<streams, Word, n, first + count>(base, stride, site, record);
  }
}

}  // namespace halocline::qcd::device::detail
