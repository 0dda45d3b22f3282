// SPDX-License-Identifier: Apache-2.0
/// @file
/// Names of the reasons, and sentences about results.

#include "halocline/solve/result.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace halocline::solve {

const char* name(Reason reason) noexcept {
  switch (reason) {
  case Reason::converged:
    return "converged";
  case Reason::iteration_limit:
    return "iteration_limit";
  case Reason::stagnation:
    return "stagnation";
  case Reason::breakdown:
    return "breakdown";
  case Reason::not_finite:
    return "not_finite";
  case Reason::cancelled:
    return "cancelled";
  }
  return "unknown";
}

namespace {
const char* sentence(Reason reason) noexcept {
  switch (reason) {
  case Reason::converged:
    return "converged";
  case Reason::iteration_limit:
    return "stopped at the iteration limit";
  case Reason::stagnation:
    return "stagnated: restarting from the true residual no longer lowers it";
  case Reason::breakdown:
    return "broke down: a denominator of the recursion vanished or its residual exploded";
  case Reason::not_finite:
    return "met a number that is not finite, or a right-hand side whose square is beyond the range of double";
  case Reason::cancelled:
    return "was cancelled";
  }
  return "unknown";
}
}  // namespace

double SolveResult::worst_residual() const noexcept {
  double worst = 0.0;
  for (const double value : residual) {
    if (std::isnan(value)) return value;
    worst = std::max(worst, value);
  }
  return worst;
}

std::string SolveResult::describe() const {
  std::string text = sentence(reason);
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, " after %d iterations, relative residual %.3g", iterations, worst_residual());
  text += numbers;
  if (reasons.size() > 1) {
    const auto failed = std::count_if(reasons.begin(), reasons.end(), [](Reason r) { return r != Reason::converged; });
    if (failed > 0) {
      const auto first = std::find_if(reasons.begin(), reasons.end(), [](Reason r) { return r != Reason::converged; });
      std::snprintf(numbers, sizeof numbers, " (%d of %d columns, the first is column %d)", static_cast<int>(failed),
                    static_cast<int>(reasons.size()), static_cast<int>(first - reasons.begin()));
      text += numbers;
    }
  }
  return text;
}

}  // namespace halocline::solve
