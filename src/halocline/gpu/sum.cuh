// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums over sites in a fixed order: the same bits every run and for every choice of the tuner.
///
/// A block takes `sum_block` consecutive sites of one column; its threads' values are added along a fixed tree, and the
/// sums of the blocks, in the order of their numbers, by a fixed tree again. The order depends on the number of sites
/// alone. Values are added in double.
///
/// A functor has `HALOCLINE_HOST_DEVICE void operator()(std::int64_t site, int column, double (&values)[N]) const`,
/// which does the work of one site (updates of vectors, the hop) and gives what is to be added.

#include <cstdint>
#include <span>

#include "halocline/gpu/array.hpp"
#include "halocline/gpu/launch.cuh"

namespace halocline::gpu {

inline constexpr int sum_block = 256;

/// Where sums arrive: `[sum][column]` doubles in pinned memory, and the scratch of their making. Reused from call to
/// call; one set of sums may be under way at a time.
class SumBuffer {
public:
  /// @param sums  most sums at a time, 1 to 16; @param sites  most sites; @param columns  of the vectors
  SumBuffer(const Device& device, int sums, std::int64_t sites, int columns);

  int columns() const noexcept { return columns_; }
  /// Enqueues the way of the first `sums` sums to the host. Called once after the launches that make them.
  void fetch(Stream& stream, int sums);
  /// Blocks until they are there: [sum][column], alive until the next fetch().
  std::span<const double> wait();

  /// For launch_sum.
  double* partial(int sum) noexcept;  ///< [block][column] of one sum, in device memory
  double* total() noexcept;           ///< [sum][column], in device memory
  std::int64_t most_blocks() const noexcept { return most_blocks_; }

private:
  int sums_, columns_;
  std::int64_t most_blocks_;
  DeviceArray<double> partial_, total_;
  PinnedArray<double> arrived_;
  Event fetched_;
  int awaited_ = 0;
};

#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif

/// Runs the functor for all sites and columns, and adds its N values: they become sums first ... first + N - 1 of the
/// buffer. Does not wait. @throws  as launch
template <int N, class Functor>
void launch_sum(Stream& stream, const char* name, std::int64_t sites, int columns, SumBuffer& sums, int first,
                const Functor& functor);

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu

#include "halocline/gpu/detail/sum_definition.cuh"
