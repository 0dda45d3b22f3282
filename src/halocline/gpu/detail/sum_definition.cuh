// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Only sum.cuh includes this file, at its end.
///
/// Defines launch_sum() of sum.cuh: the CUDA kernel, and the loops of the host executor in the same order of additions.

#include "halocline/core/device.hpp"
#include "halocline/gpu/memory_order.cuh"

namespace halocline::gpu {
namespace detail {

/// The memory and the sizes of one sum. `partial` has shape [sum][most_blocks][columns]; `blocks` of them are used.
struct SumPlan {
  std::int64_t sites, blocks, most_blocks;
  int columns;
  double* partial;
  double* total;       // [sum][columns], in pinned memory
  unsigned* finished;  // [columns]

  HALOCLINE_INLINE double* partial_of(int sum, std::int64_t block, int column) const {
    return partial + (sum * most_blocks + block) * columns + column;
  }
};

}  // namespace detail

#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif
namespace detail_of_sum {

inline constexpr int warp = 32, warps = sum_block / warp;

/// Replaces values[0] by the sum of `count` values (a power of 2) along the halving tree.
inline void add_halves(double* values, int count) {
  for (int half = count / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) values[i] += values[i + half];
}

/// Replaces values[0] by the sum of a block's values, in the order of sum.cuh.
inline void add_block(double (&values)[sum_block]) {
  double of_warps[warps];
  for (int i = 0; i < warps; ++i) {
    add_halves(values + i * warp, warp);
    of_warps[i] = values[i * warp];
  }
  add_halves(of_warps, warps);
  values[0] = of_warps[0];
}

template <int N, class Functor>
void run_on_host(const Functor& functor, const detail::SumPlan& plan) {
  double values[N][sum_block];
  for (int column = 0; column < plan.columns; ++column) {
    for (std::int64_t block = 0; block < plan.blocks; ++block) {
      for (int thread = 0; thread < sum_block; ++thread) {
        const std::int64_t site = block * sum_block + thread;
        double of_site[N] = {};
        if (site < plan.sites) functor(site, column, of_site);
        for (int n = 0; n < N; ++n) values[n][thread] = of_site[n];
      }
      for (int n = 0; n < N; ++n) {
        add_block(values[n]);
        *plan.partial_of(n, block, column) = values[n][0];
      }
    }
    for (int n = 0; n < N; ++n) {
      for (int thread = 0; thread < sum_block; ++thread) {
        double sum = 0;
        for (std::int64_t block = thread; block < plan.blocks; block += sum_block)
          sum += *plan.partial_of(n, block, column);
        values[n][thread] = sum;
      }
      add_block(values[n]);
      plan.total[n * plan.columns + column] = values[n][0];
    }
  }
}

#if defined(__CUDACC__)
/// Adds the values of a block. The first thread gets the sums; the values of the other threads are overwritten. All
/// threads of the block must call this.
template <int N>
__device__ __forceinline__ void add_block_of_threads(double (&values)[N]) {
  __shared__ double of_warps[N][warps];
  const int lane = static_cast<int>(threadIdx.x) % warp, mine = static_cast<int>(threadIdx.x) / warp;
#pragma unroll
  for (int half = warp / 2; half > 0; half /= 2)
#pragma unroll
    for (int n = 0; n < N; ++n) values[n] += __shfl_down_sync(0xffffffffU, values[n], half);
  __syncthreads();  // so that the sums of an earlier call have been read
  if (lane == 0)
#pragma unroll
    for (int n = 0; n < N; ++n) of_warps[n][mine] = values[n];
  __syncthreads();
  if (mine != 0) return;
#pragma unroll
  for (int n = 0; n < N; ++n) values[n] = lane < warps ? of_warps[n][lane] : 0.0;
#pragma unroll
  for (int half = warps / 2; half > 0; half /= 2)
#pragma unroll
    for (int n = 0; n < N; ++n) values[n] += __shfl_down_sync(0xffffffffU, values[n], half);
}

/// CUDA block i works on column i mod columns, so that the columns of the same sites run together and share the data
/// they read. The last block to finish a column adds the sums of the column's blocks. The thread that has written a
/// block's sums counts the block with release. The last block fences once, and reads the sums past the first-level
/// cache.
template <int N, int min_blocks, class Functor>
__global__ void __launch_bounds__(sum_block, min_blocks)
    sum_functor(const __grid_constant__ Functor functor, const __grid_constant__ detail::SumPlan plan) {
  const unsigned columns = static_cast<unsigned>(plan.columns);
  const unsigned block = blockIdx.x / columns;
  const int column = static_cast<int>(blockIdx.x - block * columns);
  const std::int64_t site = std::int64_t{block} * sum_block + threadIdx.x;
  double values[N] = {};
  if (site < plan.sites) functor(site, column, values);
  add_block_of_threads(values);

  __shared__ bool last;
  if (threadIdx.x == 0) {
#pragma unroll
    for (int n = 0; n < N; ++n) *plan.partial_of(n, block, column) = values[n];
    last = detail::count_with_release(plan.finished + column) == static_cast<unsigned>(plan.blocks) - 1U;
    if (last) detail::fence_device();
  }
  __syncthreads();
  if (!last) return;  // the same for all threads of the block

#pragma unroll
  for (int n = 0; n < N; ++n) values[n] = 0;
  for (std::int64_t other = threadIdx.x; other < plan.blocks; other += sum_block)
#pragma unroll
    for (int n = 0; n < N; ++n) values[n] += __ldcg(plan.partial_of(n, other, column));
  add_block_of_threads(values);
  if (threadIdx.x == 0) {
#pragma unroll
    for (int n = 0; n < N; ++n) plan.total[n * plan.columns + column] = values[n];
    plan.finished[column] = 0;  // for the next launch, which comes after this one
  }
}
#endif

}  // namespace detail_of_sum

template <int N, class Functor>
void launch_sum(Stream& stream, const char* name, std::int64_t sites, int columns, SumBuffer& sums, int first,
                const Functor& functor) {
  static_assert(N >= 1 && N <= 8, "a functor gives 1 to 8 numbers a site");
  static_assert(!detail_of_launch::begins<Functor> && !detail_of_launch::ends<Functor>,
                "hooks of blocks are for launch(), not for sums");
  detail_of_launch::check_functor<Functor>();
  const std::int64_t blocks = detail::plan_sum(stream, name, sites, columns, sums, first, N);
  const detail::SumPlan plan{
      sites, blocks, sums.most_blocks(), columns, sums.partial(first), sums.total(first), sums.finished()};
#if defined(__CUDACC__)
  if (stream.device().on_gpu()) {
    void* arguments[] = {const_cast<Functor*>(&functor), const_cast<detail::SumPlan*>(&plan)};
    constexpr int min_blocks = detail_of_launch::min_blocks<Functor>();
    detail::KernelLaunch kernel{};
    kernel.name = name;
    kernel.after = stream.last_kernel();
    kernel.function = reinterpret_cast<const void*>(&detail_of_sum::sum_functor<N, min_blocks, Functor>);
    kernel.grid = {static_cast<unsigned>(blocks * columns), 1, 1};
    kernel.block = {sum_block, 1, 1};
    kernel.carveout = -1;
    kernel.arguments = arguments;
    kernel.stream = stream.handle();
    stream.device().runtime().launch(kernel);
    stream.note_kernel(name);
    return;
  }
#else
  detail::require_host_executor(stream, name);
#endif
  stream.note_kernel(name);
  if (stream.capturing() || stream.handle() != nullptr)
    stream.enqueue_on_host_executor([=] { detail_of_sum::run_on_host<N>(functor, plan); });
  else
    detail_of_sum::run_on_host<N>(functor, plan);
}

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu
