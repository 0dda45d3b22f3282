// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Runs a functor over an index space: by a kernel on a GPU, by loops on the host executor.
///
/// A functor is a trivially copyable value with
///   - `HALOCLINE_HOST_DEVICE void operator()(const Point& p) const`: the work of one thread;
///   - optionally `static constexpr int max_threads`: the largest number of threads in a block that it is launched
///     with, 256 by default. It bounds the registers that the compiler may use, as does `static constexpr int
///     min_blocks`;
///   - optionally `HALOCLINE_HOST_DEVICE bool begin_block(const BlockPoint& b) const`: called by one thread of each
///     block before the block's work (to wait for a flag, say). If it returns false, the block's work and its end_block
///     are skipped;
///   - optionally `HALOCLINE_HOST_DEVICE void end_block(const BlockPoint& b) const`: called by one thread of each block
///     after all its threads have done their work. It sees their writes, and passes them on to other blocks, to other
///     devices or to the host by the orders of memory_order.cuh.
///
/// A kernel must not read memory that others write during its run through the read-only cache (no __ldg, no const
/// __restrict__), because this cache does not see such writes.
///
/// The host executor runs the same functor: block by block in the order of their numbers, and thread by thread within a
/// block. A functor must not depend on that order.
///
/// Only *.cu files include this file. The templates have different names (an inline namespace) in sources that nvcc
/// compiles and in sources that a C++ compiler compiles, so that one program may contain both.

#include <cstdint>

#include "halocline/core/device.hpp"
#include "halocline/gpu/launch_shape.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif

/// Enqueues functor(p) for all p of the extent.
/// @param name  of the kernel, for errors and profiles
/// @throws InvalidArgument  the block is too large for the functor or the device
/// @throws core::Error      the launch failed; names kernel, extent, block and device
/// Collective: no. Does not wait.
template <class Functor>
void launch(Stream& stream, const char* name, const Extent& extent, const Block& block, const Functor& functor);

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu

#include "halocline/gpu/detail/launch_definition.cuh"
