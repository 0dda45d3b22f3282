// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Only sum.cuh includes this file, at its end.
///
/// Defines launch_sum() of sum.cuh: the CUDA kernel, and the loops of the host executor in the same order of additions.

#include <atomic>
#include <type_traits>

#include "halocline/core/device.hpp"
#include "halocline/gpu/host_place.hpp"
#include "halocline/gpu/memory_order.cuh"

namespace halocline::gpu {
namespace detail {

/// The memory and the sizes of one sum. `partial` has shape [sum][most_blocks][columns]; `along` blocks are used.
struct SumPlan {
  std::int64_t sites, along, most_blocks;
  int columns, across;
  double* partial;
  double* total;  // [sum][columns], in pinned memory

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

/// Takes the sums of up to eight blocks out of their places, as soon as they are there, and clears the places for the
/// next launch. `block(i)` is the number of each; those from `along` on are missing, and count as zero.
template <class Number>
__device__ __forceinline__ void take_partial(double (&values)[8], const detail::SumPlan& plan, int sum, int column,
                                             const Number& block) {
  const unsigned along = static_cast<unsigned>(plan.along);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    values[i] = block(i) < along ? detail::look_within(plan.partial_of(sum, block(i), column)) : 0.0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (block(i) >= along) continue;
    double* const place = plan.partial_of(sum, block(i), column);
    while (detail::is_no_number(values[i])) values[i] = detail::look_within(place);
    detail::clear_within(place);
  }
}

/// The sum of 32 of the 256 numbers that stage 2 of sum.cuh makes, by one warp. The first lane gets it.
/// @param parts  blocks of a group: 1, 2, 4 or 8; @param number  of the lane, among the 256
__device__ __forceinline__ double add_groups(const detail::SumPlan& plan, int sum, int column, int parts, int number) {
  const unsigned along = static_cast<unsigned>(plan.along), blocks = static_cast<unsigned>(parts);
  const unsigned at_once = parts == 1 ? 8 : 1;  // groups of one block, or the blocks of one group
  double value = 0;
#pragma unroll 1
  for (unsigned group = static_cast<unsigned>(number); group * blocks < along; group += sum_group * at_once) {
    double values[8];
    take_partial(values, plan, sum, column, [&](int i) {
      const unsigned one = static_cast<unsigned>(i);
      return parts == 1 ? group + one * sum_group : one < blocks ? group * blocks + one : along;
    });
    if (parts == 1) {
#pragma unroll
      for (int i = 0; i < 8; ++i) value += values[i];
    } else {
      value += add_pairs(parts, [&](int i) { return values[i]; });
    }
  }
  return add_lanes(value);
}

/// The grid's block i works on columns number i mod plan.across, so that the columns of the same sites run together and
/// share the data they read. Each warp has 32 sites of one group of columns. A block stores its sums into places that
/// hold no_number before. The last block of its columns waits for all places, adds, and clears them. It has the highest
/// number, and a GPU starts blocks in the order of their numbers (hop_fused.cuh relies on this too), so all others have
/// started. The sums themselves are what is waited for, so nothing has to be fenced or counted. Each thread of the last
/// block that stores a total fences before, so that a host that sees a total also sees what earlier kernels wrote. If
/// there is a step, the last block leaves the totals in shared memory, and a thread runs the step of each column.
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
  __shared__ double of_eighths[max_threads / warp * C * N]
                              [warps];     // [column][sum]; this and the next by the last block
  double* const totals = &of_warps[0][0];  // [column][sum]; it has read of_warps
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
      detail::store_within(plan.partial_of(n, block, first + column),
                           add_pairs(in_a_row, [&](int i) { return of_warps[c * N + n][row * in_a_row + i]; }));
  }
  if (block + 1 < static_cast<unsigned>(plan.along)) return;  // the same for all threads of the block

  // A warp adds 32 of the 256 numbers of a sum. The threads that store totals fence meanwhile.
  if (!step && thread < columns * N) detail::fence_system();
  const int parts = sum_group / wide;
  for (int one = number; one < columns * N * warps; one += wide * high / warp) {
    const int sum = one / warps, eighth = one - sum * warps, column = first + sum / N;
    if (column >= plan.columns) break;  // and so are all that follow
    const double part_of_sum = add_groups(plan, sum % N, column, parts, eighth * warp + lane);
    if (lane == 0) of_eighths[sum][eighth] = part_of_sum;
  }
  __syncthreads();
  const int column = first + thread / N;
  if (thread < columns * N && column < plan.columns) {  // a block has more threads than sums
    const double total = add_pairs(warps, [&](int eighth) { return of_eighths[thread][eighth]; });
    if (step)
      totals[thread] = total;
    else
      detail::store_for_host(plan.total + (thread % N) * plan.columns + column, total);
  }
  if constexpr (!std::is_same_v<Step, NoStep>) {
    if (!step) return;
    __syncthreads();
    if (thread < columns && first + thread < plan.columns)
      step.run(first + thread, totals + thread * N, detail::store_for_host);
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
                             blocks.across, sums.partial(first), sums.total(first)};
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
