// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The result of a benchmark: one JSON object for each case, with the same names for every benchmark.
///
/// docs/benchmarks/README.md explains each key.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/ceilings.hpp"
#include "bench/timing.hpp"

namespace halocline::bench {

/// The parameters and properties of a case, in the order of display.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;
using Properties = std::vector<std::pair<std::string, Value>>;

/// All measurements of one case. Counts are totals over all processes, for one execution.
struct Result {
  std::string bench;
  Properties parameters;  ///< the key "case"
  Spread seconds;
  double flops = 0;
  double bytes = 0;  ///< bytes that must cross the memory interface at least once
  Ceilings ceilings;
  double fma_gflops_of_cpu_time = 0;  ///< the FMA peak by CPU time instead of wall time
  std::string regions = "{}";         ///< JSON of core::RegionReport
  Properties outcome;                 ///< other results of the case, such as a residual; the key "result"
  std::string skipped{};              ///< reason why this case could not run; then only it, `bench` and `case` are kept
};

std::string to_json(const Result& result);
/// A JSON object; NaN and infinity become null.
std::string to_json(const Properties& properties);

/// The region report of one execution with timing on, as JSON. Nothing else may use the region timers meanwhile.
std::string regions_of(const Work& work);

}  // namespace halocline::bench
