// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Keeps a number that was loaded in a register.
///
/// Where a loaded pack is used several times, compilers like to make each use an operand in memory: that looks free, as
/// an instruction can compute and load at once. It is not in a kernel that is bound by its loads. `hold` hides from the
/// compiler where the number came from, so that it is loaded once. It makes no instruction of its own.
///
/// It also ends an expression: a product that is held is rounded, and not contracted with the sum that takes it.

#include <concepts>

#include "halocline/core/pack.hpp"

namespace halocline::core {

template <std::floating_point T>
__attribute__((always_inline)) inline void hold([[maybe_unused]] T& number) {
#if defined(__x86_64__)
  asm("" : "+x"(number));
#elif defined(__aarch64__)
  asm("" : "+w"(number));
#endif
}

template <class T, int N>
__attribute__((always_inline)) inline void hold(Pack<T, N>& p) {
  if constexpr (sizeof(T) * N == register_bytes) {
#if defined(__AVX512F__)
    asm("" : "+v"(p.v));
#elif defined(__x86_64__)
    asm("" : "+x"(p.v));
#elif defined(__aarch64__)
    asm("" : "+w"(p.v));
#endif
  }
}

/// A load that is held.
template <class P>
__attribute__((always_inline)) inline P load_held(const typename Lanes<P>::Scalar* from) {
  P p = Lanes<P>::load(from);
  hold(p);
  return p;
}

}  // namespace halocline::core
