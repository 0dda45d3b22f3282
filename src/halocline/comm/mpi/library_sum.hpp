// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums by MPI_Allreduce, for machines whose MPI adds in hardware: the Tofu barrier, SHARP and the like.
///
/// A blocking sum is a plain MPI_Allreduce, because that is the call that such machines accelerate. It has no time
/// limit. A sum in steps is a persistent all-reduce where MPI has one (MPI 4, or the extension of Open MPI 4), and
/// MPI_Iallreduce elsewhere. Persistent requests are made once for each number of values.

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/mpi/mpi.hpp"

#include <memory>

namespace halocline::comm::detail {

/// @param comm     copied, so that the sums cannot meet other collectives of the group
/// @param longest  values in one sum
/// Collective over `comm`.
std::unique_ptr<LibrarySum> make_mpi_sum(MPI_Comm comm, std::size_t longest);

}  // namespace halocline::comm::detail
