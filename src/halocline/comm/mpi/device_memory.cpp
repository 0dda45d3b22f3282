// SPDX-License-Identifier: Apache-2.0
/// @file
/// Asks the MPI library whether it takes device memory.

#include "halocline/comm/group/swap.hpp"

#include "halocline/comm/mpi/mpi.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace halocline::comm {

std::string device_memory_unavailable_reason() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1 ? "" : "the MPI library says that it cannot take device memory";
#else
  return "the MPI library was made without support of device memory";
#endif
}

}  // namespace halocline::comm
