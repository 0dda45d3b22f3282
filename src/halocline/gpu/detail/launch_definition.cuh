// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Only launch.cuh includes this file, at its end.
///
/// Defines launch() of launch.cuh: the CUDA kernel, and beside it the loops of the host executor.

#include <cstddef>
#include <type_traits>

#include "halocline/core/device.hpp"

#if defined(__CUDACC__)
#include "halocline/gpu/detail/runtime.hpp"
#endif

namespace halocline::gpu {
#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif
namespace detail_of_launch {

template <class Functor>
constexpr int max_threads() {
  if constexpr (requires { Functor::max_threads; })
    return Functor::max_threads;
  else
    return 256;
}

/// Functor::min_blocks; 0 if the functor has none, which leaves the register count to the compiler.
template <class Functor>
constexpr int min_blocks() {
  if constexpr (requires { Functor::min_blocks; })
    return Functor::min_blocks;
  else
    return 0;
}

template <class Functor>
inline constexpr bool begins =
    requires(const Functor& functor, const BlockPoint& block) { functor.begin_block(block); };
template <class Functor>
inline constexpr bool ends = requires(const Functor& functor, const BlockPoint& block) { functor.end_block(block); };

template <class Functor>
constexpr void check_functor() {
  static_assert(std::is_trivially_copyable_v<Functor>, "a functor goes to the device as bytes");
  static_assert(sizeof(Functor) <= 4000,
                "a functor is passed as a parameter of a kernel, of which there are 4096 bytes");
  static_assert(max_threads<Functor>() >= 1 && max_threads<Functor>() <= 1024, "a block has 1 to 1024 threads");
}

template <class Functor>
void run_on_host(const Functor& functor, const Extent& extent, const Block& block, const detail::Blocks& blocks) {
  for (unsigned bz = 0; bz < blocks.z; ++bz)
    for (unsigned by = 0; by < blocks.y; ++by)
      for (unsigned bx = 0; bx < blocks.x; ++bx) {
        [[maybe_unused]] const BlockPoint at{bx, static_cast<int>(by), static_cast<int>(bz), blocks.all()};
        if constexpr (begins<Functor>)
          if (!functor.begin_block(at)) continue;
        for (int tz = 0; tz < block.z; ++tz)
          for (int ty = 0; ty < block.y; ++ty)
            for (int tx = 0; tx < block.x; ++tx) {
              const std::int64_t x = std::int64_t{bx} * block.x + tx;
              const std::int64_t y = std::int64_t{by} * block.y + ty, z = std::int64_t{bz} * block.z + tz;
              if (x < extent.x && y < extent.y && z < extent.z)
                functor(Point{x, static_cast<int>(y), static_cast<int>(z)});
            }
        if constexpr (ends<Functor>) functor.end_block(at);
      }
}

#if defined(__CUDACC__)
/// One thread for each point. The first thread of a block calls the hooks. The barrier after begin_block() extends to
/// all threads of the block the visibility of the writes that the hook has seen. The barrier before end_block() extends
/// to the hook the visibility of the writes of all threads. The hook itself passes them on to other blocks.
template <class Functor>
__global__ void __launch_bounds__(max_threads<Functor>(), min_blocks<Functor>())
    run_functor(const __grid_constant__ Functor functor, const __grid_constant__ Extent extent) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t y = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  const std::int64_t z = std::int64_t{blockIdx.z} * blockDim.z + threadIdx.z;
  [[maybe_unused]] const BlockPoint at{blockIdx.x, static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z),
                                       std::int64_t{gridDim.x} * gridDim.y * gridDim.z};
  [[maybe_unused]] const bool first = threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
  if constexpr (begins<Functor>) {
    __shared__ bool go;
    if (first) go = functor.begin_block(at);
    __syncthreads();
    if (!go) return;  // the same for all threads of the block
  }
  if (x < extent.x && y < extent.y && z < extent.z) functor(Point{x, static_cast<int>(y), static_cast<int>(z)});
  if constexpr (ends<Functor>) {
    __syncthreads();
    if (first) functor.end_block(at);
  }
}

/// Launches a kernel of two parameters, the functor and the extent, on a GPU.
template <class Functor>
void launch_kernel(Stream& stream, const char* name, const void* function, const Extent& extent, const Block& block,
                   const detail::Blocks& blocks, const Functor& functor, std::size_t shared_bytes = 0) {
  void* arguments[] = {const_cast<Functor*>(&functor), const_cast<Extent*>(&extent)};
  detail::KernelLaunch kernel{};
  kernel.name = name;
  kernel.after = stream.last_kernel();
  kernel.function = function;
  kernel.grid = {blocks.x, blocks.y, blocks.z};
  kernel.block = {static_cast<unsigned>(block.x), static_cast<unsigned>(block.y), static_cast<unsigned>(block.z)};
  kernel.carveout = block.carveout;
  kernel.read_once = block.read_once;
  kernel.shared_bytes = shared_bytes;
  kernel.arguments = arguments;
  kernel.stream = stream.handle();
  stream.device().runtime().launch(kernel);
  stream.note_kernel(name);
}
#endif

}  // namespace detail_of_launch

template <class Functor>
void launch(Stream& stream, const char* name, const Extent& extent, const Block& block, const Functor& functor) {
  using namespace detail_of_launch;
  check_functor<Functor>();
  const detail::Blocks blocks = detail::plan_launch(stream, name, extent, block, max_threads<Functor>());
  if (blocks.all() == 0) return;
#if defined(__CUDACC__)
  if (stream.device().on_gpu())
    return launch_kernel(stream, name, reinterpret_cast<const void*>(&run_functor<Functor>), extent, block, blocks,
                         functor);
#else
  detail::require_host_executor(stream, name);
#endif
  stream.note_kernel(name);
  if (stream.capturing() || stream.handle() != nullptr)
    stream.enqueue_on_host_executor([=] { run_on_host(functor, extent, block, blocks); });
  else
    run_on_host(functor, extent, block, blocks);
}

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu
