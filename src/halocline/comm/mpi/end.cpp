// SPDX-License-Identifier: Apache-2.0
/// @file
/// MPI_Finalize waits for all ranks without a limit. So the ranks agree first that it can be called. Where they
/// cannot agree, a process ends without MPI_Finalize; the launcher reports this where it matters.

#include "halocline/comm/mpi/end.hpp"

#include "halocline/comm/mpi/mpi.hpp"

#include "halocline/comm/group/processes.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <sched.h>
#include <utility>

namespace halocline::comm::detail {
namespace {

/// The state of the end. One per process, as MPI is.
struct Ending {
  std::atomic<bool> given_up{false};
  std::atomic<bool> unfinished{false};
  std::atomic<int> windows{0};  // not freed so far
  std::vector<std::int64_t> processes;
};

Ending& ending() noexcept {
  static Ending value;
  return value;
}

constexpr double patience_for_stalled = 5.0;  // [s] wait at the end for a rank that was given up
constexpr double patience_after_death = 0.2;  // [s] wait for messages that a rank sent before it ended

/// MPICH checks at its end for requests and windows that were left behind, and aborts if there are any. But it
/// accepts a process that exits without MPI_Finalize. Open MPI ends what was left behind, but reports a process
/// without MPI_Finalize as failed.
#if defined(MPICH_VERSION)
constexpr bool ends_what_was_left = false;
#else
constexpr bool ends_what_was_left = true;
#endif

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// True when all ranks have come to the end, and no rank has left requests or windows behind that MPI does not
/// accept. False also when a rank has ended before, or was given up and does not come.
bool all_can_end() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  const bool left = given_up() || ending().unfinished || ending().windows > 0;
  static int hindered_here = 0, hindered = 0;  // static: MPI may still use them after an early return
  hindered_here = left && !ends_what_was_left ? 1 : 0;
  const int begun = MPI_Iallreduce(&hindered_here, &hindered, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  if (begun != MPI_SUCCESS) return false;
  double until = given_up() ? now() + patience_for_stalled : std::numeric_limits<double>::infinity();
  double look = 0.0;
  bool death = false;
  for (int done = 0; done == 0;) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || (done == 0 && now() > until)) return false;
    if (!death && now() > look) {
      death = std::any_of(ending().processes.begin(), ending().processes.end(), has_ended);
      if (death) until = now() + patience_after_death;
      look = now() + 0.02;
    }
    if (done == 0) sched_yield();
  }
  return hindered == 0;
}

void end_mpi() {
  if (mpi_is_running() && all_can_end()) MPI_Finalize();
}

}  // namespace

bool mpi_is_running() noexcept {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

void end_mpi_at_exit() {
  ending();  // constructed before atexit(), so destroyed after end_mpi() has run
  std::atexit(end_mpi);
}

void note_processes(std::vector<std::int64_t> processes) { ending().processes = std::move(processes); }
void note_given_up() noexcept { ending().given_up = true; }
bool given_up() noexcept { return ending().given_up; }
void note_unfinished_requests() noexcept { ending().unfinished = true; }
void count_windows(int change) noexcept { ending().windows += change; }

}  // namespace halocline::comm::detail
