// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums over sites in a fixed order: the same bits every run and for every choice of the tuner.
///
/// The halving tree of 2^k values adds the upper half to the lower, element by element, until one is left. A block
/// takes `sum_block` = 256 consecutive sites of one column, zeros where there are no more sites; each 32 of them are
/// added along the halving tree, and so are the 8 sums of these. Of the sums of the blocks, in the order of their
/// numbers, the i-th, (i + 256)-th, ... are added one after the other, and the 256 numbers that this gives as those of
/// a block. So the order depends on the number of sites alone, and is the same on a GPU and on the host executor. All
/// is in double.
///
/// On a GPU one kernel does it: the block that is done last adds the sums of the blocks. Cost beside the functor: 8 N
/// bytes a block and column, written and read once.
///
/// A functor is as for launch.cuh, without hooks, has blocks of 256 threads (max_threads is not asked), and has
/// `HALOCLINE_HOST_DEVICE void operator()(std::int64_t site, int column, double (&values)[N]) const`, which does the
/// work of one site (updates of vectors, the hop) and gives what is to be added.

#include <cstdint>

#include "halocline/gpu/launch.cuh"
#include "halocline/gpu/sum_buffer.hpp"

namespace halocline::gpu {

#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif

/// Runs the functor for all sites and columns, and adds its N values: they become sums first ... first + N - 1 of the
/// buffer. N is 1 to 8. Does not wait.
/// @throws InvalidArgument  more sites or sums than the buffer was made for, another number of columns; as launch
template <int N, class Functor>
void launch_sum(Stream& stream, const char* name, std::int64_t sites, int columns, SumBuffer& sums, int first,
                const Functor& functor);

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu

#include "halocline/gpu/detail/sum_definition.cuh"
