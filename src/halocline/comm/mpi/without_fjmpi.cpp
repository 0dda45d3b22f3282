// SPDX-License-Identifier: Apache-2.0
/// @file
/// Coordinates of the job, for a build with another MPI than Fujitsu's.

#include "halocline/comm/group/job_coordinates.hpp"
#include "halocline/core/error.hpp"

namespace halocline::comm {

std::array<int, 6> tofu_coordinates(const Communicator&) {
  throw core::InvalidArgument("coordinates on the Tofu interconnect were asked for, but this Halocline is built "
                              "without Fujitsu's MPI; build it "
                              "with that MPI, or give the coordinates of the hosts in a file");
}

}  // namespace halocline::comm
