// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `solver`: seconds from a point source to a quark propagator's column, on a gauge field that was read or made.
///
/// Each run solves D x = b once from x = 0 through QuarkSolver, conversions of order and precision included, and the
/// set-up of the operator left out. The operations counted are those of the operator in the iterations, so Gflop/s
/// say how much of the time the operator does not get.

#include <string>

#include "bench/fields.hpp"
#include "bench/result.hpp"
#include "halocline/qcd/gauge_field.hpp"
#include "halocline/qcd/quark_solver.hpp"

namespace halocline::bench {

struct SolverCase {
  qcd::ActionParameters action;
  qcd::SolverParameters solver;
  std::string gauge = "generated";  ///< name of the field, for the report
  int threads = 1;
  int runs = 3;
};

/// @throws InvalidArgument  as QuarkSolver does, and for a number of runs below 1
/// Collective: yes.  Cost: runs + 1 solves (the first warms up, with timing by region), and the ceilings.
Result solver(const qcd::GaugeField& gauge, const SolverCase& parameters, const Effort& effort);

/// Applications of the operator, or its adjoint, that one iteration of a method asks for.
/// @throws InvalidArgument  for an unknown method
int applications(const std::string& kind);

}  // namespace halocline::bench
