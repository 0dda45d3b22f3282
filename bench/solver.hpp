// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `solver`: seconds from point sources to columns of a quark propagator, on a gauge field that was read or generated.
///
/// Each run solves D x = b from x = 0 through QuarkSolver, for one column or several together. The time includes
/// conversions of order and precision, but not the set-up of the operator. Only the operator's operations in the
/// iterations count (and the preconditioner's, for Schwarz), so Gflop/s also show the cost of all other work.

#include <string>

#include "bench/actions.hpp"
#include "bench/result.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"

namespace halocline::bench {

struct SolverCase {
  ActionWords action;
  qcd::SolverParameters solver;
  std::string gauge = "generated";  ///< name of the field, for the report
  int threads = 1;
  int runs = 3;
  int columns = 1;  ///< right-hand sides, components of a point source; solved together
};

/// @throws InvalidArgument  as QuarkSolver, and for a number of runs or columns below 1
/// Collective: yes.  Cost: runs + 1 solves (the first warms up, with timing by region), and the ceilings.
Result solver(const qcd::GaugeField& gauge, const SolverCase& parameters, const Effort& effort);

/// Applications of the operator, or its adjoint, in one iteration of a method.
/// @param method     the description of the method in a SolveReport
/// @param hermitian  the operator is hermitian and positive, so conjugate gradients need no normal equations
int applications(const std::string& method, bool hermitian = false);

}  // namespace halocline::bench
