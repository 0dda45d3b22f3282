// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `dslash` on a device: the one-parity Wilson hop, with its stages switched off one by one, and operators of all
/// actions that run on a device.
///
/// Fields stay in device memory. Links are random SU(3) matrices. The forms of Wilson quarks are those of
/// device_cost(), "schur" and "schur-asymmetric", the last two with a clover term. Other actions (actions.hpp, without
/// "doublet") have "hopping", "schur" and "schur-asymmetric", with the stage "whole", and with a fifth dimension also
/// "separate". Twisted quarks have a clover term there.
///
/// Stages of a hop:
///   "whole"     everything
///   "no-halo"   the faces are read from the process's own field: no packing, no messages, one kernel
///   "halo"      packing, messages and waiting only, no hop
///   "messages"  messages and waiting only, for policies in which no kernel writes the messages
///   "separate"  as "whole", but the operations that a form fuses into the hop run in separate kernels
///   "split-sites"  as "whole", but sites at split edges are computed in two parts, before and after the messages

#include <memory>
#include <string>
#include <vector>

#include "bench/device_result.hpp"
#include "bench/geometry.hpp"

namespace halocline::bench {

struct DeviceDslashCase {
  std::string device = "cuda";  ///< as gpu::Device::open
  Extents local{16, 16, 16, 16};
  std::string precision = "fixed16";
  std::string form = "hopping";
  int link_reals = 12;          ///< 18, 12 or 8; of staggered quarks always 18
  int columns = 1;              ///< right-hand sides, 1 to 32
  Extents emulate{1, 1, 1, 1};  ///< more than 1: the axis is treated as split, and the process is its own neighbour
  std::string policy{};         ///< of the halo; empty: the default, "auto": the fastest
  std::string stage = "whole";
  bool graph = false;  ///< record the work and launch it as a graph
  std::string action = "wilson";
  int ls = 8;  ///< points of the fifth dimension; ignored without one

  /// Whether device_operator.hpp measures it.
  bool has_operator() const { return action != "wilson" || form == "schur" || form == "schur-asymmetric"; }
};

/// Measures one case. A case that cannot run here (an unavailable policy, too little memory, work that cannot be
/// recorded) is skipped with a reason. But Schur complements and other actions end with an error where memory is too
/// little.
/// @throws InvalidArgument  an unknown name, a number out of range, a lattice that no box fits, a missing device; on
///                          every rank
/// Collective: yes.  Cost: about twice effort.seconds, and making the links on the host, 2.3 KB a site.
DeviceResult device_dslash(const comm::Communicator& group, const DeviceDslashCase& parameters, const Effort& effort);

/// Names of the stages, in the order above.
const std::vector<std::string>& device_stages();

/// Measures a case that has been checked on its device: times, bytes and outcome. Collective: yes.
void measure_device_dslash(DeviceResult& result, const std::shared_ptr<const lattice::Geometry4>& geometry,
                           const DeviceDslashCase& c, const Effort& effort);

}  // namespace halocline::bench
