// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `allreduce`: sums of 1 to 32 doubles over all processes, beside MPI_Allreduce in the same run.
///
/// Blocks of the sum take turns with blocks of MPI_Allreduce, so that whatever slows the machine slows both and their
/// ratio stands. A block repeats the sum back to back, as often on every process, and each process keeps its own times:
/// processes leave a sum at different moments, and waiting for a slow one is part of what a sum costs.

#include "bench/result.hpp"

namespace halocline::bench {

struct AllreduceCase {
  int elements = 3;                      ///< 1 to 32
  std::string method = "shared_memory";  ///< or "messages": the fast path off; "mpi": MPI_Allreduce itself
};

/// Measures one case. Up to 8 elements are summed by comm::Reduction, more by comm::Communicator::sum, which has no
/// fast path; MPI_Allreduce sums any number, in whatever order it likes.
///
/// The result's `seconds` are those of the slowest process of each block, an execution. Its outcome:
///   by                             what summed
///   median                         [s] of the blocks, the slowest process of each
///   min, average, max              [s] an execution, over all processes and blocks
///   mpi_median, mpi_min, mpi_average, mpi_max   the same of MPI_Allreduce; without MPI they are null
///   speedup                        mpi_median / median
///   exact                          what came out is the sum in rank order, bit for bit, on every process
/// @throws InvalidArgument  on every rank: elements out of range, an unknown method, "mpi" for a group without MPI
/// Collective: yes.  Cost: about effort.seconds.
Result allreduce(const comm::Communicator& group, const AllreduceCase& parameters, const Effort& effort);

}  // namespace halocline::bench
