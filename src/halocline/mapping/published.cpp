// SPDX-License-Identifier: Apache-2.0
/// @file
/// The published numbers in the types of the model.

#include "halocline/mapping/published.hpp"

namespace halocline::mapping::published {

ComputationTable two_processes() {
  return {{32 * 6 * 4 * 3, 32 * 6 * 4 * 6, 32 * 6 * 8 * 6, 32 * 6 * 8 * 12, 32 * 12 * 8 * 12},
          {0.334867 / table_iterations, 0.515010 / table_iterations, 1.145754 / table_iterations,
           2.606202 / table_iterations, 5.778703 / table_iterations}};
}

Iteration domain_solver() {
  Iteration iteration;
  iteration.computation = computation;
  iteration.exchanges = exchanges;
  iteration.posting = posting;
  iteration.sums = {1, 2, 3, 3};
  iteration.jitter = waiting / waiting_seconds(1.0, waiting_processes);
  return iteration;
}

}  // namespace halocline::mapping::published
