// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `jacobi2d`: sweeps of a small stencil with longer and longer messages, with the same kernel over every transport.
///
/// All carriers of a case are measured in turns, block by block, so that their ratios hold on a machine whose speed
/// drifts. The region times come from additional sweeps, because reading the clock would disturb the timed sweeps.
/// Every carrier's field is compared with plain loops over the whole torus, after the timed sweeps and again after
/// twenty sweeps from the start.
///
/// Overlap is the time of the inner sites, during which messages are in transit. Non-overlap is the remaining
/// communication: starting and waiting.

#include <string>
#include <vector>

#include "bench/carrier.hpp"
#include "bench/jacobi_problem.hpp"

namespace halocline::bench {

struct Jacobi2dCase {
  JacobiProblem problem;
  std::vector<int> grid;          ///< processes along x and y; empty: least surface
  std::vector<Carrier> carriers;  ///< empty: all_carriers()
  /// The network interface of each face, by comm::Face::index(), for carriers by utofu; empty: the transport spreads
  /// them.
  std::vector<int> interfaces{};
};

/// Measures a sweep with every carrier. A carrier that cannot serve the grid is `skipped` in its result. The key
/// "result" has the regions in seconds a sweep (median over blocks of the mean over processes), overlap and
/// non_overlap, and `error`, the largest deviation from the reference.
/// @throws InvalidArgument  sizes out of range; on every rank
/// @throws core::Error      a carrier's field differs from the reference; on every rank
/// Collective: yes.  Cost: about twice effort.seconds, which is for all carriers together.
std::vector<Result> jacobi2d(const comm::Communicator& group, const Jacobi2dCase& parameters, const Effort& effort);

}  // namespace halocline::bench
