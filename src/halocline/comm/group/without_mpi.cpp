// SPDX-License-Identifier: Apache-2.0
/// @file
/// The functions of comm/mpi, for a build without MPI.

#include "halocline/comm/group/job_coordinates.hpp"
#include "halocline/comm/group/swap.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/group/vector_length.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>

namespace halocline::comm {

Communicator world() {
  check_vector_lengths(Communicator::self());
  return Communicator::self();
}

void set_time_limit(const Communicator& group, double seconds) {
  std::array least{seconds};
  group.min(least);
  if (!(least[0] > 0))
    throw core::InvalidArgument(
        fmt::format("a time limit of {:g} s was given for a group; give a positive number of seconds", least[0]));
}

double time_limit(const Communicator&) noexcept { return std::numeric_limits<double>::infinity(); }

Communicator from_fortran_handle(int) {
  throw core::InvalidArgument(
      "an MPI communicator was given, but this Halocline is built without MPI; rebuild with HALOCLINE_MPI=ON");
}

bool gave_up_waiting() noexcept { return false; }

void abort_all(int status) { std::_Exit(status); }

std::array<int, 6> tofu_coordinates(const Communicator&) {
  throw core::InvalidArgument(
      "coordinates on the Tofu interconnect were asked for, but this Halocline is built without MPI; rebuild with "
      "HALOCLINE_MPI=ON");
}

std::string device_memory_unavailable_reason() { return "this build has no MPI"; }

}  // namespace halocline::comm
