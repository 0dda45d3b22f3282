// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// For kernels: raise a flag when a face is written, and wait for a neighbour's flag.
///
/// The data go first. After a barrier of a block that writes a face, one thread counts the block, with release at
/// device scope. The last block of the face fences at system scope, once, and stores the step into the neighbour's
/// flag. A thread that reads faces looks at their flags until they have reached the step, and then fences at system
/// scope, once. The other threads of its block read after the barrier that launch() puts after begin_block(). A flag
/// may be one step ahead, never two (docs/design/0011-device-halo.md).
///
/// On the host executor the flags are accessed by std::atomic_ref, and a waiting loop yields the core to other
/// processes.

#include <cstdint>

#include "halocline/core/device.hpp"
#include "halocline/gpu/face_exchange.hpp"
#include "halocline/gpu/memory_order.cuh"

#if !defined(__CUDA_ARCH__)
#include <sched.h>

#include <atomic>
#include <chrono>
#endif

namespace halocline::gpu {

/// Looks at the flag between two checks of the time limit and of a failure by another thread.
inline constexpr unsigned looks_between_doubts = 256;

namespace detail {
/// The value of the flags in the step of these signals.
HALOCLINE_INLINE std::uint64_t step_of(const FaceSignals& signals) {
  return signals.base == nullptr ? signals.step : *signals.base + signals.step;
}
}  // namespace detail

/// Sets the neighbour's flag of `face` to the step. All writes that this thread has made or seen become visible before
/// the flag. Does nothing if the kernel does not send this message.
HALOCLINE_HOST_DEVICE inline void raise(const FaceSignals& signals, int face) {
  if (signals.raise[face] == nullptr) return;
#if defined(__CUDA_ARCH__)
  detail::fence_system();
  detail::set(signals.raise[face], detail::step_of(signals));
#else
  std::atomic_ref(*signals.raise[face]).store(detail::step_of(signals), std::memory_order_release);
#endif
}

/// For end_block() of a packing kernel: counts one of the `blocks` blocks that write this face as done. The last block
/// raises the flag and resets the count to zero. The fence in raise() orders the counted blocks before the flag.
HALOCLINE_HOST_DEVICE inline void count_packed(const FaceSignals& signals, int face, std::uint32_t blocks) {
#if defined(__CUDA_ARCH__)
  if (detail::count_with_release(signals.packed[face]) != blocks - 1) return;
  *signals.packed[face] = 0;  // for the next launch; the other blocks have been counted
#else
  if (std::atomic_ref(*signals.packed[face]).fetch_add(1) != blocks - 1) return;
  std::atomic_ref(*signals.packed[face]).store(0);
#endif
  raise(signals, face);
}

namespace detail {

/// Whether the message of this step has arrived, by one look at the flag of `face`; true if no kernel awaits it.
HALOCLINE_HOST_DEVICE inline bool arrived(const FaceSignals& signals, int face) {
  if (signals.await[face] == nullptr) return true;
#if defined(__CUDA_ARCH__)
  return look(signals.await[face]) >= step_of(signals);
#else
  const std::atomic_ref<std::uint64_t> flag(*const_cast<std::uint64_t*>(signals.await[face]));
  return flag.load(std::memory_order_acquire) >= step_of(signals);
#endif
}

/// Gives up the messages whose bits are set in `missing`. Fills them with NaNs, so that nobody takes numbers computed
/// from them for a result. Then raises this rank's flags, so that no other thread waits.
HALOCLINE_HOST_DEVICE inline void give_up(const FaceSignals& signals, unsigned missing) {
  HALOCLINE_UNROLLED(1)
  for (int face = 0; face < most_faces; ++face) {
    if ((missing >> face & 1u) == 0) continue;
    auto* words = reinterpret_cast<std::uint64_t*>(signals.arriving[face]);
    HALOCLINE_UNROLLED(1)
    for (std::uint64_t i = 0; i < signals.bytes[face] / 8; ++i) words[i] = ~std::uint64_t{0};
  }
#if defined(__CUDA_ARCH__)
  fence_system();
#endif
  HALOCLINE_UNROLLED(1)
  for (int face = 0; face < most_faces; ++face) {
    if ((missing >> face & 1u) == 0) continue;
    auto* flag = const_cast<std::uint64_t*>(signals.await[face]);
#if defined(__CUDA_ARCH__)
    set(flag, step_of(signals));
#else
    std::atomic_ref(*flag).store(step_of(signals), std::memory_order_release);
#endif
  }
}

/// Looks until the message of this step has arrived at `face`. Orders no other access on a GPU: fence_system() must
/// follow. Returns false and stores the failure for the host if the message has not come within the time limit, or if
/// another thread has stored a failure. Then give_up() must follow.
HALOCLINE_HOST_DEVICE inline bool watch(const FaceSignals& signals, int face) {
#if defined(__CUDA_ARCH__)
  std::uint64_t begin = 0;
  for (std::uint32_t looks = 0;; ++looks) {
    if (arrived(signals, face)) return true;
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (begin == 0) begin = now;
    if (looks % looks_between_doubts == looks_between_doubts - 1 &&
        (look(signals.failed) != 0 || static_cast<double>(now - begin) > 1e9 * signals.time_limit))
      break;
    __nanosleep(looks < 32 ? 20 : 200);
  }
#else
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin;
  for (std::int64_t looks = 0;; ++looks) {
    if (arrived(signals, face)) return true;
    if (looks == 0) begin = Clock::now();
    if (looks % looks_between_doubts == looks_between_doubts - 1 &&
        (std::atomic_ref(*signals.failed).load() != 0 ||
         std::chrono::duration<double>(Clock::now() - begin).count() > signals.time_limit))
      break;
    if (looks > 16) sched_yield();
  }
#endif
  *const_cast<volatile std::uint64_t*>(signals.failed) =
      failure_number * step_of(signals) + static_cast<unsigned>(1 + face);
  return false;
}

}  // namespace detail

/// Waits for all awaited faces. For begin_block() of a kernel that reads them. Most blocks find all messages there:
/// their looks do not wait for each other. Returns false if a message has not come within the time limit, or if another
/// thread has given up a face. Then FaceSignals::failed holds the failure, check() throws, and the message is NaNs.
HALOCLINE_HOST_DEVICE inline bool await_all(const FaceSignals& signals) {
  bool all = true;
  HALOCLINE_UNROLLED(8)
  for (int face = 0; face < most_faces; ++face) {
    const bool there = detail::arrived(signals, face);
    all = all && there;
  }
  unsigned missing = 0;
  if (!all) {
    HALOCLINE_UNROLLED(1)
    for (int face = 0; face < most_faces; ++face)
      if (signals.await[face] != nullptr && !detail::watch(signals, face)) missing |= 1u << face;
  }
  if (missing != 0) detail::give_up(signals, missing);
#if defined(__CUDA_ARCH__)
  detail::fence_system();
#endif
  return missing == 0;
}

}  // namespace halocline::gpu
