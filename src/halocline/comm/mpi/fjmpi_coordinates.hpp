// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The topology calls of Fujitsu's MPI. Compiled where the vendor's header is; the tests compile it against a shim.

#include "halocline/comm/mpi/mpi.hpp"

#include <array>

namespace halocline::comm::detail {

/// @throws core::Error  when MPI does not know
std::array<int, 6> fjmpi_coordinates(MPI_Comm comm, int rank);

}  // namespace halocline::comm::detail
