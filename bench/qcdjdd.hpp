// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `qcdjdd`: iterations of single-precision BiCGStab on the Schwarz-preconditioned Wilson-clover operator, the solver
/// that the papers on Fugaku time, at similar local volumes.
///
/// The iteration is solve::bicgstab over schwarz::DomainSpace with D'K of the preset `fugaku`. Single iterations are
/// timed inside a solve, from one call of the progress callback to the next. So the time of an iteration is complete
/// and includes nothing else: the iterations are those of a production solve. The FMA peak is measured between some of
/// them, in blocks as long as an iteration.
///
/// The links are independent and the hopping parameter is far above the critical one. The operator is so badly
/// conditioned, and K so poor an inverse, that within any practical number of iterations the recursion neither
/// converges nor reaches subnormal numbers. The time of an iteration does not depend on the numbers.
///
/// The messages of a case travel by its `communication`; the settings of the group are restored afterwards. A transport
/// that cannot serve here makes a result that is `skipped`, with the reason.
///
/// There are two results: the iteration, and D_in alone on the domains of both colours.

#include <string>
#include <vector>

#include "bench/fields.hpp"
#include "bench/result.hpp"
#include "halocline/comm/group/solver_communication.hpp"

namespace halocline::bench {

struct QcdjddCase {
  Extents local{32, 6, 4, 3};     ///< sites of each process
  int threads = 1;                ///< of each process
  int columns = 1;                ///< right-hand sides
  std::string storage = "float";  ///< of K: "float" or "half"
  int link_reals = 18;            ///< or 12
  int iterations = 500;
  comm::SolverCommunication communication{};  ///< transport, buffers, posting, sums, barriers, interfaces
  std::vector<int> grid{}, ranks{};           ///< of comm::ProcessGrid; empty: spread, in their order
};

/// Measures one case.
/// @throws InvalidArgument  an impossible number, or a box that cannot be cut into two halves; on every rank
/// @throws Error            the recursion breaks down before the requested number of iterations
/// Collective: yes.  Cost: iterations and at most a quarter as many peak blocks, effort.seconds for D_in, and the
/// ceilings.
std::vector<Result> qcdjdd(const comm::Communicator& group, const QcdjddCase& parameters, const Effort& effort);

}  // namespace halocline::bench
