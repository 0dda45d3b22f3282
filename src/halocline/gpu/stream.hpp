// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Streams, events and graphs: enqueue work in order, mark points in it, and repeat recorded work with one call.
///
/// On the host executor everything runs when it is enqueued, so events are always done (but see
/// Device::deferred_host_executor()). A graph is recorded there as the list of calls made between begin_capture() and
/// end_capture(), and repeated in that order.
///
/// Another stream joins a capture when it waits for an event recorded in the capture. The first stream must wait for an
/// event of the joined stream before end_capture(). After the capture, an event that was recorded in it is done when
/// the latest launch of the graph is done.
///
/// A failure on a GPU shows at the next synchronisation, whose error names the kernel launched last.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "halocline/gpu/device.hpp"

namespace halocline::gpu {

class Graph;

namespace detail {
struct EventState;
struct Recording;

/// The name of a kernel, truncated to a fixed length, so that keeping it allocates nothing.
class KernelName {
public:
  KernelName() = default;
  explicit KernelName(const char* name) noexcept;
  const char* text() const noexcept { return text_; }

private:
  char text_[64] = "";
};
}  // namespace detail

/// A point in a stream. Move-only.
class Event {
public:
  /// @param timing  the event will be used with elapsed()
  explicit Event(const Device& device, bool timing = false);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  /// Whether everything before the point has run; true before the first record. @throws core::Error  that work failed
  bool done() const;
  /// Blocks the host until everything before the point has run. @throws core::Error  that work failed
  void wait() const;
  /// Seconds between two recorded points. Both events must have timing and be done. The host executor returns 0.
  static double elapsed(const Event& begin, const Event& end);

private:
  friend class Stream;
  std::shared_ptr<detail::EventState> state_;
};

/// A queue of work, in order. Move-only.
class Stream {
public:
  /// @param urgent  this stream's kernels start before those of other streams if both could start
  explicit Stream(const Device& device, bool urgent = false);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  const Device& device() const noexcept { return device_; }

  /// Blocks the host until all enqueued work has run. @throws core::Error  that work failed
  void synchronize();
  void record(Event& event);
  /// Work enqueued from now on runs after the event's point.
  void wait(const Event& event);

  /// Copies, ordered with the stream. Host memory should be pinned (PinnedArray); otherwise the host may wait.
  void copy_to_device(void* device, const void* host, std::size_t bytes);
  void copy_to_host(void* host, const void* device, std::size_t bytes);
  void copy_on_device(void* to, const void* from, std::size_t bytes);
  void set_zero(void* device, std::size_t bytes);
  /// The host executor fills the memory with NaNs, in the order of the stream, so that reads of contents that no work
  /// has written show up. A GPU does nothing. A capture records nothing.
  void invalidate(void* device, std::size_t bytes);

  /// Stores a number to device memory (also a neighbour's) after all writes of earlier work are visible.
  void write_value(std::uint64_t* address, std::uint64_t value);
  /// Holds the stream until the number in device memory is at least `value`. @param time_limit  [s]; on the host
  /// executor, which throws core::Error after this time. A GPU's stream waits without limit
  void wait_value(const std::uint64_t* address, std::uint64_t value, double time_limit);

  /// Runs `action` on the host when the stream reaches it; later work waits for it. The action must not call CUDA and
  /// must not throw. During a capture it becomes part of the graph.
  void call_on_host(std::function<void()> action);

  /// Between begin_capture() and end_capture(), work enqueued here is recorded instead of run. @throws core::Error  the
  /// work cannot be recorded; InvalidArgument  begin within a capture, end without one, a launch of a graph within one
  void begin_capture();
  Graph end_capture();
  bool capturing() const noexcept;
  void launch(const Graph& graph);

  /// For launch.cuh: cudaStream_t; null on the host executor unless it defers work.
  void* handle() const noexcept { return handle_; }
  /// For launch.cuh on the host executor: runs the action now, defers it, or records it.
  void enqueue_on_host_executor(std::function<void()> action);
  /// For launch.cuh: the kernel launched last; errors name it.
  void note_kernel(const char* name) noexcept {
    kernel_ = detail::KernelName(name);
    ++kernels_;
  }
  const char* last_kernel() const noexcept { return kernel_.text(); }
  /// How many kernels have been launched or recorded here.
  std::int64_t kernels() const noexcept { return kernels_; }

private:
  template <class Action>
  void perform(Action action);

  Device device_;
  void* handle_ = nullptr;
  detail::KernelName kernel_;
  std::int64_t kernels_ = 0;
  bool began_ = false;  // this stream began the capture, rather than joined it
  std::shared_ptr<detail::Recording> recording_;
};

/// Recorded work. It refers to the memory that it was recorded with, which must still exist at each launch. If the
/// graph calls functions on the host, its destructor waits for the last launch. Move-only.
class Graph {
public:
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

private:
  friend class Stream;
  struct State;
  explicit Graph(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace halocline::gpu
