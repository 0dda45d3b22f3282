// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `solver` on a device: seconds from point sources in host memory to propagator columns in host memory.
///
/// Each run is a whole solve through QuarkSolver: it transfers the sources, iterates in the inner precision with
/// corrections in double, and transfers the solutions back. Only the operator's operations in the iterations count. The
/// rate from this count is reported beside the rate of the same operator's hop, measured in the same run on the same
/// device.

#include <string>

#include "bench/actions.hpp"
#include "bench/device_result.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"

namespace halocline::bench {

struct DeviceSolverCase {
  ActionWords action{};  ///< all but "doublet"
  std::string device = "cuda";
  std::string kind = "bicgstab";  ///< as SolverParameters
  std::string inner = "fixed16";  ///< storage inside the iteration: "double": as outside; "float", "fixed16", "fixed8"
  int link_reals = 0;             ///< inside the iteration; 0: the solver's default
  std::string policy{};           ///< of the halo; empty: the solver's default
  double tolerance = 1e-10;
  bool even_odd = true;
  std::string gauge = "generated";  ///< name of the field, for the report
  int runs = 3;
  int columns = 1;  ///< right-hand sides, spins and colours of a point source; solved together
};

/// @throws InvalidArgument  as QuarkSolver, for a number of runs or columns below 1, and for a solve without even-odd
///                          preconditioning of other actions than Wilson
/// Collective: yes.  Cost: runs + 1 solves, as many to a tolerance of 0.9, a hop and a copy.
DeviceResult device_solver(const qcd::GaugeField& gauge, const DeviceSolverCase& parameters, const Effort& effort);

}  // namespace halocline::bench
