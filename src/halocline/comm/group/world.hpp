// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The group of all processes of a run, with or without MPI. Does not include the MPI header.

#include "halocline/comm/group/communicator.hpp"

namespace halocline::comm {

/// All processes of the run. Built without MPI: the group of this process alone.
///
/// The first call starts MPI unless it runs already, with thread level SERIALIZED: several threads may communicate in
/// turns. MPI started here ends when the process exits normally. It is not ended when a rank has died, or when a
/// stalled rank does not come to its end within 5 s, because ending MPI would wait for that rank for ever. If the
/// program itself started MPI, it keeps control of the thread level and of the end.
/// @throws core::Error  when MPI cannot be started, or has already ended
/// @throws InvalidArgument  in a build for SVE, on every rank, for registers of unlike lengths (vector_length.hpp)
/// Collective: the first call; later ones return the same group.
Communicator world();

/// A group on a duplicate of an MPI communicator given as its Fortran handle (mpi4py: `comm.py2f()`).
/// @throws InvalidArgument  when built without MPI, before MPI has started, or for a handle that is no communicator
/// Collective: yes, over that communicator.
Communicator from_fortran_handle(int handle);

/// Whether this process has stopped waiting for another one, because that one stalled or ended. The processes then
/// cannot all come to the end of the run.
bool gave_up_waiting() noexcept;

/// Ends every process of the run with this status. For the border of an application only, after an error that could
/// not be raised on all ranks; the library itself never calls it.
[[noreturn]] void abort_all(int status);

}  // namespace halocline::comm
