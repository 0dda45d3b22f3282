// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `solver`: seconds from point sources to columns of a quark propagator, on a gauge field that was read or made.
///
/// Each run solves D x = b from x = 0 through QuarkSolver, for one column or several together, conversions of order and
/// precision included, and the set-up of the operator left out. The operations counted are those of the operator in the
/// iterations (and of the preconditioner, where it is Schwarz), so Gflop/s say how much of the time they do not get.

#include <string>

#include "bench/fields.hpp"
#include "bench/result.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"

namespace halocline::bench {

struct SolverCase {
  qcd::ActionParameters action;
  qcd::SolverParameters solver;
  std::string gauge = "generated";  ///< name of the field, for the report
  int threads = 1;
  int runs = 3;
  int columns = 1;  ///< right-hand sides, spins and colours of a point source; solved together
};

/// @throws InvalidArgument  as QuarkSolver does, and for a number of runs or columns below 1
/// Collective: yes.  Cost: runs + 1 solves (the first warms up, with timing by region), and the ceilings.
Result solver(const qcd::GaugeField& gauge, const SolverCase& parameters, const Effort& effort);

/// Applications of the operator, or its adjoint, that one iteration of a method asks for.
/// @param method  a SolveReport's words for what was run
int applications(const std::string& method);

}  // namespace halocline::bench
