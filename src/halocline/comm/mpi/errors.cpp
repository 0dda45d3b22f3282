// SPDX-License-Identifier: Apache-2.0
/// @file
/// Return codes of MPI as errors, and its fatal errors as return codes.

#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/core/error.hpp"

#include <string>

namespace halocline::comm {

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
  check_mpi(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_), "MPI_Comm_get_errhandler", -1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

ErrorsReturned::~ErrorsReturned() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before_);
  MPI_Errhandler_free(&before_);
}

}  // namespace halocline::comm
