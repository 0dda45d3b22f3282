// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The index space of a launch, its division into blocks, and the limits of every GPU.
///
/// Separate from launch.cuh, so that code without kernels needs only a C++ compiler.

#include <cstddef>
#include <cstdint>

#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

/// The index space: x is the long axis (sites), y and z short ones (columns, directions).
struct Extent {
  std::int64_t x = 1;
  int y = 1, z = 1;
};
/// Memory that a launch reads once. A GPU's second-level cache then gives it up before other memory. A hint only.
struct ReadOnce {
  const void* data = nullptr;  ///< null: none
  std::size_t bytes = 0;
};
/// Threads of a block along each axis, and the tuner's choices for the caches.
struct Block {
  int x = 128, y = 1, z = 1;
  int carveout = -1;  ///< part of the first-level cache used as shared memory [percent]; -1: the driver's choice
  ReadOnce read_once{};
};
struct Point {
  std::int64_t x;
  int y, z;
};
struct BlockPoint {
  std::int64_t x;  ///< number of the block along each axis
  int y, z;
  std::int64_t blocks;  ///< number of blocks in the whole launch
};

namespace detail {

/// Number of blocks along each axis.
struct Blocks {
  unsigned x, y, z;
  std::int64_t all() const noexcept { return std::int64_t{x} * y * z; }
};

/// @returns no blocks for an empty extent
/// @throws InvalidArgument  a negative extent, a block beyond max_threads or beyond every GPU's limits, too many blocks
Blocks plan_launch(const Stream& stream, const char* name, const Extent& extent, const Block& block, int max_threads);

/// For launches in code compiled by a C++ compiler. @throws core::Error  the stream belongs to a GPU
void require_host_executor(const Stream& stream, const char* name);

}  // namespace detail
}  // namespace halocline::gpu
