// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Times work on a device: between two events of its stream, the median of many blocks.
///
/// A block enqueues the work so often that the latency of a launch does not matter, and records the events around it.
/// With a graph, the work is recorded a few times and the graph is launched, so that one call of the host starts all of
/// them. On several processes a block starts together, and the slowest process determines its length.
///
/// The host executor has no events: there the host clock is used, and the times say nothing about a GPU.

#include <functional>

#include "bench/timing.hpp"
#include "halocline/gpu/face_exchange.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::bench {

/// Number of applications in a graph; even, because messages alternate between two buffers.
inline constexpr int runs_of_a_graph = 10;

class DeviceClock {
public:
  /// @param stream  must outlive the clock
  DeviceClock(const comm::Communicator& group, gpu::Stream& stream) : group_(&group), stream_(&stream) {}

  /// Seconds of one `work()`, which enqueues on the stream, after a warm-up. Collective: yes. Every rank gets the same
  /// numbers.
  Spread measure(const Work& work, const Effort& effort);
  /// The same for work recorded as a graph. @throws core::Error  the work cannot be recorded
  /// @param exchange  of the halos in the work; null for none. The work makes the same number of steps in every call
  Spread measure_graph(const Work& work, const Effort& effort, gpu::FaceExchange* exchange = nullptr);

private:
  double block(const Work& work, int repeats);

  const comm::Communicator* group_;
  gpu::Stream* stream_;
};

}  // namespace halocline::bench
