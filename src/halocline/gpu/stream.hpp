// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Streams, events and graphs: what is enqueued, in which order it runs, and how to have it again at one call.
///
/// On the host executor everything runs when it is enqueued, so events are always done. A graph is recorded there as
/// the list of calls that were made between begin_capture() and end_capture(), and run again in that order.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "halocline/gpu/device.hpp"

namespace halocline::gpu {

class Graph;

/// A point in a stream.
class Event {
public:
  /// @param timing  elapsed() will be asked
  explicit Event(const Device& device, bool timing = false);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  bool done() const;  ///< everything before the point has run; true before the first record
  void wait() const;  ///< blocks the host until then
  /// Seconds between two recorded points. Both must be of timing events and done. The host executor has none: 0.
  static double elapsed(const Event& begin, const Event& end);

private:
  friend class Stream;
  Device device_;
  void* handle_ = nullptr;
};

/// A queue of work, in order. Move-only.
class Stream {
public:
  explicit Stream(const Device& device);
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

  /// Runs `action` on the host when the stream comes to it; the stream goes on after it. It must not call CUDA, and
  /// must not throw. During a capture it becomes part of the graph.
  void call_on_host(std::function<void()> action);

  /// Between the two, what is enqueued here is recorded instead of run. @throws core::Error  for what cannot be
  void begin_capture();
  Graph end_capture();
  bool capturing() const noexcept;
  void launch(const Graph& graph);

  /// For launch.cuh: cudaStream_t, null on the host executor.
  void* handle() const noexcept { return handle_; }
  /// For launch.cuh on the host executor: runs the action now, or records it.
  void enqueue_on_host_executor(std::function<void()> action);

private:
  Device device_;
  void* handle_ = nullptr;
  std::unique_ptr<Graph> recording_;
};

/// Recorded work. Refers to the memory that it was recorded with, which must still be there when it is launched.
class Graph {
public:
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

private:
  friend class Stream;
  explicit Graph(const Device& device);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::gpu
