// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Region timers over all threads of all processes: the least, the mean and the most that a thread spent.

#include <string>

#include "bench/timing.hpp"

namespace halocline::bench {

/// One `work()` with timing on, shared out over the `executions` that it consists of.
///
/// JSON, a path each (of a thread that knows only the inner part of one, the first path that ends like it): {"calls",
/// "threads", "seconds", "mean_seconds", "min_seconds", "self_seconds"}. `threads` are those that entered the region,
/// of all processes together; `calls` those of one thread, the mean; `seconds` is the most that one of them spent, and
/// `self_seconds` the mean of what no inner region covers. The same text on every rank. Not while anything else uses
/// the region timers. Collective: yes.
std::string group_regions(const comm::Communicator& group, const Work& work, double executions);

}  // namespace halocline::bench
