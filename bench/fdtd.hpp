// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `fdtd`: steps of Maxwell's equations on Yee's grid.

#include <array>
#include <cstdint>
#include <string>

#include "bench/result.hpp"

namespace halocline::bench {

struct FdtdCase {
  std::array<std::int64_t, 3> cells{200, 200, 200};
  std::string ends = "electric";     ///< of all axes: electric, magnetic, periodic or absorbing (12 cells)
  std::string matter = "empty";      ///< or "glass", a ball of it, or "silver", a ball with a Drude and a Lorentz pole
  std::string precision = "double";  ///< or "float"
  int depth = 0;                     ///< steps of a sweep; 0: what the library takes
  int threads = 1;                   ///< of each process
};

/// Seconds of one step, of a run of 24. Operations are 36 a cell and bytes 18 numbers a cell: what a step moves that
/// updates H and then E, so that a sweep of several steps may exceed the bandwidth of the memory. `result` has the
/// cells a second and the steps of a sweep.
/// @throws InvalidArgument  on every rank: an unknown name, or a grid that cannot be
///
/// Collective: yes.  Cost: at least five runs.
Result fdtd(const comm::Communicator& group, const FdtdCase& parameters, const Effort& effort);

}  // namespace halocline::bench
