// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where this process stands on the network of the machine, as the job's MPI says.

#include "halocline/comm/group/communicator.hpp"

#include <array>

namespace halocline::comm {

/// X, Y, Z, A, B, C of this process's node on the Tofu interconnect, counted from the origin of the job.
/// @throws InvalidArgument  for a build without Fujitsu's MPI, and for a group that does not stand on MPI
/// @throws core::Error      when MPI does not know, as in jobs that share nodes
/// Collective: no.
std::array<int, 6> tofu_coordinates(const Communicator& group);

}  // namespace halocline::comm
