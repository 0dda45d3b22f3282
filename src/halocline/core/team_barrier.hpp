// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A barrier for the threads of one parallel region that meet many times in a few microseconds.
///
/// The barrier of an OpenMP library may put a thread to sleep that has waited for a moment, and waking it takes longer
/// than a pass over a small domain. This one spins for some ten microseconds, and then gives its core away each time it
/// looks, so that it also works with more threads than cores.
///
/// The last to come clears the count and moves the generation on, with release; the others await that with acquire. So
/// whatever a thread wrote before is seen by all of them after.

#include <atomic>
#include <cstdint>
#include <thread>

#include "halocline/core/pause.hpp"

namespace halocline::core {

class TeamBarrier {
public:
  /// Returns when all `threads` of the team have called it. With one it does nothing.
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
