// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `qcdjdd`: iterations of single-precision BiCGStab on the Schwarz-preconditioned Wilson-clover operator, the solver
/// that the papers on Fugaku time, at local volumes like theirs.
///
/// The iteration is solve::bicgstab over schwarz::DomainSpace with D'K of the preset `fugaku`. It is timed one by one
/// inside a solve, from one call of the progress callback to the next, so that nothing is left out of it and nothing
/// added: the iterations are those of a production solve. Between some of them the FMA peak is measured, in a block as
/// long as an iteration.
///
/// The links are independent and the hopping parameter lies far above the critical one: the operator is so badly
/// conditioned, and K so poor an inverse, that the recursion neither converges nor runs into subnormal numbers in any
/// number of iterations that one would time. The time of an iteration does not depend on the numbers.
///
/// Two results: the iteration, and D_in alone on the domains of both colours.

#include <string>
#include <vector>

#include "bench/fields.hpp"
#include "bench/result.hpp"

namespace halocline::bench {

struct QcdjddCase {
  Extents local{32, 6, 4, 3};     ///< sites of each process
  int threads = 1;                ///< of each process
  int columns = 1;                ///< right-hand sides
  std::string storage = "float";  ///< of K: "float" or "half"
  int link_reals = 18;            ///< or 12
  int iterations = 500;
};

/// Measures one case.
/// @throws InvalidArgument  for an impossible number, or a box that cannot be cut into two halves, on every rank
/// @throws Error            where the recursion breaks down before its iterations are done
/// Collective: yes.  Cost: iterations and a quarter as many peak blocks, effort.seconds for D_in, and the ceilings.
std::vector<Result> qcdjdd(const comm::Communicator& group, const QcdjddCase& parameters, const Effort& effort);

}  // namespace halocline::bench
