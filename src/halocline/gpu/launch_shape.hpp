// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a launch is over, how it is cut into blocks, and what of that no GPU takes.
///
/// Apart from launch.cuh, so that a C++ compiler compiles what no kernel is in.

#include <cstdint>

#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

/// The index space: x is the long axis (sites), y and z short ones (columns, directions).
struct Extent {
  std::int64_t x = 1;
  int y = 1, z = 1;
};
/// Threads of a block along each axis, and what the tuner may choose beside them.
struct Block {
  int x = 128, y = 1, z = 1;
  int carveout = -1;  ///< of the first-level cache kept as shared memory [percent]; -1 leaves it to the driver
};
struct Point {
  std::int64_t x;
  int y, z;
};
struct BlockPoint {
  std::int64_t x;  ///< number of the block along each axis
  int y, z;
  std::int64_t blocks;  ///< of the whole launch
};

namespace detail {

/// Blocks along each axis.
struct Blocks {
  unsigned x, y, z;
  std::int64_t all() const noexcept { return std::int64_t{x} * y * z; }
};

/// @returns no blocks for an empty extent
/// @throws InvalidArgument  a negative extent, a block beyond max_threads or the limits of every GPU, too many blocks
Blocks plan_launch(const Stream& stream, const char* name, const Extent& extent, const Block& block, int max_threads);

/// For launches that a C++ compiler has compiled. @throws core::Error  on a GPU's stream
void require_host_executor(const Stream& stream, const char* name);

}  // namespace detail
}  // namespace halocline::gpu
