// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The copy bandwidth of a device: the limit with which a hop is compared.
///
/// In the kernel each thread copies 16 bytes from one array to another, the width with which the library's own kernels
/// read. Both bytes read and bytes written count.

#include "bench/timing.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::bench {

struct CopyBandwidth {
  double gbytes_per_s = 0;  ///< total of all processes
  double bytes = 0;         ///< of each array, one process
};
/// Two arrays of 1 GiB each, or of a quarter of the free memory if that is less; on the host executor 1 MiB.
/// @throws core::Error  out of memory. Collective: yes.
CopyBandwidth copy_bandwidth(const comm::Communicator& group, gpu::Stream& stream, const Effort& effort);

}  // namespace halocline::bench
