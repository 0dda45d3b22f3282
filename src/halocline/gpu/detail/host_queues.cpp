// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/detail/host_queues.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <utility>

namespace halocline::gpu::detail {

std::shared_ptr<HostQueue> HostQueues::create() { return queues_.emplace_back(std::make_shared<HostQueue>()); }

void HostQueues::destroy(HostQueue& queue) {
  const std::shared_ptr<HostQueue> last = queue.shared_from_this();
  try {
    run_until(end_of(queue));
  } catch (...) {
    std::erase(queues_, last);
    throw;
  }
  std::erase(queues_, last);
}

void HostQueues::push(HostQueue& queue, std::function<void()> work, bool signals) {
  queue.items.push_back({std::move(work), nullptr, 0, signals});
  signals_ += signals ? 1 : 0;
  ++queue.enqueued;
}

void HostQueues::push_wait(HostQueue& queue, const HostPoint& point) {
  queue.items.push_back({{}, point.queue, point.place, false});
  ++queue.enqueued;
}

/// Returns false if the queue is empty, or if its next item waits for another stream.
bool HostQueues::run_next(HostQueue& queue) {
  if (queue.items.empty() || queue.running) return false;
  if (const auto& next = queue.items.front(); next.until != nullptr && next.until->done < next.place) return false;
  const HostQueue::Item item = std::move(queue.items.front());
  queue.items.pop_front();
  signals_ -= item.signals ? 1 : 0;
  queue.running = true;
  try {
    if (item.work) item.work();
  } catch (...) {
    queue.running = false;
    ++queue.done;
    throw;
  }
  queue.running = false;
  ++queue.done;
  return true;
}

bool HostQueues::step(bool signalling) {
  bool any = false;
  if (!signalling)
    while (signals_ > 0 && step(true)) any = true;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const std::shared_ptr<HostQueue> queue = queues_[i];
    const auto& items = queue->items;
    if (signalling && std::ranges::none_of(items, [](const HostQueue::Item& item) { return item.signals; })) continue;
    any = run_next(*queue) || any;
  }
  return any;
}

void HostQueues::run_until(const HostPoint& point) {
  while (!point.done()) {
    if (signals_ > 0 && step(true)) continue;
    if (!run_next(*point.queue) && !step())
      throw core::Error("host executor: a stream waits for an event behind which nothing can run");
  }
}

void HostQueues::run_all() {
  for (bool any = true; any;) any = step();
}

}  // namespace halocline::gpu::detail
