// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Only launch_shared.cuh includes this file, at its end.
///
/// Defines launch_shared(): the CUDA kernel, and the loops of the host executor.

#include <vector>

namespace halocline::gpu {
#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif
namespace detail_of_launch {

struct alignas(16) SharedPiece {
  std::byte at[16];
};

template <class Functor>
inline constexpr bool has_between =
    requires(const Functor& functor, const Block& block, const ThreadPlace& at) { functor.between(block, at); };

template <class Functor>
void run_shared_on_host(const Functor& functor, const Extent& extent, const Block& block,
                        const detail::Blocks& blocks) {
  std::vector<SharedPiece> memory(functor.shared_bytes(block) / sizeof(SharedPiece) + 1);
  for (unsigned bz = 0; bz < blocks.z; ++bz)
    for (unsigned by = 0; by < blocks.y; ++by)
      for (unsigned bx = 0; bx < blocks.x; ++bx)
        for (int part = 0; part < 3; ++part)
          for (int tz = 0; tz < block.z; ++tz)
            for (int ty = 0; ty < block.y; ++ty)
              for (int tx = 0; tx < block.x; ++tx) {
                const std::int64_t x = std::int64_t{bx} * block.x + tx;
                const std::int64_t y = std::int64_t{by} * block.y + ty, z = std::int64_t{bz} * block.z + tz;
                const ThreadPlace at{memory.data(), tx, ty, tz, block.x};
                if constexpr (has_between<Functor>)
                  if (part == 1) functor.between(block, at);
                if (x >= extent.x || y >= extent.y || z >= extent.z) continue;
                const Point p{x, static_cast<int>(y), static_cast<int>(z)};
                if (part == 0) functor.first(p, at);
                if (part == 2) functor.second(p, at);
              }
}

#if defined(__CUDACC__)
template <class Functor>
__global__ void __launch_bounds__(max_threads<Functor>(), min_blocks<Functor>())
    run_shared_functor(const __grid_constant__ Functor functor, const __grid_constant__ Extent extent) {
  extern __shared__ SharedPiece shared_memory_of_block[];
  const Point p{std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x,
                static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y),
                static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z)};
  const ThreadPlace at{shared_memory_of_block, static_cast<int>(threadIdx.x), static_cast<int>(threadIdx.y),
                       static_cast<int>(threadIdx.z), static_cast<int>(blockDim.x)};
  const bool works = p.x < extent.x && p.y < extent.y && p.z < extent.z;
  if (works) functor.first(p, at);
  __syncthreads();
  if constexpr (has_between<Functor>) {
    functor.between(Block{static_cast<int>(blockDim.x), static_cast<int>(blockDim.y), static_cast<int>(blockDim.z)},
                    at);
    __syncthreads();
  }
  if (works) functor.second(p, at);
}
#endif

}  // namespace detail_of_launch

template <class Functor>
void launch_shared(Stream& stream, const char* name, const Extent& extent, const Block& block, const Functor& functor) {
  using namespace detail_of_launch;
  check_functor<Functor>();
  const detail::Blocks blocks = detail::plan_launch(stream, name, extent, block, max_threads<Functor>());
  if (blocks.all() == 0) return;
#if defined(__CUDACC__)
  if (stream.device().on_gpu())
    return launch_kernel(stream, name, reinterpret_cast<const void*>(&run_shared_functor<Functor>), extent, block,
                         blocks, functor, functor.shared_bytes(block));
#else
  detail::require_host_executor(stream, name);
#endif
  stream.note_kernel(name);
  if (stream.capturing() || stream.handle() != nullptr)
    stream.enqueue_on_host_executor([=] { run_shared_on_host(functor, extent, block, blocks); });
  else
    run_shared_on_host(functor, extent, block, blocks);
}

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu
