// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a benchmark hands over: one JSON object a case, with names that are the same for every benchmark.
///
/// docs/benchmarks/README.md says what each key means.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/ceilings.hpp"
#include "bench/timing.hpp"

namespace halocline::bench {

/// The parameters and properties of a case, in the order in which they are shown.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;
using Properties = std::vector<std::pair<std::string, Value>>;

/// Everything measured of one case. Counts are totals over all processes, of one execution.
struct Result {
  std::string bench;
  Properties parameters;  ///< the key "case"
  Spread seconds;
  double flops = 0;
  double bytes = 0;  ///< that must cross the memory at least once
  Ceilings ceilings;
  double fma_gflops_of_cpu_time = 0;  ///< the FMA peak, of CPU time instead of wall time
  std::string regions = "{}";         ///< JSON of core::RegionReport
  Properties outcome;                 ///< what else the case found, such as a residual; the key "result"
  std::string skipped{};              ///< why this case could not be run; then only it, `bench` and `case` are kept
};

std::string to_json(const Result& result);
/// A JSON object; what is no number (NaN, infinity) is null.
std::string to_json(const Properties& properties);

/// The region report, as JSON, of one execution with timing on. Not while anything else uses the region timers.
std::string regions_of(const Work& work);

}  // namespace halocline::bench
