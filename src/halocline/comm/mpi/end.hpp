// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The end of MPI at the end of the process: what must be known for it, and whether it can be had.

#include <cstdint>
#include <vector>

namespace halocline::comm::detail {

/// MPI has been started and not ended.
bool mpi_is_running() noexcept;

/// Ends MPI when the process ends, where all can.
void end_mpi_at_exit();

/// @param processes  of all ranks, as far as this node can ask for them (processes.hpp)
void note_processes(std::vector<std::int64_t> processes);

/// Somebody was found dead or stalled; see Backend::give_up.
void note_given_up() noexcept;
bool given_up() noexcept;

/// Requests of this process will be MPI's for ever.
void note_unfinished_requests() noexcept;

/// @param change  1 for a window that was made, -1 for one that was freed
void count_windows(int change) noexcept;

}  // namespace halocline::comm::detail
