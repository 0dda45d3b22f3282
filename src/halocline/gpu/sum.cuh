// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums over sites in a fixed order: the same bits in every run and for every choice of the tuner.
///
/// The halving tree of 2^k values adds the upper half to the lower half, element by element, until one value is left.
/// The pair tree adds neighbours, (0 + 1), (2 + 3), ..., then the results in the same way.
/// The sum over the sites of one column has three stages:
///   1. Groups of `sum_group` = 256 consecutive sites are padded with zeros. Each 32 sites of a group are added along
///      the halving tree, and the 8 results along the pair tree.
///   2. Of the group sums, number i, i + 256, i + 512, ... are added in this order, for i = 0 ... 255.
///   3. The resulting 256 numbers are added as in stage 1.
/// So the order depends only on the number of sites. It is the same on a GPU and on the host executor, and for every
/// shape of blocks and every number of columns a thread. All additions are in double.
///
/// On a GPU one kernel does all stages. A block takes 32, 64, 128 or 256 consecutive sites of some columns, which is a
/// whole branch of the pair tree, and stores the sum of this branch. The block with the highest number adds what
/// follows. Cost beside the functor: 8 N bytes for each branch and column, written, read and cleared once.
///
/// A functor is as for launch.cuh, but without hooks. It does the work of one site (vector updates, the hop) for C
/// columns, from C * group on, and returns the numbers to be added:
///   - `HALOCLINE_HOST_DEVICE void operator()(std::int64_t site, int group, double (&values)[C][N]) const`, which
///   leaves
///     the values of columns that the fields lack alone;
///   - or, for one column a thread, the same with `double (&values)[N]`.
///
/// A *step* may follow the sum: `explicit operator bool() const`, and for each column
///   `template <class Publish> HALOCLINE_HOST_DEVICE void run(int column, const double* sums, const Publish&) const`
/// which gets the N sums of the column, in the block that completes them, and may compute from them what later kernels
/// read from device memory. `publish(place, number)` stores a number to pinned memory, where the host sees it as a
/// whole. It orders nothing else. A step that converts to true takes the place of the buffer's results: the host gets
/// none.

#include <cstdint>

#include "halocline/gpu/launch.cuh"
#include "halocline/gpu/sum_buffer.hpp"

namespace halocline::gpu {

#if defined(__CUDACC__)
inline namespace by_nvcc {
#else
inline namespace by_host_compiler {
#endif

/// No step.
struct NoStep {
  HALOCLINE_INLINE explicit operator bool() const { return false; }
  template <class Publish>
  HALOCLINE_INLINE void run(int, const double*, const Publish&) const {}
};

/// Runs the functor for all sites and columns, and adds its N values over the sites. The results become sums first ...
/// first + N - 1 of the buffer, or go to the step. N is 1 to 8, and N * C at most 8. Does not wait.
/// @param block  x: 32, 64, 128 or 256 sites; y: groups of C columns; z: 1
/// @throws InvalidArgument  more sites or sums than the buffer was made for, another number of columns, another block;
///                          as launch
template <int N, int C = 1, class Functor, class Step = NoStep>
void launch_sum(Stream& stream, const char* name, std::int64_t sites, int columns, SumBuffer& sums, int first,
                const Functor& functor, const Block& block = {sum_group, 1, 1}, const Step& step = {});

}  // namespace by_nvcc / by_host_compiler
}  // namespace halocline::gpu

#include "halocline/gpu/detail/sum_definition.cuh"
