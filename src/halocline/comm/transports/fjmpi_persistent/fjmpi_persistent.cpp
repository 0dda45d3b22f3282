// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/transports/fjmpi_persistent/fjmpi_persistent.hpp"

#include "halocline/comm/transports/mpi_persistent/mpi_persistent.hpp"

namespace halocline::comm {
namespace {

PersistentCalls fujitsu_calls() noexcept {
  return {.transport = "fjmpi_persistent",
          .send_init =
              [](const void* buffer, int bytes, int to, int tag, MPI_Comm comm, MPI_Request* request) {
                // The buffer is only read; the vendor's declaration may lack the const.
                return FJMPI_Prequest_send_init(const_cast<void*>(buffer), bytes, MPI_BYTE, to, tag, comm, request);
              },
          .receive_init =
              [](void* buffer, int bytes, int from, int tag, MPI_Comm comm, MPI_Request* request) {
                return FJMPI_Prequest_recv_init(buffer, bytes, MPI_BYTE, from, tag, comm, request);
              },
          .start = [](MPI_Request* request) { return FJMPI_Prequest_start(request); }};
}

}  // namespace

TransportKind fjmpi_persistent_transport() {
  return {
      .name = "fjmpi_persistent",
      .unavailable_reason = mpi_persistent_unavailable_reason,
      .make = [](const TransportOptions&) { return std::make_unique<MpiPersistentTransport>(fujitsu_calls()); },
  };
}

}  // namespace halocline::comm
