// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// For kernels: telling a neighbour that a face is written, and waiting for what a neighbour writes.
///
/// The data go first. Who writes a face makes its stores visible to the whole machine, then counts itself; the last
/// block of the face stores the step into the neighbour's flag with release, at system scope. Who reads a face loads
/// its flag with acquire at system scope until it is not behind the step; a block's other threads read after the
/// barrier that launch() puts behind begin_block(). A flag may be one step ahead, never two
/// (docs/design/0012-device-halo.md).
///
/// On the host executor the same words are std::atomic_ref, and whoever waits lets other processes have the core.

#include <cstdint>

#include "halocline/core/device.hpp"
#include "halocline/gpu/face_exchange.hpp"

#if !defined(__CUDA_ARCH__)
#include <sched.h>

#include <atomic>
#include <chrono>
#endif

namespace halocline::gpu {

/// Looks between two questions whether somebody else has given up already.
inline constexpr unsigned looks_between_doubts = 256;

/// The flag of `face` at the neighbour becomes the step. Everything this thread knows to be written is seen before it.
/// Nothing happens where the message is sent by somebody else.
HALOCLINE_HOST_DEVICE inline void raise(const FaceSignals& signals, int face) {
  if (signals.raise[face] == nullptr) return;
#if defined(__CUDA_ARCH__)
  __threadfence_system();
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(signals.raise[face])),
               "l"(signals.step)
               : "memory");
#else
  std::atomic_ref(*signals.raise[face]).store(signals.step, std::memory_order_release);
#endif
}

/// For end_block() of a packing kernel: one of `blocks` blocks that write this face has done so. The last one raises
/// the flag and makes the count zero again.
HALOCLINE_HOST_DEVICE inline void count_packed(const FaceSignals& signals, int face, std::uint32_t blocks) {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
  if (atomicAdd(signals.packed[face], 1u) != blocks - 1) return;
  atomicExch(signals.packed[face], 0u);
#else
  if (std::atomic_ref(*signals.packed[face]).fetch_add(1) != blocks - 1) return;
  std::atomic_ref(*signals.packed[face]).store(0);
#endif
  raise(signals, face);
}

/// A message that does not come: the failure is left for the host, and where the message would be stand NaNs, so that
/// what is computed from it cannot be taken for a result. Then the flag is raised here, and nobody else waits.
HALOCLINE_HOST_DEVICE inline void give_up(const FaceSignals& signals, int face) {
  *const_cast<volatile std::uint64_t*>(signals.failed) =
      failure_number * signals.step + static_cast<unsigned>(1 + face);
  auto* words = reinterpret_cast<std::uint64_t*>(signals.arriving[face]);
  for (std::uint64_t i = 0; i < signals.bytes[face] / 8; ++i) words[i] = ~std::uint64_t{0};
  auto* flag = const_cast<std::uint64_t*>(signals.await[face]);
#if defined(__CUDA_ARCH__)
  __threadfence_system();
  *const_cast<volatile std::uint64_t*>(flag) = signals.step;
#else
  std::atomic_ref(*flag).store(signals.step, std::memory_order_release);
#endif
}

/// The message of this step is at `face`. False when it has not come within the time limit, or another thread has given
/// up another face; then FaceSignals::failed says so, check() throws, and the message is NaNs.
HALOCLINE_HOST_DEVICE inline bool await(const FaceSignals& signals, int face) {
#if defined(__CUDA_ARCH__)
  const auto flag = __cvta_generic_to_global(signals.await[face]);
  std::uint64_t begin = 0;
  for (std::uint32_t looks = 0;; ++looks) {
    std::uint64_t arrived;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(arrived) : "l"(flag) : "memory");
    if (arrived >= signals.step) return true;
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (begin == 0) begin = now;
    if (looks % looks_between_doubts == looks_between_doubts - 1 &&
        (*const_cast<const volatile std::uint64_t*>(signals.failed) != 0 ||
         static_cast<double>(now - begin) > 1e9 * signals.time_limit))
      break;
    __nanosleep(looks < 32 ? 20 : 200);
  }
#else
  using Clock = std::chrono::steady_clock;
  const std::atomic_ref<std::uint64_t> flag(*const_cast<std::uint64_t*>(signals.await[face]));
  Clock::time_point begin;
  for (std::int64_t looks = 0;; ++looks) {
    if (flag.load(std::memory_order_acquire) >= signals.step) return true;
    if (looks == 0) begin = Clock::now();
    if (looks % looks_between_doubts == looks_between_doubts - 1 &&
        (std::atomic_ref(*signals.failed).load() != 0 ||
         std::chrono::duration<double>(Clock::now() - begin).count() > signals.time_limit))
      break;
    if (looks > 16) sched_yield();
  }
#endif
  give_up(signals, face);
  return false;
}

/// All faces that are awaited. For begin_block() of a kernel that reads them.
HALOCLINE_HOST_DEVICE inline bool await_all(const FaceSignals& signals) {
  bool all = true;
  for (int face = 0; face < most_faces; ++face)
    if (signals.await[face] != nullptr) all = await(signals, face) && all;
  return all;
}

}  // namespace halocline::gpu
