// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Region timers over all threads of all processes: the least, the mean and the longest time of a thread.

#include <string>

#include "bench/timing.hpp"

namespace halocline::bench {

/// Runs `work()` once with timing on, and divides the times by its number of `executions`.
///
/// Returns JSON with one entry for each path: {"calls", "threads", "seconds", "mean_seconds", "min_seconds",
/// "self_seconds"}. A thread that knows only the inner part of a path is counted with the first path that ends like it.
/// `threads` counts the threads of all processes that entered the region. `calls` is the mean over threads, `seconds`
/// the longest time of a thread, and `self_seconds` the mean time outside inner regions. The text is the same on every
/// rank. Nothing else may use the region timers meanwhile. Collective: yes.
std::string group_regions(const comm::Communicator& group, const Work& work, double executions);

}  // namespace halocline::bench
