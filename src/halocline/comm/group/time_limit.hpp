// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How long the collectives of a group may wait for the other ranks.
///
/// Halo exchanges and reductions have limits of their own, because their ranks all do the same thing at the same
/// time. A collective of a group may also wait for a rank that reads a file for an hour. So there is no limit at
/// first: the blocking collectives of MPI wait as long as it takes. With a limit the group uses the non-blocking
/// collectives of MPI. It polls each one until it is done, a rank of this node has ended, or the time is over. A
/// blocking and a non-blocking collective do not match in MPI, so either all ranks have a limit or none has.
///
/// During a solve (while a SolveUnderWay exists) no rank reads files. Then every collective has a limit, 300 s unless
/// set otherwise. Exchanges and sums of solvers use the same limit.

#include "halocline/comm/group/communicator.hpp"

namespace halocline::comm {

/// Limits barrier, broadcast, sums, gathers, send and receive of this group, of all copies of it, and of the groups
/// that are split off it from now on. When the limit is exceeded or a rank has ended, a core::Error names this rank
/// and the operation, and the missing rank where it is known. The group then refuses further use. Splitting a group
/// and making an exchange first wait for all ranks within the limit, and then go on without one. A group of one
/// process waits for no other; a group of a simulation follows the rules of the simulation.
/// @param seconds  positive; infinity, as at first, for none. May differ between ranks where all are finite
/// @throws InvalidArgument  on every rank, when a number is not positive, or one rank has a limit and another has
///                          none
/// Collective: yes.  Cost: with a limit, each call copies what it sends and receives, and takes the non-blocking
/// collectives of MPI.
void set_time_limit(const Communicator& group, double seconds);

/// In seconds; infinity where there is none. Collective: no.
double time_limit(const Communicator& group) noexcept;

/// The limit of the exchanges and sums that solvers make from now on, and of all collectives while a solve is under
/// way. It holds on this group, on the groups that it was split off from, and on all groups that are split off any of
/// these. A limit by set_time_limit() takes precedence.
/// @param seconds  positive and finite; 300 at first
/// @throws InvalidArgument  on every rank, when a number is not
/// Collective: yes.
void set_solve_time_limit(const Communicator& group, double seconds);

/// In seconds. Collective: no.
double solve_time_limit(const Communicator& group) noexcept;

/// A solve is under way as long as this object exists. The constructor waits for all ranks, with a limit only if the
/// group already has one. The destructor does not wait.
class SolveUnderWay {
public:
  /// Collective: yes.  Cost: a barrier.
  explicit SolveUnderWay(const Communicator& group);
  SolveUnderWay(const SolveUnderWay&) = delete;
  SolveUnderWay& operator=(const SolveUnderWay&) = delete;
  ~SolveUnderWay();

private:
  Communicator group_;
};

}  // namespace halocline::comm
