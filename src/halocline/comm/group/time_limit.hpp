// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How long the collectives of a group may wait for the other ranks.
///
/// Halo exchanges and reductions have limits of their own, since whoever waits there waits for a neighbour that does
/// the same thing at the same time. A collective of a group may just as well wait for a rank that reads a file for an
/// hour, so nothing is said at first: it waits, in the blocking collectives of MPI, as long as it takes. With a limit
/// it runs in their non-blocking form, which is looked at until it is done, a rank of this node has ended, or the time
/// is over. The two forms do not meet in MPI, so all ranks have a limit or none has.
///
/// While a solve is under way (a SolveUnderWay stands) nobody reads files: then every collective has a limit, 300 s
/// unless set otherwise. Exchanges and sums of solvers are made with the same one.

#include "halocline/comm/group/communicator.hpp"

namespace halocline::comm {

/// A limit on barrier, broadcast, sums, gathers, send and receive of this group, of all copies of it, and of the groups
/// that are split off it from now on. Where it is exceeded, or a rank has ended, a core::Error names this rank and the
/// operation, and the rank that has ended or is waited for where that is known; the group then refuses further use.
/// Splitting a group, and what makes exchanges on it, waits for all ranks within the limit before it goes on without
/// one. A group of one process waits for nobody, and one of a simulation by the simulation's own rules.
/// @param seconds  positive; infinity, as at first, for none. May differ between ranks where all are finite
/// @throws InvalidArgument  on every rank, where a number is not positive, or one rank has a limit and another has none
/// Collective: yes.  Cost: with a limit, each call copies what it sends and receives, and takes the non-blocking
/// collectives of MPI.
void set_time_limit(const Communicator& group, double seconds);

/// In seconds; infinity where there is none. Collective: no.
double time_limit(const Communicator& group) noexcept;

/// The limit of the exchanges and sums that solvers make from now on, and of all collectives while a solve is under
/// way, on this group and on all that it was split off from, or that are split off it. A limit by set_time_limit goes
/// first.
/// @param seconds  positive and finite; 300 at first
/// @throws InvalidArgument  on every rank, where a number is not
/// Collective: yes.
void set_solve_time_limit(const Communicator& group, double seconds);

/// In seconds. Collective: no.
double solve_time_limit(const Communicator& group) noexcept;

/// As long as it stands a solve is under way. Its making waits for all ranks, without a limit; its end does not wait.
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
