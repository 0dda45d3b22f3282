// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Copying into memory that another core will read, past the caches of this one.
///
/// An ordinary store first fetches the cache line, and takes it away from the core that read it last. For lines in
/// another core's cache that costs 8 to 50 ns each, depending on where the two cores sit, and a core can do few of
/// these at a time. A streaming store of a whole line fetches nothing. The reader then finds the line in memory
/// rather than in our cache. That costs it some 100 ns once but streams well, so long messages gain and short ones
/// lose.

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace halocline::comm::detail {

#if defined(__SSE2__)
inline constexpr bool has_streaming_stores = true;
#else
inline constexpr bool has_streaming_stores = false;
#endif

/// Copies. A reader that acquires a flag released after this call sees all of it.
inline void streaming_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::size_t done = 0;
#if defined(__SSE2__)
  for (; done + 64 <= bytes; done += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + done);
    auto* target = reinterpret_cast<__m128i*>(to + done);
    const __m128i a = _mm_load_si128(source), b = _mm_load_si128(source + 1);
    const __m128i c = _mm_load_si128(source + 2), d = _mm_load_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();  // a release store alone does not wait for streaming stores
#endif
  if (done < bytes) std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace halocline::comm::detail
