// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `allreduce`: sums of 0 to 32 numbers over all processes, beside MPI_Allreduce in the same run.
///
/// Blocks of the sum alternate with blocks of MPI_Allreduce, so that other load on the machine slows both and their
/// ratio holds. A block repeats the sum back to back, equally often on every process. Each process keeps its own times,
/// because processes leave a sum at different moments, and waiting for a slow process is part of the cost of a sum.
/// With a barrier before every sum, each sum is timed by itself: the processes then begin together, and the time has
/// the sum alone and a reading of the clock.

#include "bench/result.hpp"

namespace halocline::bench {

struct AllreduceCase {
  int elements = 3;                      ///< 0 to 32; a sum of nothing shows the cost of the call
  std::string method = "shared_memory";  ///< or "messages": without the fast path; "mpi", "mpi-split", "auto"
  std::string precision = "double";      ///< or "float": of the values, and of the sum of MPI_Allreduce
  bool barrier = false;                  ///< a barrier before every sum
};

/// Measures one case. comm::Reduction sums doubles; it sums floats in double and rounds the sums. MPI_Allreduce sums in
/// the precision of the values, in an order of its own choice.
///
/// The result's `seconds` are those of one execution, with the slowest process of each block counting. Its outcome:
///   by                             the way that summed: ordered, mpi or mpi-split
///   bytes                          of the values
///   median                         [s] over the blocks, of the slowest process of each
///   min, average, max              [s] of one execution, over all processes and blocks
///   mpi_median, mpi_min, mpi_average, mpi_max   the same for MPI_Allreduce; null without MPI
///   speedup                        mpi_median / median
///   exact                          whether the result is the sum in rank order, bit for bit, on every process
/// @throws InvalidArgument  on every rank: elements out of range, an unknown method or precision, a way of MPI for a
///                          group without MPI
/// Collective: yes.  Cost: about effort.seconds.
Result allreduce(const comm::Communicator& group, const AllreduceCase& parameters, const Effort& effort);

}  // namespace halocline::bench
