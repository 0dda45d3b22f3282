// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/launch_shape.hpp"

#include "halocline/core/error.hpp"

#include <string>

namespace halocline::gpu::detail {
namespace {

std::string text(std::int64_t x, int y, int z) {
  return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

}  // namespace

Blocks plan_launch(const Stream& stream, const char* name, const Extent& extent, const Block& block, int max_threads) {
  const auto refuse = [&](const std::string& why) {
    throw core::InvalidArgument("kernel " + std::string(name) + " over " + text(extent.x, extent.y, extent.z) +
                                " points by blocks of " + text(block.x, block.y, block.z) + " threads on " +
                                stream.device().describe() + ": " + why);
  };
  if (extent.x < 0 || extent.y < 0 || extent.z < 0) refuse("an extent is negative; give 0 or more points an axis");
  if (block.x < 1 || block.y < 1 || block.z < 1) refuse("a block has at least one thread along each axis");
  if (block.x > 1024 || block.y > 1024 || block.z > 64)
    refuse("a block has at most 1024, 1024 and 64 threads along x, y and z");
  if (std::int64_t{block.x} * block.y * block.z > max_threads)
    refuse("the kernel is made for blocks of at most " + std::to_string(max_threads) + " threads; give smaller ones");
  if (block.carveout < -1 || block.carveout > 100)
    refuse("shared memory of " + std::to_string(block.carveout) + " % of the cache; give 0 to 100, or -1 for no wish");
  if (extent.x == 0 || extent.y == 0 || extent.z == 0) return {0, 0, 0};
  const std::int64_t x = (extent.x - 1) / block.x + 1;
  const std::int64_t y = (std::int64_t{extent.y} - 1) / block.y + 1, z = (std::int64_t{extent.z} - 1) / block.z + 1;
  if (x > 2147483647 || y > 65535 || z > 65535)
    refuse("that is " + std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z) +
           " blocks, and a GPU takes at most 2147483647 x 65535 x 65535; give larger blocks");
  return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
}

void require_host_executor(const Stream& stream, const char* name) {
  if (stream.device().on_gpu())
    throw core::Error("kernel " + std::string(name) + " was compiled without nvcc and cannot run on " +
                      stream.device().describe() + "; take the host executor, or rebuild with -DHALOCLINE_CUDA=on");
}

}  // namespace halocline::gpu::detail
