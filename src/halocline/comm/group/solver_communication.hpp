// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the exchanges and sums of solvers travel: what a run file says under [parallel].
///
/// The settings belong to a group, and to all groups that were or will be split off it, as the time limit of solves
/// does (time_limit.hpp). Operators and vector spaces look at them when they are made. So one call before the first
/// solver reaches all of them, and none of them needs a parameter for it. exchange/solver_exchange.hpp opens exchanges
/// by these settings.

#include "halocline/comm/group/communicator.hpp"

#include <string>
#include <vector>

namespace halocline::comm {

/// The same on every rank but for `interfaces`.
struct SolverCommunication {
  std::string transport{};       ///< as for HaloExchange; empty for the default of each solver
  int buffers = 2;               ///< of each direction of a link; 1 for comparison
  bool posting_by_all = false;   ///< all threads post faces where the transport allows it; else one thread does
  std::string sums = "ordered";  ///< as for sum_way_named()
  /// The network interface of each face of a grid of processes, by Face::index(), and the shape of this grid. Empty:
  /// the transport spreads the faces. An exchange over a grid of another shape spreads its faces too.
  std::vector<int> interfaces{}, interface_grid{};
  /// A barrier before every sum of a Krylov iteration, for measurements: it tells the waiting for late processes from
  /// the sum itself.
  bool barrier_before_sums = false;
  bool cache_injection = true;  ///< utofu: received data goes into the last-level cache too
};

/// For the exchanges and sums that solvers of this group, and of its relatives, make from now on.
/// @throws InvalidArgument  on every rank: buffers other than 1 and 2, interfaces in another number than two for each
///                          axis of their grid or for a grid of another size than the group, or settings that differ
///                          between ranks
/// Collective: yes.
void set_solver_communication(const Communicator& group, const SolverCommunication& settings);

/// Collective: no.
const SolverCommunication& solver_communication(const Communicator& group) noexcept;

}  // namespace halocline::comm
