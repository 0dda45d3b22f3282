// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Runs a functor in two or three steps, between which the threads of a block exchange numbers: on a GPU through its
/// shared memory, on the host executor through memory of the process.
///
/// A functor is as for launch.cuh, but has neither operator() nor hooks. It has
///   - `HALOCLINE_HOST_DEVICE void first(const Point& p, const ThreadPlace& at) const` and the same `second`. All
///     threads of a block have done the first before any of them begins the second. Threads beyond the extent do
///     neither;
///   - perhaps `HALOCLINE_HOST_DEVICE void between(const Block& block, const ThreadPlace& at) const`. All threads of a
///     block do it after the first and before the second, also those beyond the extent;
///   - `std::size_t shared_bytes(const Block& block) const`: the size of at.memory, whose address is a multiple of 16.
///     The contents are unspecified at first.

#include <cstddef>

#include "halocline/gpu/launch.cuh"

namespace halocline::gpu {

#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif

/// A thread in its block.
struct ThreadPlace {
  void* memory;  ///< of the block
  int x, y, z;
  int threads_x;  ///< of the block, along x
};

/// Enqueues first(p) for all p of the extent, and after it, block by block, between() and second(p).
/// @throws InvalidArgument  the block is too large for the functor or the device
/// @throws core::Error      the launch failed, for too much shared memory too; names kernel, extent, block and device
/// Collective: no. Does not wait.
template <class Functor>
void launch_shared(Stream& stream, const char* name, const Extent& extent, const Block& block, const Functor& functor);

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu

#include "halocline/gpu/detail/launch_shared_definition.cuh"
