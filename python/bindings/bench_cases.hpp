// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the bindings of all benchmarks share.

#include <string>
#include <vector>

#include "bench/result.hpp"

namespace halocline::bindings {

inline bench::Effort effort_of(double seconds, double block_seconds) {
  bench::Effort effort;
  effort.seconds = seconds;
  effort.block_seconds = block_seconds;
  return effort;
}

inline std::vector<std::string> to_json(const std::vector<bench::Result>& results) {
  std::vector<std::string> texts;
  for (const auto& result : results) texts.push_back(bench::to_json(result));
  return texts;
}

}  // namespace halocline::bindings
