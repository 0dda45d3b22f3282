// SPDX-License-Identifier: Apache-2.0
#include "halocline/gpu/memory_pool.hpp"

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/detail/runtime.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

using namespace halocline;
using gpu::DeviceArray;
using gpu::MemoryPool;
using gpu::Stream;

TEST_CASE("memory pool: an array takes the memory of a former one of its size, and no other") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    Stream stream(device);
    MemoryPool pool(stream);
    const double* first = nullptr;
    {
      const DeviceArray<double> a(pool, 100);
      first = a.data();
      CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
      CHECK(a.bytes() == 800);
      CHECK(pool.idle_bytes() == 0);
    }
    CHECK(pool.idle_bytes() == 800);
    const auto before = device.memory().allocations;
    const DeviceArray<float> same(pool, 200);
    CHECK(static_cast<const void*>(same.data()) == first);
    CHECK(device.memory().allocations == before);
    const DeviceArray<float> second(pool, 200), less(pool, 199);
    CHECK(device.memory().allocations == before + 2);
    CHECK(device.memory().ours == 800 + 800 + 796);
    CHECK(pool.idle_bytes() == 0);
    CHECK(DeviceArray<float>(pool, 0).data() == nullptr);
  }
}

TEST_CASE("memory pool: a loop gets the same memory in every pass, in whatever order it is given back") {
  const gpu::Device device = gpu::Device::host_executor();
  Stream stream(device);
  MemoryPool pool(stream);
  const auto pass = [&](bool backwards) {
    std::vector<DeviceArray<int>> arrays;
    std::vector<const int*> places;
    for (int i = 0; i < 5; ++i) places.push_back(arrays.emplace_back(pool, 64).data());
    if (backwards)
      while (!arrays.empty()) arrays.pop_back();
    else
      while (!arrays.empty()) arrays.erase(arrays.begin());
    return places;
  };
  const auto places = pass(false);
  CHECK(pass(true) == places);
  CHECK(pass(false) == places);
}

TEST_CASE("memory pool: work on an array that was given back comes before work on the next one") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    Stream stream(device);
    MemoryPool pool(stream);
    gpu::PinnedArray<int> from(device, 1000), to(device, 1000), later(device, 1000);
    std::ranges::fill(from.span(), 7);
    std::ranges::fill(later.span(), 8);
    DeviceArray<int> copy(device, 1000);
    {
      DeviceArray<int> a(pool, 1000);
      a.upload(stream, from.span());
      stream.copy_on_device(copy.data(), a.data(), a.bytes());
    }
    DeviceArray<int> b(pool, 1000);  // the copy out of the former array is still enqueued
    b.upload(stream, later.span());
    copy.download(stream, to.span());
    stream.synchronize();
    CHECK(std::ranges::count(to.span(), 7) == 1000);
  }
}

TEST_CASE("memory pool: the host executor fills reused memory with NaNs in the order of the stream") {
  for (const gpu::Device& device : {gpu::Device::host_executor(), gpu::Device::deferred_host_executor()}) {
    CAPTURE(device.describe());
    Stream stream(device);
    MemoryPool pool(stream);
    gpu::PinnedArray<double> ones(device, 50), got(device, 50), kept(device, 50);
    std::ranges::fill(ones.span(), 1.0);
    const double* place = nullptr;
    {
      DeviceArray<double> a(pool, 50);
      place = a.data();
      a.upload(stream, ones.span());
      a.download(stream, kept.span());
    }
    const DeviceArray<double> b(pool, 50);
    REQUIRE(b.data() == place);
    b.download(stream, got.span());
    stream.synchronize();
    CHECK(std::ranges::count(kept.span(), 1.0) == 50);
    CHECK(std::ranges::count_if(got.span(), [](double x) { return std::isnan(x); }) == 50);
  }
}

TEST_CASE("memory pool: a capture records no NaNs, which its graph would write again") {
  for (const gpu::Device& device : {gpu::Device::host_executor(), gpu::Device::deferred_host_executor()}) {
    CAPTURE(device.describe());
    Stream stream(device);
    MemoryPool pool(stream);
    gpu::PinnedArray<double> ones(device, 50), got(device, 50);
    std::ranges::fill(ones.span(), 1.0);
    {
      const DeviceArray<double> a(pool, 50);
    }
    stream.begin_capture();
    DeviceArray<double> b(pool, 50);
    const gpu::Graph graph = stream.end_capture();
    b.upload(stream, ones.span());
    stream.launch(graph);
    b.download(stream, got.span());
    stream.synchronize();
    CHECK(std::ranges::count(got.span(), 1.0) == 50);
  }
}

TEST_CASE("memory pool: trim() and the destructor free memory when the work on it is done") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    Stream stream(device);
    gpu::PinnedArray<int> ones(device, 100), got(device, 100);
    std::ranges::fill(ones.span(), 1);
    {
      MemoryPool pool(stream);
      const DeviceArray<int> held(pool, 10);
      {
        DeviceArray<int> a(pool, 100);
        a.upload(stream, ones.span());
        a.download(stream, got.span());
      }
      CHECK(device.memory().ours == 440);
      pool.trim();
      CHECK(std::ranges::count(got.span(), 1) == 100);
      CHECK(device.memory().ours == 40);
      CHECK(pool.idle_bytes() == 0);
      pool.trim();
      CHECK(device.memory().ours == 40);
    }
    CHECK(device.memory().ours == 0);
  }
}

TEST_CASE("memory pool: exhausted memory is found in the idle pieces of all pools of a device") {
  for (const gpu::Device& device : {gpu::Device::host_executor(), gpu::Device::deferred_host_executor()}) {
    CAPTURE(device.describe());
    Stream stream(device), other_stream(device);
    MemoryPool pool(stream), other(other_stream);
    gpu::PinnedArray<char> ones(device, 1000), got(device, 1000);
    std::ranges::fill(ones.span(), char{1});
    const DeviceArray<char> held(pool, 500);
    {
      DeviceArray<char> a(pool, 1000), b(other, 1000);
      b.upload(other_stream, ones.span());
      b.download(other_stream, got.span());
    }
    CHECK(device.memory().ours == 2500);
    device.runtime().limit_memory(3000);
    SUBCASE("by an array of a pool") {
      const DeviceArray<char> large(pool, 2400);
      CHECK(device.memory().ours == 2900);
    }
    SUBCASE("by an array without a pool") {
      const DeviceArray<char> large(device, 2400);
      CHECK(device.memory().ours == 2900);
    }
    SUBCASE("which do not suffice") {
      CHECK_THROWS_WITH_AS(DeviceArray<char>(pool, 2600), doctest::Contains("2600 bytes"), core::Error);
      CHECK(device.memory().ours == 500);
    }
    CHECK(std::ranges::count(got.span(), 1) == 1000);  // freed when the work was done
    CHECK(pool.idle_bytes() + other.idle_bytes() == (device.memory().ours == 500 ? 0 : device.memory().ours - 500));
  }
}

TEST_CASE("memory pool: moved arrays give their memory back once") {
  const gpu::Device device = gpu::Device::host_executor();
  Stream stream(device);
  MemoryPool pool(stream);
  {
    DeviceArray<int> a(pool, 100), b(pool, 50);
    DeviceArray<int> c(std::move(a));
    b = std::move(c);
    CHECK(b.size() == 100);
    a = DeviceArray<int>(device, 3);
    CHECK(pool.idle_bytes() == 0);
  }
  CHECK(pool.idle_bytes() == 600);
  CHECK(device.memory().ours == 600);
}
