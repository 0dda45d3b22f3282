// SPDX-License-Identifier: Apache-2.0
/// @file
/// The limit of solves. The limit of a single group is in mpi.cpp.

#include "halocline/comm/group/time_limit.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/error.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace halocline::comm {

void set_solve_time_limit(const Communicator& group, double seconds) {
  // min and max carry a NaN of any rank to every rank.
  std::array least{seconds}, most{seconds};
  group.min(least);
  group.max(most);
  if (!(least[0] > 0) || !std::isfinite(most[0]))
    throw core::InvalidArgument(
        fmt::format("a time limit of {:g} s was given for solves; give a positive number of seconds",
                    least[0] > 0 ? most[0] : least[0]));
  group.backend().solve_limit()->seconds = seconds;
}

double solve_time_limit(const Communicator& group) noexcept { return group.backend().solve_limit()->seconds; }

SolveUnderWay::SolveUnderWay(const Communicator& group) : group_(group) {
  group_.barrier();
  ++group_.backend().solve_limit()->solves;
}

SolveUnderWay::~SolveUnderWay() { --group_.backend().solve_limit()->solves; }

}  // namespace halocline::comm
