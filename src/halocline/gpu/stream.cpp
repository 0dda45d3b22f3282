// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams over detail::Runtime, and the captures of the host executor.
///
/// A Recording is shared by the stream that began the capture, the streams that joined it, and the events recorded in
/// it. On the host executor it holds the recorded calls. On a GPU, CUDA holds the calls, and the Recording keeps the
/// functions that the graph calls on the host. The host cannot use a CUDA event that was recorded in a capture. So each
/// launch of the graph is followed by one event, which stands for all events of the capture.

#include "halocline/gpu/stream.hpp"

#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/runtime.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace halocline::gpu {
namespace detail {

KernelName::KernelName(const char* name) noexcept {
  std::strncpy(text_, name, sizeof text_ - 1);  // the rest of text_ is zero
}

struct EventState {
  EventState(const Device& on, bool timed) : device(on), timing(timed), handle(on.runtime().create_event(timed)) {}
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;
  ~EventState() {
    if (handle != nullptr) device.runtime().destroy_event(handle);
  }

  Device device;
  bool timing;
  void* handle;
  bool recorded = false;  // outside a capture, or by a later launch of the graph
  KernelName kernel;      // the kernel launched last before the point
  std::weak_ptr<Recording> recording;
  std::shared_ptr<EventState> end_of_graph;  // recorded after each launch of the graph to which this event belongs

  void* point() const noexcept { return end_of_graph == nullptr ? handle : end_of_graph->handle; }
};

struct Recording {
  bool open = true;
  bool calls_back = false;                                        // the capture contains functions on the host
  std::vector<std::function<void()>> calls;                       // recorded calls of the host executor
  std::vector<std::unique_ptr<std::function<void()>>> functions;  // functions that a GPU's graph calls
  std::vector<std::shared_ptr<EventState>> events;
};

}  // namespace detail

namespace {

void require_same(const Device& one, const Device& other) {
  if (!(one == other))
    throw core::InvalidArgument("an event of " + other.describe() + " was given to a stream of " + one.describe() +
                                "; both must be of one device object");
}

// The callbacks for cudaLaunchHostFunc. call_once deletes its function after running it; a graph owns its functions.
void call_once(void* data) {
  const std::unique_ptr<std::function<void()>> action(static_cast<std::function<void()>*>(data));
  (*action)();
}
void call_often(void* data) { (*static_cast<std::function<void()>*>(data))(); }

}  // namespace

Event::Event(const Device& device, bool timing) : state_(std::make_shared<detail::EventState>(device, timing)) {}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

bool Event::done() const {
  return !state_->recorded || state_->device.runtime().event_done(state_->point(), state_->kernel.text());
}

void Event::wait() const {
  if (state_->recorded) state_->device.runtime().wait_event(state_->point(), state_->kernel.text());
}

double Event::elapsed(const Event& begin, const Event& end) {
  if (!begin.state_->timing || !end.state_->timing)
    throw core::InvalidArgument("the time between two events was asked for, and one of them was not made for it; "
                                "construct both with timing = true");
  require_same(begin.state_->device, end.state_->device);
  const auto has_time = [](const Event& event) {
    return event.state_->recorded && event.state_->end_of_graph == nullptr;
  };
  if (!has_time(begin) || !has_time(end))
    throw core::InvalidArgument(
        "the time between two events was asked for before both were recorded outside of a graph; "
        "record both");
  return begin.state_->device.runtime().elapsed(begin.state_->handle, end.state_->handle);
}

Stream::Stream(const Device& device, bool urgent) : device_(device), handle_(device.runtime().create_stream(urgent)) {}

Stream::~Stream() {
  if (began_ && capturing()) {
    recording_->open = false;
    if (handle_ != nullptr) device_.runtime().end_capture(handle_, false);
  }
  if (handle_ != nullptr) device_.runtime().destroy_stream(handle_);
}

Stream::Stream(Stream&& other) noexcept
    : device_(other.device_),
      handle_(std::exchange(other.handle_, nullptr)),
      kernel_(other.kernel_),
      kernels_(other.kernels_),
      began_(std::exchange(other.began_, false)),
      recording_(std::move(other.recording_)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  std::swap(kernel_, other.kernel_);
  std::swap(kernels_, other.kernels_);
  std::swap(began_, other.began_);
  std::swap(recording_, other.recording_);
  return *this;
}

bool Stream::capturing() const noexcept { return recording_ != nullptr && recording_->open; }

void Stream::enqueue_on_host_executor(std::function<void()> action) {
  if (capturing())
    recording_->calls.push_back(std::move(action));
  else
    device_.runtime().run_on_host(std::move(action), handle_);
}

/// Runs an action that enqueues work, and passes it the stream's handle. On a GPU, CUDA itself captures the work. On
/// the host executor, a captured action runs when its graph runs, without a stream, which means at once.
template <class Action>
void Stream::perform(Action action) {
  if (!device_.on_gpu() && capturing())
    recording_->calls.emplace_back([action] { action(nullptr); });
  else
    action(handle_);
}

void Stream::synchronize() {
  if (capturing())
    throw core::InvalidArgument(
        "a stream was told to wait for its work while it is captured; call end_capture() first");
  device_.runtime().synchronize_stream(handle_, kernel_.text());
}

void Stream::record(Event& event) {
  detail::EventState& state = *event.state_;
  require_same(device_, state.device);
  if (device_.on_gpu() || !capturing()) device_.runtime().record_event(state.handle, handle_);
  state.kernel = kernel_;
  state.recorded = !capturing();
  state.recording.reset();
  state.end_of_graph.reset();
  if (capturing()) {
    state.recording = recording_;
    recording_->events.push_back(event.state_);
  }
}

void Stream::wait(const Event& event) {
  detail::EventState& state = *event.state_;
  require_same(device_, state.device);
  const std::shared_ptr<detail::Recording> other = state.recording.lock();
  const bool in_capture = other != nullptr && other->open;
  if (!in_capture && !state.recorded) return;
  if (capturing() && other != recording_)
    throw core::InvalidArgument("a stream that is captured was told to wait for an event from outside of the capture; "
                                "record the event within it, or wait before begin_capture()");
  if (device_.on_gpu() || !in_capture)
    device_.runtime().wait_in_stream(in_capture ? state.handle : state.point(), handle_);
  if (in_capture && !capturing()) {
    recording_ = other;
    began_ = false;
  }
}

void Stream::copy_to_device(void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  perform([runtime = &device_.runtime(), device, host, bytes](void* stream) {
    runtime->copy(device, host, bytes, detail::Copy::to_device, stream);
  });
}

void Stream::copy_to_host(void* host, const void* device, std::size_t bytes) {
  if (bytes == 0) return;
  perform([runtime = &device_.runtime(), device, host, bytes](void* stream) {
    runtime->copy(host, device, bytes, detail::Copy::to_host, stream);
  });
}

void Stream::copy_on_device(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  perform([runtime = &device_.runtime(), to, from, bytes](void* stream) {
    runtime->copy(to, from, bytes, detail::Copy::on_device, stream);
  });
}

void Stream::set_zero(void* device, std::size_t bytes) {
  if (bytes == 0) return;
  perform([runtime = &device_.runtime(), device, bytes](void* stream) { runtime->set_zero(device, bytes, stream); });
}

void Stream::invalidate(void* device, std::size_t bytes) {
  if (bytes == 0 || device_.on_gpu() || capturing()) return;
  device_.runtime().run_on_host([device, bytes] { std::memset(device, 0xff, bytes); }, handle_);
}

void Stream::write_value(std::uint64_t* address, std::uint64_t value) {
  perform(
      [runtime = &device_.runtime(), address, value](void* stream) { runtime->write_value(address, value, stream); });
}

void Stream::wait_value(const std::uint64_t* address, std::uint64_t value, double time_limit) {
  perform([runtime = &device_.runtime(), address, value, time_limit](void* stream) {
    runtime->wait_value(address, value, time_limit, stream);
  });
}

void Stream::call_on_host(std::function<void()> action) {
  if (capturing()) recording_->calls_back = true;
  if (!device_.on_gpu()) return enqueue_on_host_executor(std::move(action));
  auto owned = std::make_unique<std::function<void()>>(std::move(action));
  if (capturing()) {
    device_.runtime().call_on_host(call_often, owned.get(), handle_);
    recording_->functions.push_back(std::move(owned));
  } else {
    device_.runtime().call_on_host(call_once, owned.get(), handle_);
    owned.release();  // call_once deletes it
  }
}

struct Graph::State {
  explicit State(const Device& on) : device(on) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (end != nullptr && end->recorded && recording->calls_back) {
      // This object owns the functions. An error is reported at the stream's next synchronisation.
      try {
        device.runtime().wait_event(end->handle, kernel.text());
      } catch (const core::Error&) {
      }
    }
    if (handle != nullptr) device.runtime().destroy_graph(handle);
  }

  Device device;
  void* handle = nullptr;
  std::shared_ptr<detail::Recording> recording;
  detail::KernelName kernel;                // the kernel launched last in the graph
  std::shared_ptr<detail::EventState> end;  // recorded after each launch; null if nobody can ask for it
};

Graph::Graph(std::unique_ptr<State> state) : state_(std::move(state)) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

void Stream::begin_capture() {
  if (capturing())
    throw core::InvalidArgument(
        "begin_capture() was called on a stream that is captured already; call end_capture() first");
  device_.runtime().begin_capture(handle_);
  recording_ = std::make_shared<detail::Recording>();
  began_ = true;
}

Graph Stream::end_capture() {
  if (!began_ || !capturing())
    throw core::InvalidArgument(
        "end_capture() was called on a stream whose capture was not begun by it; call it on the "
        "stream of begin_capture()");
  auto state = std::make_unique<Graph::State>(device_);
  state->recording = std::exchange(recording_, nullptr);
  state->recording->open = began_ = false;
  state->kernel = kernel_;
  state->handle = device_.runtime().end_capture(handle_, true);
  if (!state->recording->events.empty() || state->recording->calls_back)
    state->end = std::make_shared<detail::EventState>(device_, false);
  return Graph(std::move(state));
}

void Stream::launch(const Graph& graph) {
  Graph::State& state = *graph.state_;
  require_same(device_, state.device);
  if (capturing())
    throw core::InvalidArgument("a graph was launched on a stream that is captured; launch it after end_capture()");
  if (device_.on_gpu()) {
    device_.runtime().launch_graph(state.handle, handle_);
    kernel_ = state.kernel;
  } else {
    enqueue_on_host_executor([recording = state.recording] {
      for (const auto& call : recording->calls) call();
    });
  }
  if (state.end == nullptr) return;
  device_.runtime().record_event(state.end->handle, handle_);
  state.end->recorded = true;
  for (const auto& event : state.recording->events) {
    if (event->recording.lock() != state.recording) continue;  // recorded elsewhere in the meantime
    event->recorded = true;
    event->end_of_graph = state.end;
  }
}

}  // namespace halocline::gpu
