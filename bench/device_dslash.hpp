// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `dslash` on a device: the one-parity Wilson hop, with its stages switched off one by one.
///
/// Fields stay in the memory of the device. Links are random SU(3) matrices. Forms are those of device_cost().
///
/// What is left of a hop when a stage is switched off:
///   "whole"     everything
///   "no-halo"   the faces are read from the process's own field: no packing, no messages, one kernel
///   "halo"      packing, messages and waiting alone, no hop
///   "messages"  messages and waiting alone, where no kernel writes them
///   "separate"  what the forms fuse into the hop runs in kernels of its own

#include <memory>
#include <string>
#include <vector>

#include "bench/device_result.hpp"
#include "bench/geometry.hpp"

namespace halocline::bench {

struct DeviceDslashCase {
  std::string device = "cuda";  ///< as gpu::Device::open
  Extents local{16, 16, 16, 16};
  std::string precision = "half";
  std::string form = "hopping";
  int link_reals = 12;          ///< 18, 12 or 8
  int columns = 1;              ///< right-hand sides, 1 to 32
  Extents emulate{1, 1, 1, 1};  ///< more than 1: the axis is treated as split, the neighbour is the process itself
  std::string policy{};         ///< of the halo; empty for the default, "auto" for the quickest
  std::string stage = "whole";
  bool graph = false;  ///< recorded, and launched as a graph
};

/// Measures one case. A case that cannot be run here (a policy that is not to be had, too little memory, work that
/// cannot be recorded) is skipped and says why.
/// @throws InvalidArgument  an unknown name, a number out of range, a lattice that no box fits, a device that is not
///                          there; on every rank
/// Collective: yes.  Cost: about twice effort.seconds, and the making of links on the host, 2.3 KB a site.
DeviceResult device_dslash(const comm::Communicator& group, const DeviceDslashCase& parameters, const Effort& effort);

/// Names of the stages, in the order above.
const std::vector<std::string>& device_stages();

/// The part that knows the device: times, bytes and outcome of a case that has been checked. Collective: yes.
void measure_device_dslash(DeviceResult& result, const std::shared_ptr<const lattice::Geometry4>& geometry,
                           const DeviceDslashCase& c, const Effort& effort);

}  // namespace halocline::bench
