// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The streams of a host executor that holds work back until somebody waits for it.
///
/// On a GPU nothing that was enqueued needs to have run when the call returns. A host executor that runs everything at
/// once hides what that uncovers: results read too early, events that are missing between streams, host memory that is
/// gone when a copy comes to it. This one runs a stream only when the host waits for it, and the others only where an
/// event of theirs is in its way: of the orders that a GPU may choose, one that most finds out. But where a stream is
/// about to write a number that a kernel of another may be waiting for (write_value), the others go first, because a
/// kernel that waits lets nobody else run here. For one thread at a time.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace halocline::gpu::detail {

/// A stream: work that has not run, in order.
struct HostQueue : std::enable_shared_from_this<HostQueue> {
  struct Item {
    std::function<void()> work;              // empty for a wait
    std::shared_ptr<const HostQueue> until;  // the item waits for `place` items of this queue to have run
    std::uint64_t place = 0;
    bool signals = false;
  };
  std::deque<Item> items;
  std::uint64_t enqueued = 0, done = 0;
  bool running = false;
};

/// A point in a stream; of none before the first record.
struct HostPoint {
  std::shared_ptr<HostQueue> queue;
  std::uint64_t place = 0;
  bool done() const noexcept { return queue == nullptr || queue->done >= place; }
};

class HostQueues {
public:
  std::shared_ptr<HostQueue> create();
  /// Runs what is left of it.
  void destroy(HostQueue& queue);

  /// @param signals  the work may be what a kernel of another stream waits for
  void push(HostQueue& queue, std::function<void()> work, bool signals = false);
  void push_wait(HostQueue& queue, const HostPoint& point);
  static HostPoint end_of(HostQueue& queue) { return {queue.shared_from_this(), queue.enqueued}; }

  /// Runs what must have run before the point. @throws what the work throws
  void run_until(const HostPoint& point);
  void run_all();
  /// Each stream that can goes one item further. @returns whether one did
  /// @param signalling  only those that are about to write a number
  bool step(bool signalling = false);

private:
  bool run_next(HostQueue& queue);

  std::vector<std::shared_ptr<HostQueue>> queues_;
  int signals_ = 0;  // items that have not run
};

}  // namespace halocline::gpu::detail
