/* SPDX-License-Identifier: Apache-2.0 */
/* The part of Fujitsu's MPI extensions that Halocline uses, over the standard calls. Included before every source that
 * is compiled against it. Coordinates are those of a job of 2x3x2 nodes along A, B, C. */
#pragma once
#include "halocline/comm/mpi/mpi.hpp"

#define FJMPI_TOFU_REL 2

static inline int FJMPI_Prequest_send_init(void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                                           MPI_Request* request) {
  return MPI_Send_init(buffer, count, type, to, tag, comm, request);
}
static inline int FJMPI_Prequest_recv_init(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                                           MPI_Request* request) {
  return MPI_Recv_init(buffer, count, type, from, tag, comm, request);
}
static inline int FJMPI_Prequest_start(MPI_Request* request) { return MPI_Start(request); }
static inline int FJMPI_Topology_get_coords(MPI_Comm comm, int rank, int view, int dimensions, int* place) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  if (rank < 0 || rank >= size || view != FJMPI_TOFU_REL || dimensions != 6) return MPI_ERR_ARG;
  place[0] = rank / 12;
  place[1] = place[2] = 0;
  place[3] = rank % 2;
  place[4] = rank / 2 % 3;
  place[5] = rank / 6 % 2;
  return MPI_SUCCESS;
}
