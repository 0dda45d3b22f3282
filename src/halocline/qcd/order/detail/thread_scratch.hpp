// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Loops of threads that each have memory of their own.

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "halocline/core/pack.hpp"

namespace halocline::qcd::order::detail {

/// One Scratch for each thread. They are made before the threads start: none of them can run out of memory.
template <class Scratch>
class ThreadScratch {
public:
  /// @param make  returns the scratch of one thread
  template <class Make>
  explicit ThreadScratch(const Make& make) {
    const auto threads = static_cast<std::size_t>(std::max(omp_get_max_threads(), 1));
    scratch_.reserve(threads);
    while (scratch_.size() < threads) scratch_.push_back(make());
  }

  /// Calls work(number, scratch of the thread) for every number below `count`. Each thread has successive numbers. Its
  /// streaming stores are complete afterwards.
  template <class Work>
  void for_each(std::int64_t count, const Work& work) {
#pragma omp parallel num_threads(static_cast<int>(scratch_.size()))
    {
      Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static)
      for (std::int64_t number = 0; number < count; ++number) work(number, scratch);
      core::fence_streams();
    }
  }

private:
  std::vector<Scratch> scratch_;
};

}  // namespace halocline::qcd::order::detail
