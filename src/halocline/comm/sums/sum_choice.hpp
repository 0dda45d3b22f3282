// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The fastest way to add, found by trials (SumWay::automatic).
///
/// Each way runs sums of the two lengths: 5 blocks of sums share the time of the trial. The time of a block is that of
/// its slowest rank, and the time of a way the median over the blocks. So all ranks see the same numbers and choose the
/// same ways. The ordered way keeps its place unless another one takes less than 0.95 of its time, because its results
/// have the same bits in every run.

#include "halocline/comm/sums/reduction.hpp"

#include <utility>

namespace halocline::comm {

/// The ways of sums of up to `options.piece` values, and of longer ones. Only `ordered` where the group does not stand
/// on MPI.
/// @param options  its `way` is not looked at
/// @param seconds  of the trial of one way at one length, about
/// Collective: yes.  Cost: five times `seconds`.
std::pair<SumWay, SumWay> choose_sum_ways(const Communicator& group, const ReductionOptions& options,
                                          double seconds = 0.003);

}  // namespace halocline::comm
