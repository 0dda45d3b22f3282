// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/mpi/fjmpi_coordinates.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

namespace halocline::comm::detail {

std::array<int, 6> fjmpi_coordinates(MPI_Comm comm, int rank) {
  std::array<int, 6> place{};
  const int code = FJMPI_Topology_get_coords(comm, rank, FJMPI_TOFU_REL, 6, place.data());
  if (code != MPI_SUCCESS)
    throw core::Error(fmt::format("rank {}: FJMPI_Topology_get_coords failed with code {}; a job that shares nodes has "
                                  "no coordinates: give the coordinates of the hosts in a file",
                                  rank, code),
                      rank);
  return place;
}

}  // namespace halocline::comm::detail
