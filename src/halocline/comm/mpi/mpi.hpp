// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The border to MPI: the only header that includes <mpi.h>. In a build without MPI it is empty, so that programs can
/// include it and ask HALOCLINE_HAVE_MPI.

#include "halocline/core/config.hpp"

#if HALOCLINE_HAVE_MPI

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1  // the C++ interface of old Open MPI would add a library that nothing here uses
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include "halocline/comm/group/communicator.hpp"

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>  // persistent collectives before MPI 4; Fujitsu's topology and persistent requests
#endif

namespace halocline::comm {

/// A group on a duplicate of `mpi`, so that its messages cannot meet messages of other code. The duplicate returns
/// errors instead of aborting; they become a core::Error.
/// @throws InvalidArgument  for MPI_COMM_NULL, an inter-communicator, before MPI has started, or on every rank for
///                          SVE registers of unlike lengths (vector_length.hpp)
/// Collective: yes, over `mpi`.
Communicator from_mpi(MPI_Comm mpi);

/// The communicator under a group, or MPI_COMM_NULL for a group that does not stand on MPI. Owned by the group.
MPI_Comm mpi_comm(const Communicator& group) noexcept;

/// Why only one thread may call MPI in this process, even if threads take turns; empty when others may.
std::string mpi_thread_unavailable_reason();

/// Throws core::Error naming the rank and the call when `code` is not MPI_SUCCESS.
/// @param call  e.g. "MPI_Bcast"
void check_mpi(int code, const char* call, int rank);

/// While this object exists, MPI returns the errors that it raises on MPI_COMM_WORLD, as it does for errors that
/// belong to no communicator yet. Before and after, such errors end the job, unless the program has told MPI
/// otherwise.
class ErrorsReturned {
public:
  ErrorsReturned();
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;
  ~ErrorsReturned();
};

}  // namespace halocline::comm

#endif
