// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Only sum.cuh includes this file, at its end.
///
/// Defines launch_sum() of sum.cuh: the CUDA kernel, and the loops of the host executor in the same order of additions.

#include <atomic>
#include <type_traits>

#include "halocline/core/device.hpp"
#include "halocline/gpu/memory_order.cuh"

namespace halocline::gpu {
namespace detail {

/// The memory and the sizes of one sum. `partial` has shape [sum][most_blocks][columns]; `along` blocks are used.
struct SumPlan {
  std::int64_t sites, along, most_blocks;
  int columns, across;
  double* partial;
  double* total;       // [sum][columns], in pinned memory
  unsigned* finished;  // [blocks across the columns]

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

inline constexpr int warp = 32, warps = sum_group / warp;

/// Replaces values[0] by the sum of `count` values (a power of 2) along the halving tree.
inline void add_halves(double* values, int count) {
  for (int half = count / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) values[i] += values[i + half];
}

/// Adds 1, 2, 4 or 8 values along the pair tree; value(i) gives number i.
template <class Value>
HALOCLINE_INLINE double add_pairs(int count, const Value& value) {
  double sum = value(0);
  if (count >= 2) sum += value(1);
  if (count >= 4) sum += value(2) + value(3);
  if (count >= 8) sum += (value(4) + value(5)) + (value(6) + value(7));
  return sum;
}

/// The sum of a group's values, in the order of sum.cuh. Overwrites the values.
inline double add_group(double (&values)[sum_group]) {
  for (int i = 0; i < warps; ++i) add_halves(values + i * warp, warp);
  return add_pairs(warps, [&](int i) { return values[i * warp]; });
}

/// The numbers of a thread.
template <int N, int C>
struct Values {
  double of[C][N] = {};

  template <class Functor>
  HALOCLINE_INLINE void fill(const Functor& functor, std::int64_t site, int group) {
    if constexpr (requires { functor(site, group, of); })
      functor(site, group, of);
    else
      functor(site, group, of[0]);
  }
};

inline void publish_on_host(double* place, double value) {
  std::atomic_ref(*place).store(value, std::memory_order_release);
}

template <int N, int C, class Functor, class Step>
void run_on_host(const Functor& functor, const detail::SumPlan& plan, const Step& step) {
  const std::int64_t groups = plan.sites == 0 ? 1 : (plan.sites - 1) / sum_group + 1;
  double values[C][N][sum_group];
  for (int first = 0; first < plan.columns; first += C) {
    const int columns = plan.columns - first < C ? plan.columns - first : C;
    for (std::int64_t group = 0; group < groups; ++group) {
      for (int thread = 0; thread < sum_group; ++thread) {
        const std::int64_t site = group * sum_group + thread;
        Values<N, C> mine;
        if (site < plan.sites) mine.fill(functor, site, first / C);
        for (int c = 0; c < columns; ++c)
          for (int n = 0; n < N; ++n) values[c][n][thread] = mine.of[c][n];
      }
      for (int c = 0; c < columns; ++c)
        for (int n = 0; n < N; ++n) *plan.partial_of(n, group, first + c) = add_group(values[c][n]);
    }
    for (int c = 0; c < columns; ++c) {
      double totals[N];
      for (int n = 0; n < N; ++n) {
        for (int thread = 0; thread < sum_group; ++thread) {
          double sum = 0;
          for (std::int64_t group = thread; group < groups; group += sum_group)
            sum += *plan.partial_of(n, group, first + c);
          values[c][n][thread] = sum;
        }
        totals[n] = add_group(values[c][n]);
        if (!step) plan.total[n * plan.columns + first + c] = totals[n];
      }
      if (step) step.run(first + c, totals, publish_on_host);
    }
  }
}

#if defined(__CUDACC__)
/// Adds the values of the lanes of a warp along the halving tree. The first lane gets the sum.
__device__ __forceinline__ double add_lanes(double value) {
#pragma unroll
  for (int half = warp / 2; half > 0; half /= 2) value += __shfl_down_sync(0xffffffffU, value, half);
  return value;
}

/// The sum of one column from the sums of its blocks, by one warp. The first lane gets it. Lane i stands for the
/// numbers i, i + 32, ... of the 256 that stage 2 of sum.cuh makes.
/// @param parts  blocks of a group: 1, 2, 4 or 8
__device__ __forceinline__ double add_groups(const detail::SumPlan& plan, int sum, int column, int parts, int lane) {
  constexpr int at_once = warps / 2;  // all of them cost registers
  const unsigned along = static_cast<unsigned>(plan.along), blocks = static_cast<unsigned>(parts);
  double total = 0;
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    double values[at_once] = {};
    for (unsigned group = static_cast<unsigned>(half * at_once * warp + lane); group * blocks < along;
         group += sum_group) {
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const unsigned first = (group + static_cast<unsigned>(i * warp)) * blocks;
        values[i] += add_pairs(parts, [&](int part) {
          const unsigned block = first + static_cast<unsigned>(part);
          return block < along ? __ldcg(plan.partial_of(sum, block, column)) : 0.0;
        });
      }
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) values[i] = add_lanes(values[i]);
    const double sum_of_half = add_pairs(at_once, [&](int i) { return values[i]; });
    total = half == 0 ? sum_of_half : total + sum_of_half;
  }
  return total;
}

/// The grid's block i works on columns number i mod plan.across, so that the columns of the same sites run together and
/// share the data they read. Each warp has 32 sites of one group of columns. The block stores its sums, passes a
/// barrier, and one thread counts the block with release. The last block of its columns fences once, and reads the sums
/// past the first-level cache. A host that sees a total also sees what earlier kernels wrote. If there is a step, the
/// last block leaves the totals in shared memory, and a thread runs the step of each column.
template <int N, int C, int max_threads, int min_blocks, class Functor, class Step>
__global__ void __launch_bounds__(max_threads, min_blocks)
    sum_functor(const __grid_constant__ Functor functor, const __grid_constant__ detail::SumPlan plan,
                const __grid_constant__ Step step) {
  const unsigned across = static_cast<unsigned>(plan.across);
  const unsigned block = blockIdx.x / across;
  const int part = static_cast<int>(blockIdx.x - block * across);
  const int wide = static_cast<int>(blockDim.x), high = static_cast<int>(blockDim.y);
  const std::int64_t site = std::int64_t{block} * wide + threadIdx.x;
  const int group = part * high + static_cast<int>(threadIdx.y);
  Values<N, C> mine;
  if (site < plan.sites && group * C < plan.columns) mine.fill(functor, site, group);

  __shared__ double of_warps[C * N][max_threads / warp];
  double* const totals = &of_warps[0][0];  // [column][sum], by the last block, which has read of_warps
  const int thread = static_cast<int>(threadIdx.y) * wide + static_cast<int>(threadIdx.x);
  const int lane = thread % warp, number = thread / warp;
#pragma unroll
  for (int c = 0; c < C; ++c)
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const double sum = add_lanes(mine.of[c][n]);
      if (lane == 0) of_warps[c * N + n][number] = sum;
    }
  __syncthreads();
  const int in_a_row = wide / warp, columns = high * C, first = part * columns;
  for (int one = thread; one < columns * N; one += wide * high) {
    const int column = one / N, n = one - column * N, row = column / C, c = column - row * C;
    if (first + column < plan.columns)
      *plan.partial_of(n, block, first + column) =
          add_pairs(in_a_row, [&](int i) { return of_warps[c * N + n][row * in_a_row + i]; });
  }

  __shared__ bool last;
  __syncthreads();
  if (thread == 0) {
    last = detail::count_with_release(plan.finished + part) == static_cast<unsigned>(plan.along) - 1U;
    if (last) {
      detail::fence_device();
      plan.finished[part] = 0;  // for the next launch, which comes after this one
    }
  }
  __syncthreads();
  if (!last) return;  // the same for all threads of the block

  if (!step) detail::fence_system();  // of the thread that stores a total
  const int parts = sum_group / wide;
  for (int one = number; one < columns * N; one += wide * high / warp) {
    const int column = first + one / N, n = one % N;
    if (column >= plan.columns) break;  // and so are all that follow
    const double total = add_groups(plan, n, column, parts, lane);
    if (lane != 0) continue;
    if (step)
      totals[one] = total;
    else
      detail::store_for_host(plan.total + n * plan.columns + column, total);
  }
  if constexpr (!std::is_same_v<Step, NoStep>) {
    if (!step) return;
    __syncthreads();
    if (thread < columns && first + thread < plan.columns)
      step.run(first + thread, totals + thread * N, [](double* place, double value) {
        detail::fence_system();
        detail::store_for_host(place, value);
      });
  }
}
#endif

}  // namespace detail_of_sum

template <int N, int C, class Functor, class Step>
void launch_sum(Stream& stream, const char* name, std::int64_t sites, int columns, SumBuffer& sums, int first,
                const Functor& functor, const Block& block, const Step& step) {
  static_assert(N >= 1 && C >= 1 && N * C <= 8, "a thread gives 1 to 8 numbers");
  static_assert(!detail_of_launch::begins<Functor> && !detail_of_launch::ends<Functor>,
                "hooks of blocks are for launch(), not for sums");
  detail_of_launch::check_functor<Functor>();
  constexpr int max_threads = detail_of_launch::max_threads<Functor>();
  const detail::SumBlocks blocks =
      detail::plan_sum(stream, name, sites, columns, sums, first, N, block, C, max_threads);
  const detail::SumPlan plan{sites,         blocks.along,        sums.most_blocks(), columns,
                             blocks.across, sums.partial(first), sums.total(first),  sums.finished()};
  if (!step) sums.note_launch(first, N, stream.capturing());
#if defined(__CUDACC__)
  if (stream.device().on_gpu()) {
    void* arguments[] = {const_cast<Functor*>(&functor), const_cast<detail::SumPlan*>(&plan), const_cast<Step*>(&step)};
    constexpr int min_blocks = detail_of_launch::min_blocks<Functor>();
    detail::KernelLaunch kernel{};
    kernel.name = name;
    kernel.after = stream.last_kernel();
    kernel.function =
        reinterpret_cast<const void*>(&detail_of_sum::sum_functor<N, C, max_threads, min_blocks, Functor, Step>);
    kernel.grid = {static_cast<unsigned>(blocks.along * blocks.across), 1, 1};
    kernel.block = {static_cast<unsigned>(block.x), static_cast<unsigned>(block.y), 1};
    kernel.carveout = block.carveout;
    kernel.read_once = block.read_once;
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
    stream.enqueue_on_host_executor([=] { detail_of_sum::run_on_host<N, C>(functor, plan, step); });
  else
    detail_of_sum::run_on_host<N, C>(functor, plan, step);
}

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu
