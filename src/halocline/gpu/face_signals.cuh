// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// For kernels: raise a flag when a face is written, and wait for a neighbour's flag.
///
/// The data go first. A block that writes a face makes its stores visible to the whole machine, then counts itself. The
/// last block of the face stores the step into the neighbour's flag, with release at system scope. A thread that reads
/// a face loads its flag, with acquire at system scope, until the flag has reached the step. The other threads of its
/// block read after the barrier that launch() puts after begin_block(). A flag may be one step ahead, never two
/// (docs/design/0011-device-halo.md).
///
/// On the host executor the flags are accessed by std::atomic_ref, and a waiting loop yields the core to other
/// processes.

#include <cstdint>

#include "halocline/core/device.hpp"
#include "halocline/gpu/face_exchange.hpp"

#if !defined(__CUDA_ARCH__)
#include <sched.h>

#include <atomic>
#include <chrono>
#endif

namespace halocline::gpu {

/// Looks at the flag between two checks of the time limit and of a failure by another thread.
inline constexpr unsigned looks_between_doubts = 256;

/// Sets the neighbour's flag of `face` to the step. All writes that this thread has made or seen become visible before
/// the flag. Does nothing if the kernel does not send this message.
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

/// For end_block() of a packing kernel: counts one of the `blocks` blocks that write this face as done. The last block
/// raises the flag and resets the count to zero.
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

/// Gives up a message that does not come. Stores the failure for the host and fills the message with NaNs, so that
/// nobody takes numbers computed from it for a result. Then raises this rank's flag, so that no other thread waits.
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

/// Waits for the message of this step at `face`. Returns false if it has not come within the time limit, or if another
/// thread has given up another face. Then FaceSignals::failed holds the failure, check() throws, and the message is
/// NaNs.
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

/// Waits for all awaited faces. For begin_block() of a kernel that reads them.
HALOCLINE_HOST_DEVICE inline bool await_all(const FaceSignals& signals) {
  bool all = true;
  for (int face = 0; face < most_faces; ++face)
    if (signals.await[face] != nullptr) all = await(signals, face) && all;
  return all;
}

}  // namespace halocline::gpu
