// SPDX-License-Identifier: Apache-2.0
#include "halocline/gpu/stream.hpp"

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/array.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace halocline;
using gpu::Event;
using gpu::Graph;
using gpu::Stream;

namespace {

/// A number in device memory that work of streams is seen by.
class Cell {
public:
  explicit Cell(const gpu::Device& device) : value_(device, 1), out_(device, 1) {}
  /// Enqueues: the cell becomes what `from`, pinned and alive, holds when the stream comes to it.
  void set(Stream& stream, const gpu::PinnedArray<double>& from) { value_.upload(stream, from.span()); }
  void copy(Stream& stream, const Cell& from) {
    stream.copy_on_device(value_.data(), from.value_.data(), sizeof(double));
  }
  double read(Stream& stream) {
    value_.download(stream, out_.span());
    stream.synchronize();
    return out_.data()[0];
  }

private:
  gpu::DeviceArray<double> value_;
  gpu::PinnedArray<double> out_;
};

}  // namespace

TEST_CASE("stream: work runs in order, and functions on the host take their turn") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    Stream stream(device, true);
    std::vector<int> seen;
    gpu::PinnedArray<double> source(device, 1);
    Cell cell(device);
    for (int i = 0; i < 10; ++i) {
      stream.call_on_host([&seen, &source, i] {
        seen.push_back(i);
        source.data()[0] = i;
      });
      cell.set(stream, source);
    }
    CHECK(cell.read(stream) == 9.0);
    CHECK(seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    device.synchronize();
  }
}

TEST_CASE("stream: what an event was recorded behind has run when it is done") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    Stream one(device), other(device);
    gpu::PinnedArray<double> source(device, 1);
    Cell a(device), b(device);
    Event event(device);
    CHECK(event.done());
    event.wait();
    for (int i = 1; i < 5; ++i) {
      one.call_on_host([&source, i] { source.data()[0] = i; });
      a.set(one, source);
      one.record(event);
      other.wait(event);
      b.copy(other, a);
      CHECK(b.read(other) == i);
      event.wait();
      CHECK(event.done());
    }
  }
}

TEST_CASE("stream: time is asked of events that were made for it and recorded") {
  for (const gpu::Device& device : testing::memory_devices()) {
    Stream stream(device);
    Event plain(device), begin(device, true), end(device, true);
    CHECK_THROWS_AS(Event::elapsed(plain, end), core::InvalidArgument);
    CHECK_THROWS_AS(Event::elapsed(begin, end), core::InvalidArgument);
    stream.record(begin);
    stream.record(end);
    end.wait();
    CHECK(Event::elapsed(begin, end) >= 0.0);
    if (!device.on_gpu()) CHECK(Event::elapsed(begin, end) == 0.0);
    stream.begin_capture();
    stream.record(end);
    const Graph graph = stream.end_capture();
    CHECK_THROWS_AS(Event::elapsed(begin, end), core::InvalidArgument);
    stream.launch(graph);
    CHECK_THROWS_AS(Event::elapsed(begin, end), core::InvalidArgument);
  }
}

TEST_CASE("graph: what is captured does not run until it is launched, then each time, with what memory holds") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    std::optional<Graph> graph;
    gpu::PinnedArray<double> source(device, 1);
    Cell cell(device);
    int calls = 0;
    source.data()[0] = 1.0;
    {
      Stream stream(device);
      cell.set(stream, source);
      stream.synchronize();
      source.data()[0] = 2.0;
      stream.begin_capture();
      CHECK(stream.capturing());
      cell.set(stream, source);
      stream.call_on_host([&calls] { ++calls; });
      graph = stream.end_capture();
      CHECK_FALSE(stream.capturing());
      CHECK(cell.read(stream) == 1.0);
      CHECK(calls == 0);
    }
    Stream another(device);
    for (int i = 3; i < 6; ++i) {
      source.data()[0] = i;
      another.launch(*graph);
      CHECK(cell.read(another) == i);
      CHECK(calls == i - 2);
    }
    Graph moved(std::move(*graph));
    graph.reset();
    another.launch(moved);
    another.synchronize();
    CHECK(calls == 4);
  }
}

TEST_CASE("graph: its end waits for the functions that it calls on the host") {
  for (const gpu::Device& device : testing::memory_devices()) {
    Stream stream(device);
    auto count = std::make_shared<int>(0);
    {
      stream.begin_capture();
      stream.call_on_host([count] { ++*count; });
      const Graph graph = stream.end_capture();
      stream.launch(graph);
      stream.launch(graph);
    }
    CHECK(*count == 2);
    CHECK(count.use_count() == 1);
  }
}

TEST_CASE("graph: another stream joins by an event, and is free again at the end") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    Stream main(device), side(device);
    Event fork(device), join(device);
    gpu::PinnedArray<double> source(device, 1);
    Cell a(device), b(device), c(device);
    source.data()[0] = 5.0;
    a.set(main, source);
    b.set(main, source);
    c.set(main, source);
    main.synchronize();
    main.begin_capture();
    a.set(main, source);
    main.record(fork);
    side.wait(fork);
    CHECK(side.capturing());
    b.copy(side, a);
    side.record(join);
    main.wait(join);
    c.copy(main, b);
    CHECK_THROWS_AS(side.end_capture(), core::InvalidArgument);
    const Graph graph = main.end_capture();
    CHECK_FALSE(side.capturing());
    CHECK(b.read(side) == 5.0);
    for (const double value : {6.0, 7.0}) {
      source.data()[0] = value;
      main.launch(graph);
      join.wait();  // recorded again behind the launch
      CHECK(c.read(main) == value);
      CHECK(b.read(side) == value);
    }
  }
}

TEST_CASE("graph: an event that was recorded in a capture is done before the first launch") {
  for (const gpu::Device& device : testing::memory_devices()) {
    Stream stream(device);
    Event event(device);
    stream.begin_capture();
    stream.record(event);
    const Graph graph = stream.end_capture();
    CHECK(event.done());
    event.wait();
    stream.launch(graph);
    event.wait();
    CHECK(event.done());
    Stream(device).wait(event);
    stream.record(event);  // no longer the graph's
    stream.launch(graph);
    event.wait();
  }
}

TEST_CASE("graph: calls at the wrong time are refused, and the stream stays usable") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    Stream stream(device), other(device);
    Event outside(device);
    CHECK_THROWS_AS(stream.end_capture(), core::InvalidArgument);
    stream.begin_capture();
    CHECK_THROWS_AS(stream.begin_capture(), core::InvalidArgument);
    CHECK_THROWS_AS(stream.synchronize(), core::InvalidArgument);
    other.record(outside);
    CHECK_THROWS_AS(stream.wait(outside), core::InvalidArgument);
    const Graph graph = stream.end_capture();
    stream.begin_capture();
    CHECK_THROWS_AS(stream.launch(graph), core::InvalidArgument);
    (void)stream.end_capture();
    stream.launch(graph);
    stream.synchronize();
    const gpu::Device second = gpu::Device::host_executor();
    Event foreign(second);
    CHECK_THROWS_AS(stream.record(foreign), core::InvalidArgument);
    CHECK_THROWS_AS(stream.wait(foreign), core::InvalidArgument);
  }
}

TEST_CASE("graph: a stream that ends while it is captured gives the capture up") {
  for (const gpu::Device& device : testing::memory_devices()) {
    int calls = 0;
    {
      Stream stream(device);
      stream.begin_capture();
      stream.call_on_host([&calls] { ++calls; });
    }
    device.synchronize();
    CHECK(calls == 0);
    Stream next(device);
    next.call_on_host([&calls] { ++calls; });
    next.synchronize();
    CHECK(calls == 1);
  }
}

TEST_CASE("stream: a number in device memory holds a stream until another has written it") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    Stream writer(device), waiter(device);
    gpu::DeviceArray<std::uint64_t> flag(device, 1);
    writer.set_zero(flag.data(), flag.bytes());
    writer.synchronize();
    gpu::PinnedArray<double> source(device, 1);
    Cell a(device), b(device);
    for (std::uint64_t step = 1; step < 4; ++step) {
      source.data()[0] = static_cast<double>(step);
      a.set(writer, source);
      writer.write_value(flag.data(), step);
      waiter.wait_value(flag.data(), step, 60.0);
      b.copy(waiter, a);
      CHECK(b.read(waiter) == static_cast<double>(step));
    }
    if (!device.on_gpu())
      CHECK_THROWS_WITH_AS(
          [&] {
            waiter.wait_value(flag.data(), 4, 0.01);
            waiter.synchronize();
          }(),
          doctest::Contains("to become 4; it is 3"), core::Error);
  }
}

TEST_CASE("stream: a deferred host executor runs what the host waits for, and no more of that stream") {
  const gpu::Device device = gpu::Device::deferred_host_executor();
  Stream stream(device);
  Event event(device);
  std::vector<int> seen;
  stream.call_on_host([&seen] { seen.push_back(1); });
  stream.record(event);
  stream.call_on_host([&seen] { seen.push_back(2); });
  CHECK(seen.empty());
  event.wait();
  CHECK(seen == std::vector<int>{1});
  CHECK(event.done());
  device.synchronize();
  CHECK(seen == std::vector<int>{1, 2});
  stream.call_on_host([&seen] { seen.push_back(3); });
  stream.record(event);
  CHECK_FALSE(event.done());  // it goes on while it is asked
  CHECK(event.done());
  {
    Stream(device).call_on_host([&seen] { seen.push_back(4); });
  }
  CHECK(seen == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("stream: a deferred host executor uncovers what is read too early, and streams without an event between") {
  const gpu::Device device = gpu::Device::deferred_host_executor();
  Stream one(device), other(device);
  Event event(device);
  gpu::PinnedArray<double> source(device, 1), result(device, 1);
  gpu::DeviceArray<double> a(device, 1), b(device, 1);
  source.data()[0] = 1.0;
  a.upload(one, source.span());
  source.data()[0] = 2.0;  // too early: the copy has not been there
  a.download(one, result.span());
  CHECK(result.data()[0] == 0.0);
  one.synchronize();
  CHECK(result.data()[0] == 2.0);

  std::vector<double> pageable{3.0};
  b.upload(one, pageable);
  pageable[0] = 4.0;  // taken already
  b.download(one, pageable);
  CHECK(pageable[0] == 3.0);

  source.data()[0] = 5.0;
  one.call_on_host([] {});
  a.upload(one, source.span());
  b.download(other, result.span());
  a.download(other, result.span());  // without an event: old
  other.synchronize();
  CHECK(result.data()[0] == 2.0);
  source.data()[0] = 6.0;
  one.call_on_host([] {});
  a.upload(one, source.span());
  one.record(event);
  other.wait(event);
  a.download(other, result.span());
  other.synchronize();
  CHECK(result.data()[0] == 6.0);
}

TEST_CASE("stream: it moves with what it has captured") {
  const gpu::Device device = gpu::Device::host_executor();
  Stream stream(device);
  int calls = 0;
  stream.begin_capture();
  stream.call_on_host([&calls] { ++calls; });
  Stream moved(std::move(stream));
  CHECK(moved.capturing());
  const Graph graph = moved.end_capture();
  moved.launch(graph);
  CHECK(calls == 1);
}
