// SPDX-License-Identifier: Apache-2.0
/// @file
/// Return codes of MPI as errors, and its fatal errors as return codes.

#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/core/error.hpp"

#include <mutex>
#include <string>

namespace halocline::comm {
namespace {

/// The handler of MPI_COMM_WORLD belongs to the process, and so does this. Two threads may be in MPI at once: the first
/// one keeps the host's handler, and the last one restores it.
struct HandlerOfTheHost {
  std::mutex mutex;
  int users = 0;
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
};

HandlerOfTheHost& of_the_host() {
  static HandlerOfTheHost one;
  return one;
}

}  // namespace

void check_mpi(int code, const char* call, int rank) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw core::Error("rank " + std::to_string(rank) + ": " + call +
                        " failed: " + std::string(text, static_cast<std::size_t>(length)),
                    rank);
}

ErrorsReturned::ErrorsReturned() {
  HandlerOfTheHost& host = of_the_host();
  const std::lock_guard lock(host.mutex);
  if (host.users == 0) {
    check_mpi(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &host.before), "MPI_Comm_get_errhandler", -1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ++host.users;
}

ErrorsReturned::~ErrorsReturned() {
  HandlerOfTheHost& host = of_the_host();
  const std::lock_guard lock(host.mutex);
  if (--host.users > 0) return;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, host.before);
  MPI_Errhandler_free(&host.before);
}

}  // namespace halocline::comm
