// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/sums/solver_reduction.hpp"

#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/group/time_limit.hpp"

namespace halocline::comm {

Reduction solver_reduction(const Communicator& group, std::size_t longest) {
  return Reduction(group, {.time_limit = solve_time_limit(group),
                           .longest = longest,
                           .way = sum_way_named(solver_communication(group).sums)});
}

}  // namespace halocline::comm
