// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The instruction that a spin loop executes between two looks at another thread's memory.

namespace halocline::core {

/// Tells the core that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace halocline::core
