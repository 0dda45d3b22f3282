// SPDX-License-Identifier: Apache-2.0
#include "halocline/gpu/launch.cuh"

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/array.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace halocline;
using gpu::Block;
using gpu::Extent;
using gpu::Point;

namespace {

HALOCLINE_INLINE int count_up(int* counter) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(counter, 1);
#else
  return (*counter)++;
#endif
}

/// Counts the visits of each point; those outside of the extent in the last place.
struct Visit {
  Extent extent;
  int* visits;
  HALOCLINE_HOST_DEVICE void operator()(const Point& p) const {
    const bool inside = p.x >= 0 && p.x < extent.x && p.y >= 0 && p.y < extent.y && p.z >= 0 && p.z < extent.z;
    count_up(visits + (inside ? (p.x * extent.y + p.y) * extent.z + p.z : extent.x * extent.y * extent.z));
  }
};

/// Every block draws numbers from one counter as it goes: at its begin, of its threads, at its end.
struct Hooks {
  static constexpr int max_threads = 64;
  int left_out;  // the block that begin_block refuses
  int* clock;
  int* begun;   // [block]
  int* worked;  // [point]
  int* ended;   // [block]
  int* blocks;  // as each block is told
  HALOCLINE_HOST_DEVICE bool begin_block(const gpu::BlockPoint& b) const {
    begun[b.x] = count_up(clock);
    blocks[b.x] = static_cast<int>(b.blocks);
    return b.x != left_out;
  }
  HALOCLINE_HOST_DEVICE void operator()(const Point& p) const { worked[p.x] = count_up(clock); }
  HALOCLINE_HOST_DEVICE void end_block(const gpu::BlockPoint& b) const { ended[b.x] = count_up(clock); }
};

/// end_block sees what all threads of its block have written.
struct Total {
  int n;
  double* values;
  double* totals;  // [block]
  HALOCLINE_HOST_DEVICE void operator()(const Point& p) const { values[p.x] = 1.0 + static_cast<double>(p.x); }
  HALOCLINE_HOST_DEVICE void end_block(const gpu::BlockPoint& b) const {
    double sum = 0;
    for (std::int64_t i = b.x * 100; i < b.x * 100 + 100 && i < n; ++i) sum += values[i];
    totals[b.x] = sum;
  }
};

struct Add {
  double* values;
  double what;
  HALOCLINE_HOST_DEVICE void operator()(const Point& p) const { values[p.x] += what; }
};

struct Large {
  static constexpr int max_threads = 1024;
  static constexpr int min_blocks = 1;
  int* visits;
  HALOCLINE_HOST_DEVICE void operator()(const Point&) const { count_up(visits); }
};

template <class T>
std::vector<T> read(gpu::Stream& stream, const gpu::DeviceArray<T>& array) {
  std::vector<T> values(static_cast<std::size_t>(array.size()));
  array.download(stream, values);
  stream.synchronize();
  return values;
}

template <class T>
gpu::DeviceArray<T> zeros(gpu::Stream& stream, std::int64_t size) {
  gpu::DeviceArray<T> array(stream.device(), size);
  stream.set_zero(array.data(), array.bytes());
  return array;
}

}  // namespace

TEST_CASE("launch: every point is visited once, whatever the extent, the block and the wish for shared memory") {
  for (const gpu::Device& device : testing::all_devices()) {
    CAPTURE(device.describe());
    gpu::Stream stream(device);
    for (const Extent extent :
         {Extent{1, 1, 1}, Extent{257, 1, 1}, Extent{129, 3, 5}, Extent{7, 31, 2}, Extent{1000, 1, 9}}) {
      for (const Block block : {Block{128, 1, 1}, Block{1, 1, 1}, Block{32, 4, 2}, Block{3, 5, 7}, Block{256, 1, 1, 50},
                                Block{2, 2, 64, 0}, Block{1, 256, 1, 100}}) {
        CAPTURE(extent.x);
        CAPTURE(block.x);
        const std::int64_t points = extent.x * extent.y * extent.z;
        auto visits = zeros<int>(stream, points + 1);
        gpu::launch(stream, "visit", extent, block, Visit{extent, visits.data()});
        std::vector<int> expected(static_cast<std::size_t>(points), 1);
        expected.push_back(0);
        CHECK(read(stream, visits) == expected);
      }
    }
  }
}

TEST_CASE("launch: an extent without points visits none") {
  for (const gpu::Device& device : testing::all_devices()) {
    gpu::Stream stream(device);
    for (const Extent extent : {Extent{0, 1, 1}, Extent{5, 0, 1}, Extent{5, 1, 0}}) {
      auto visits = zeros<int>(stream, 1);
      gpu::launch(stream, "large", extent, {}, Large{visits.data()});
      CHECK(read(stream, visits)[0] == 0);
    }
    auto visits = zeros<int>(stream, 1);
    gpu::launch(stream, "large", {3000}, {1024}, Large{visits.data()});
    CHECK(read(stream, visits)[0] == 3000);
  }
}

TEST_CASE("launch: a block begins before its threads work and ends after them, or is left out") {
  for (const gpu::Device& device : testing::all_devices()) {
    CAPTURE(device.describe());
    gpu::Stream stream(device);
    constexpr int points = 64 * 4 + 7, left_out = 2;
    auto clock = zeros<int>(stream, 1);
    gpu::DeviceArray<int> begun(device, 5), worked(device, points), ended(device, 5), blocks(device, 5);
    for (auto* array : {&begun, &worked, &ended, &blocks}) {
      const std::vector<int> never(static_cast<std::size_t>(array->size()), -1);
      array->upload(stream, never);
    }
    gpu::launch(stream, "hooks", {points}, {64},
                Hooks{left_out, clock.data(), begun.data(), worked.data(), ended.data(), blocks.data()});
    const auto begins = read(stream, begun), works = read(stream, worked), ends = read(stream, ended);
    CHECK(read(stream, blocks) == std::vector<int>(5, 5));
    CHECK(read(stream, clock)[0] == 5 + 4 + points - 64);
    for (int block = 0; block < 5; ++block) {
      const auto b = static_cast<std::size_t>(block);
      const auto first = works.begin() + 64 * block, last = works.begin() + std::min(64 * (block + 1), points);
      const auto [least, most] = std::minmax_element(first, last);
      if (block == left_out) {
        CHECK(begins[b] >= 0);
        CHECK(*most == -1);
        CHECK(ends[b] == -1);
      } else {
        CHECK(begins[b] < *least);
        CHECK(*most < ends[b]);
      }
    }
  }
}

TEST_CASE("launch: the end of a block sees what all its threads have written") {
  for (const gpu::Device& device : testing::all_devices()) {
    gpu::Stream stream(device);
    constexpr int points = 1234;
    gpu::DeviceArray<double> values(device, points), totals(device, 13);
    gpu::launch(stream, "total", {points}, {100}, Total{points, values.data(), totals.data()});
    const auto sums = read(stream, totals);
    for (int block = 0; block < 13; ++block) {
      const int first = 100 * block + 1, last = std::min(points, 100 * (block + 1));
      CHECK(sums[static_cast<std::size_t>(block)] == (last - first + 1) * (first + last) / 2.0);
    }
  }
}

TEST_CASE("launch: launches of a graph run again, each with the functor that it was captured with") {
  for (const gpu::Device& device : testing::all_devices()) {
    gpu::Stream stream(device);
    auto values = zeros<double>(stream, 300);
    stream.synchronize();
    stream.begin_capture();
    for (const double what : {1.0, 10.0, 100.0}) gpu::launch(stream, "add", {300}, {64}, Add{values.data(), what});
    const gpu::Graph graph = stream.end_capture();
    CHECK(read(stream, values) == std::vector<double>(300, 0.0));
    for (int i = 1; i < 4; ++i) {
      stream.launch(graph);
      CHECK(read(stream, values) == std::vector<double>(300, 111.0 * i));
    }
  }
}

TEST_CASE("launch: what cannot be launched is refused, with kernel, extent, block and device") {
  for (const gpu::Device& device : testing::all_devices()) {
    gpu::Stream stream(device);
    auto visits = zeros<int>(stream, 1);
    const Large large{visits.data()};
    const Add add{nullptr, 0.0};
    const auto sentence = [&](const Extent& extent, const Block& block, const auto& functor) -> std::string {
      try {
        gpu::launch(stream, "tested", extent, block, functor);
      } catch (const core::InvalidArgument& error) {
        return error.what();
      }
      return "";
    };
    const std::string of_add = sentence({12345, 2, 3}, {512, 1, 1}, add);  // 256 where the functor does not say
    for (const char* part : {"kernel tested", "12345 x 2 x 3", "512 x 1 x 1", "at most 256 threads"})
      CHECK_MESSAGE(of_add.find(part) != std::string::npos, of_add);
    CHECK(of_add.find(device.describe()) != std::string::npos);
    const std::int64_t far = std::int64_t{1} << 40;
    for (const auto& [extent, block] :
         {std::pair{Extent{5}, Block{1025}}, std::pair{Extent{5}, Block{64, 32}},
          std::pair{Extent{5}, Block{1, 1, 128}}, std::pair{Extent{5}, Block{0}}, std::pair{Extent{5}, Block{32, -1}},
          std::pair{Extent{-5}, Block{}}, std::pair{Extent{5, -1}, Block{}}, std::pair{Extent{5}, Block{32, 1, 1, 101}},
          std::pair{Extent{5}, Block{32, 1, 1, -2}}, std::pair{Extent{far}, Block{1}},
          std::pair{Extent{5, 70000}, Block{}}, std::pair{Extent{5, 1, 70000}, Block{}}})
      CHECK(sentence(extent, block, large) != "");
    CHECK(read(stream, visits)[0] == 0);
  }
}
