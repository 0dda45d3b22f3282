// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The measuring steps of the acceptance: what each runs on the device, one JSON line a case.
///
/// A line has "step", "status" ("ok", "failed" or "skipped"), "reason" where it is not ok, and the case with its
/// result, in the form of `halocline bench` (docs/benchmarks/README.md). A case that fails does not end its step.

#include <functional>
#include <string>
#include <vector>

#include "bench/json_number.hpp"

namespace halocline::acceptance {

using bench::Json;

struct Request {
  std::string device = "cuda";  ///< as gpu::Device::open
  bool small = false;           ///< lattices of 4^4 and the least effort: for the host executor
  bool sweep = false;           ///< more volumes, for a run with tuned launches
};

struct Step {
  std::string name;
  double limit;      ///< seconds
  std::string text;  ///< what it proves or measures, for the list of steps
  /// Emits the lines. Throws only what makes all its cases impossible.
  std::function<void(const Request&, const std::function<void(Json)>&)> run;
};

/// In the order in which they are run.
const std::vector<Step>& measuring_steps();
/// Whole solves, for the mode "profile" alone.
const Step& profiled_solve();

}  // namespace halocline::acceptance
