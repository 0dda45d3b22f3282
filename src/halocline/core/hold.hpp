// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Keeps a loaded number in a register.
///
/// Where a loaded pack is used several times, compilers like to make each use a memory operand. That looks free,
/// because one instruction can load and compute. In a kernel whose speed is limited by its loads it is not free. `hold`
/// hides the number's origin from the compiler, so that the number is loaded once. It emits no instruction.
///
/// `hold` also ends an expression: a held product is rounded, and does not contract with the sum that uses it.

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
  detail::hold_register(p.v);
}

/// Hides where an address comes from: addresses near it are then formed from the register that has it. Emits no
/// instruction.
template <class T>
__attribute__((always_inline)) inline void hold_address([[maybe_unused]] T*& address) {
#if defined(__x86_64__) || defined(__aarch64__)
  asm("" : "+r"(address));
#endif
}

/// Loads a number and holds it.
template <class P>
__attribute__((always_inline)) inline P load_held(const typename Lanes<P>::Scalar* from) {
  P p = Lanes<P>::load(from);
  hold(p);
  return p;
}

}  // namespace halocline::core
