// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A barrier for the threads of one parallel region that meet many times in a few microseconds.
///
/// The barrier of an OpenMP library may put a waiting thread to sleep, and waking it takes longer than a pass over a
/// small domain. This barrier spins for some ten microseconds, and then yields its core after each look, so that it
/// also works with more threads than cores.
///
/// The last thread to arrive clears the count and increments the generation, with release. The other threads wait for
/// the new generation, with acquire. So all writes that a thread made before the barrier are visible to every thread
/// after it.

#include <atomic>
#include <cstdint>
#include <thread>

#include "halocline/core/pause.hpp"

namespace halocline::core {

class TeamBarrier {
public:
  /// Returns when all `threads` of the team have called it. With one thread it does nothing.
  void wait(int threads) noexcept {
    if (threads == 1) return;
    const std::uint32_t generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      generation_.store(generation + 1, std::memory_order_release);
      return;
    }
    for (int looks = 0; generation_.load(std::memory_order_acquire) == generation; ++looks) {
      if (looks < spins)
        pause();
      else
        std::this_thread::yield();
    }
  }

private:
  static constexpr int spins = 2000;

  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
};

}  // namespace halocline::core
