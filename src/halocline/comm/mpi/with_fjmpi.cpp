// SPDX-License-Identifier: Apache-2.0
/// @file
/// Coordinates of the job, for a build with Fujitsu's MPI.

#include "halocline/comm/group/job_coordinates.hpp"
#include "halocline/comm/mpi/fjmpi_coordinates.hpp"
#include "halocline/core/error.hpp"

namespace halocline::comm {

std::array<int, 6> tofu_coordinates(const Communicator& group) {
  const MPI_Comm mpi = mpi_comm(group);
  if (mpi == MPI_COMM_NULL)
    throw core::InvalidArgument(
        "coordinates on the Tofu interconnect were asked of a group that does not stand on MPI");
  return detail::fjmpi_coordinates(mpi, group.rank());
}

}  // namespace halocline::comm
