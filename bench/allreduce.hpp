// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `allreduce`: sums of 1 to 32 doubles over all processes, beside MPI_Allreduce in the same run.
///
/// Blocks of the sum alternate with blocks of MPI_Allreduce, so that other load on the machine slows both and their
/// ratio holds. A block repeats the sum back to back, equally often on every process. Each process keeps its own times,
/// because processes leave a sum at different moments, and waiting for a slow process is part of the cost of a sum.

#include "bench/result.hpp"

namespace halocline::bench {

struct AllreduceCase {
  int elements = 3;                      ///< 1 to 32
  std::string method = "shared_memory";  ///< or "messages": without the fast path; "mpi": MPI_Allreduce itself
};

/// Measures one case. comm::Reduction sums up to 8 elements; comm::Communicator::sum, which has no fast path, sums
/// more. MPI_Allreduce sums any number, in an order of its own choice.
///
/// The result's `seconds` are those of one execution, with the slowest process of each block counting. Its outcome:
///   by                             the method that summed
///   median                         [s] over the blocks, of the slowest process of each
///   min, average, max              [s] of one execution, over all processes and blocks
///   mpi_median, mpi_min, mpi_average, mpi_max   the same for MPI_Allreduce; null without MPI
///   speedup                        mpi_median / median
///   exact                          whether the result is the sum in rank order, bit for bit, on every process
/// @throws InvalidArgument  on every rank: elements out of range, an unknown method, "mpi" for a group without MPI
/// Collective: yes.  Cost: about effort.seconds.
Result allreduce(const comm::Communicator& group, const AllreduceCase& parameters, const Effort& effort);

}  // namespace halocline::bench
