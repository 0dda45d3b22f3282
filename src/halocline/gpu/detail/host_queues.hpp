// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The streams of a host executor that defers work until the host waits for it.
///
/// On a GPU, enqueued work need not have run when the call returns. A host executor that runs everything at once hides
/// the resulting bugs: results read too early, missing events between streams, host memory freed before its copy runs.
///
/// This executor runs a stream only when the host waits for it. It runs another stream only as far as an event
/// requires. Among the orders that a GPU may choose, this one exposes most bugs. There is one exception. A kernel of
/// one stream may wait for a number that another stream is going to write (write_value), and a waiting kernel lets
/// nothing else run here. Streams with such a write therefore run first. For one thread at a time.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace halocline::gpu::detail {

/// A stream: work that has not run yet, in order.
struct HostQueue : std::enable_shared_from_this<HostQueue> {
  struct Item {
    std::function<void()> work;              // empty for an item that waits
    std::shared_ptr<const HostQueue> until;  // the item waits until `place` items of this queue have run
    std::uint64_t place = 0;
    bool signals = false;
  };
  std::deque<Item> items;
  std::uint64_t enqueued = 0, done = 0;
  bool running = false;
};

/// A point in a stream; without a queue before the first record.
struct HostPoint {
  std::shared_ptr<HostQueue> queue;
  std::uint64_t place = 0;
  bool done() const noexcept { return queue == nullptr || queue->done >= place; }
};

class HostQueues {
public:
  std::shared_ptr<HostQueue> create();
  /// Runs the stream's remaining work, then removes the stream.
  void destroy(HostQueue& queue);

  /// @param signals  a kernel of another stream may wait for what this work writes
  void push(HostQueue& queue, std::function<void()> work, bool signals = false);
  void push_wait(HostQueue& queue, const HostPoint& point);
  static HostPoint end_of(HostQueue& queue) { return {queue.shared_from_this(), queue.enqueued}; }

  /// Runs the work that must precede the point. @throws what the work throws
  void run_until(const HostPoint& point);
  void run_all();
  /// Runs one item of each stream that can run. @returns whether any item ran
  /// @param signalling  only streams that still have a number to write
  bool step(bool signalling = false);

private:
  bool run_next(HostQueue& queue);

  std::vector<std::shared_ptr<HostQueue>> queues_;
  int signals_ = 0;  // items with `signals` that have not run
};

}  // namespace halocline::gpu::detail
