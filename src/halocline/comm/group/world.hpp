// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// All processes of this run, with or without MPI, without the MPI header.

#include "halocline/comm/group/communicator.hpp"

namespace halocline::comm {

/// All processes of the run. Built without MPI: the group of this process alone.
///
/// The first call starts MPI (thread level SERIALIZED: several threads may communicate in turns) when nobody has, and
/// then MPI is also ended when the process exits normally, unless a rank has died, or was found to stall and does not
/// come to its end within 5 s: ending MPI would wait for it for ever. When somebody else started MPI, thread level and
/// ending stay with them.
/// @throws core::Error  when MPI cannot be started, or has already ended
/// Collective: the first call; later ones return the same group.
Communicator world();

/// A group on a duplicate of an MPI communicator given as its Fortran handle (mpi4py: `comm.py2f()`).
/// @throws InvalidArgument  when built without MPI, before MPI has started, or for a handle that is no communicator
/// Collective: yes, over that communicator.
Communicator from_fortran_handle(int handle);

/// Ends every process of the run with this status. For the border of an application only, after an error that could
/// not be made everybody's; the library itself never calls it.
[[noreturn]] void abort_all(int status);

}  // namespace halocline::comm
