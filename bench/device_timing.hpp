// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Times of what runs on a device: between two events of its stream, the median of many blocks.
///
/// A block enqueues the work often enough that the way of one launch to the device does not count, and the events are
/// recorded around it. In a graph the work is recorded a few times and the graph is launched, so that one call of the
/// host starts them all. On several processes a block begins together and lasts as long as on the slowest.
///
/// The host executor has no events: there the clock of the host is read, and the times say nothing about a GPU.

#include <functional>

#include "bench/timing.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::bench {

/// Applications that a graph holds; even, as messages take turns between two buffers.
inline constexpr int runs_of_a_graph = 10;

class DeviceClock {
public:
  /// @param stream  must outlive the clock
  DeviceClock(const comm::Communicator& group, gpu::Stream& stream) : group_(&group), stream_(&stream) {}

  /// Seconds of one `work()`, which enqueues on the stream, after a warm-up. Collective: yes, and every rank gets the
  /// same numbers.
  Spread measure(const Work& work, const Effort& effort);
  /// The same for work that is recorded as a graph. @throws core::Error  for work that cannot be
  Spread measure_graph(const Work& work, const Effort& effort);

private:
  double block(const Work& work, int repeats);

  const comm::Communicator* group_;
  gpu::Stream* stream_;
};

}  // namespace halocline::bench
