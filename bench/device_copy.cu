// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "bench/device_copy.hpp"
#include "bench/device_timing.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/launch.cuh"

namespace halocline::bench {
namespace {

struct alignas(16) Chunk {
  std::uint32_t words[4];
};

/// Numbers that a memory cannot compress, as it can zeros.
struct Fill {
  Chunk* to;
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    std::uint32_t state = static_cast<std::uint32_t>(p.x) * 2654435761u + 1u;
    for (std::uint32_t& word : to[p.x].words) word = state = state * 1664525u + 1013904223u;
  }
};

struct Copy {
  const Chunk* from;
  Chunk* to;
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const { to[p.x] = from[p.x]; }
};

}  // namespace

CopyBandwidth copy_bandwidth(const comm::Communicator& group, gpu::Stream& stream, const Effort& effort) {
  const gpu::Device& device = stream.device();
  std::int64_t bytes = std::int64_t{1} << 20;
  if (device.on_gpu()) bytes = std::min(std::int64_t{1} << 30, device.memory().free / 4);
  const std::int64_t chunks = std::max<std::int64_t>(1, bytes / static_cast<std::int64_t>(sizeof(Chunk)));
  gpu::DeviceArray<Chunk> from(device, chunks), to(device, chunks);
  gpu::launch(stream, "bench_fill_copy", {.x = chunks}, {.x = 256}, Fill{from.data()});
  DeviceClock clock(group, stream);
  const Copy copy{from.data(), to.data()};
  const auto seconds =
      clock.measure([&] { gpu::launch(stream, "bench_copy", {.x = chunks}, {.x = 256}, copy); }, effort);
  const auto size = static_cast<double>(chunks) * sizeof(Chunk);
  return {1e-9 * 2 * size * group.size() / seconds.median, size};
}

}  // namespace halocline::bench
