// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Streams, events and graphs: what is enqueued, in which order it runs, and how to have it again at one call.
///
/// On the host executor everything runs when it is enqueued, so events are always done (but see
/// Device::deferred_host_executor()). A graph is recorded there as the list of calls that were made between
/// begin_capture() and end_capture(), and run again in that order.
///
/// Another stream takes part in a capture from the moment that it waits for an event recorded in it; the first stream
/// must have waited for an event of the other before end_capture(). An event recorded during a capture is done when the
/// latest launch of the graph is, for whoever asks after the capture.
///
/// What fails on a GPU is found out later: at the next synchronisation, whose error names the kernel launched last.

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

/// The name of a kernel, cut to what fits, so that keeping it costs no allocation.
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
  /// @param timing  elapsed() will be asked
  explicit Event(const Device& device, bool timing = false);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  /// Everything before the point has run; true before the first record. @throws core::Error  its failure
  bool done() const;
  /// Blocks the host until then. @throws core::Error  its failure
  void wait() const;
  /// Seconds between two recorded points. Both must be of timing events and done. The host executor has none: 0.
  static double elapsed(const Event& begin, const Event& end);

private:
  friend class Stream;
  std::shared_ptr<detail::EventState> state_;
};

/// A queue of work, in order. Move-only.
class Stream {
public:
  /// @param urgent  its kernels go before those of other streams where both could start
  explicit Stream(const Device& device, bool urgent = false);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  const Device& device() const noexcept { return device_; }

  /// Blocks the host until all that was enqueued has run. @throws core::Error  its failure
  void synchronize();
  void record(Event& event);
  /// What is enqueued from now on runs after the point.
  void wait(const Event& event);

  /// Copies, ordered with the stream. Host memory should be pinned (PinnedArray), else the host may wait.
  void copy_to_device(void* device, const void* host, std::size_t bytes);
  void copy_to_host(void* host, const void* device, std::size_t bytes);
  void copy_on_device(void* to, const void* from, std::size_t bytes);
  void set_zero(void* device, std::size_t bytes);

  /// Sets a number in device memory (a neighbour's too) after all that was enqueued before has been written.
  void write_value(std::uint64_t* address, std::uint64_t value);
  /// The stream goes on when the number in device memory is at least `value`. @param time_limit  [s] on the host
  /// executor, which throws core::Error after it; a GPU's stream waits for ever
  void wait_value(const std::uint64_t* address, std::uint64_t value, double time_limit);

  /// Runs `action` on the host when the stream comes to it; the stream goes on after it. It must not call CUDA, and
  /// must not throw. During a capture it becomes part of the graph.
  void call_on_host(std::function<void()> action);

  /// Between the two, what is enqueued here is recorded instead of run. @throws core::Error  for what cannot be;
  /// InvalidArgument  begin within a capture, end without one, a launch of a graph within one
  void begin_capture();
  Graph end_capture();
  bool capturing() const noexcept;
  void launch(const Graph& graph);

  /// For launch.cuh: cudaStream_t; null on the host executor where it holds nothing back.
  void* handle() const noexcept { return handle_; }
  /// For launch.cuh on the host executor: runs the action now, holds it back, or records it.
  void enqueue_on_host_executor(std::function<void()> action);
  /// For launch.cuh: the kernel launched last, which errors name.
  void note_kernel(const char* name) noexcept { kernel_ = detail::KernelName(name); }
  const char* last_kernel() const noexcept { return kernel_.text(); }

private:
  template <class Action>
  void perform(Action action);

  Device device_;
  void* handle_ = nullptr;
  detail::KernelName kernel_;
  bool began_ = false;  // the capture, rather than joined it
  std::shared_ptr<detail::Recording> recording_;
};

/// Recorded work. Refers to the memory that it was recorded with, which must still be there when it is launched. Its
/// end waits for its last launch where that runs functions on the host. Move-only.
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
