// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Running a functor over an index space: on a GPU by a kernel, on the host executor by loops.
///
/// A functor is a trivially copyable value with
///   - `HALOCLINE_HOST_DEVICE void operator()(const Point& p) const`: the work of one thread;
///   - optionally `static constexpr int max_threads`: the most threads of a block that it is launched with, 256 where
///     it does not say; bounds the registers that the compiler may give it, as `static constexpr int min_blocks` does;
///   - optionally `HALOCLINE_HOST_DEVICE bool begin_block(const BlockPoint& b) const`: called by one thread of each
///     block before its work (waiting for a flag, say); where it gives false, the block's work is left out, and its
///     end_block as well;
///   - optionally `HALOCLINE_HOST_DEVICE void end_block(const BlockPoint& b) const`: called by one thread of each block
///     after all its threads have done their work and made their writes visible to the whole machine.
///
/// What others write while the kernel runs must not be read through the read-only cache, which is not told of it (no
/// __ldg, no const __restrict__).
///
/// The host executor runs the very same functor: block after block in the order of their numbers, in a block thread
/// after thread. A functor must not depend on that order.
///
/// Only *.cu files include this. Sources that nvcc compiles and sources that a C++ compiler does give these templates
/// different names (an inline namespace), so a program may hold both.

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
/// @throws InvalidArgument  a block that is too large for the functor or the device
/// @throws core::Error      the launch failed: kernel, extent, block and device are named
/// Collective: no. Does not wait.
template <class Functor>
void launch(Stream& stream, const char* name, const Extent& extent, const Block& block, const Functor& functor);

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu

#include "halocline/gpu/detail/launch_definition.cuh"
