// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Ending MPI at the end of the process: the state that this depends on, and whether it is possible.

#include <cstdint>
#include <vector>

namespace halocline::comm::detail {

/// MPI has been started and not ended.
bool mpi_is_running() noexcept;

/// Ends MPI when the process exits, if all ranks can.
void end_mpi_at_exit();

/// @param processes  shape (ranks,): process numbers, 0 for a rank that this node cannot ask for (processes.hpp)
void note_processes(std::vector<std::int64_t> processes);

/// A rank was found dead or stalled; see Backend::give_up.
void note_given_up() noexcept;
bool given_up() noexcept;

/// Some requests of this process stay with MPI for ever.
void note_unfinished_requests() noexcept;

/// @param change  1 for a window that was made, -1 for one that was freed
void count_windows(int change) noexcept;

}  // namespace halocline::comm::detail
