// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums over sites in a fixed order: the same bits in every run and for every choice of the tuner.
///
/// The halving tree of 2^k values adds the upper half to the lower half, element by element, until one value is left.
/// The sum over the sites of one column has three stages:
///   1. A block takes `sum_block` = 256 consecutive sites, padded with zeros. It adds each group of 32 along the
///      halving tree, and then the 8 group sums along the halving tree.
///   2. Of the block sums, number i, i + 256, i + 512, ... are added in this order, for i = 0 ... 255.
///   3. The resulting 256 numbers are added as in stage 1.
/// So the order depends only on the number of sites, and is the same on a GPU and on the host executor. All additions
/// are in double.
///
/// On a GPU one kernel does all stages: the last block to finish adds the block sums. Cost beside the functor: 8 N
/// bytes for each block and column, written and read once.
///
/// A functor is as for launch.cuh, but without hooks. Its blocks have 256 threads (max_threads is ignored). It has
/// `HALOCLINE_HOST_DEVICE void operator()(std::int64_t site, int column, double (&values)[N]) const`, which does the
/// work of one site (vector updates, the hop) and returns in `values` the numbers to be added.

#include <cstdint>

#include "halocline/gpu/launch.cuh"
#include "halocline/gpu/sum_buffer.hpp"

namespace halocline::gpu {

#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif

/// Runs the functor for all sites and columns, and adds its N values over the sites. The results become sums first ...
/// first + N - 1 of the buffer. N is 1 to 8. Does not wait.
/// @throws InvalidArgument  more sites or sums than the buffer was made for, another number of columns; as launch
template <int N, class Functor>
void launch_sum(Stream& stream, const char* name, std::int64_t sites, int columns, SumBuffer& sums, int first,
                const Functor& functor);

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu

#include "halocline/gpu/detail/sum_definition.cuh"
