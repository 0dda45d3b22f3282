// SPDX-License-Identifier: Apache-2.0
/// @file
/// Takes the place of device_engine.cu and all other *.cu of this room in a build that has neither nvcc nor the host
/// executor.
#include "halocline/qcd/quark/detail/device_engine.hpp"

#include "halocline/comm/group/communicator.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/device.hpp"

namespace halocline::qcd::device {

bool has_kernels() noexcept { return false; }

std::unique_ptr<Backend> make_backend(std::shared_ptr<const lattice::Geometry4> geometry, const ReadGauge&,
                                      const Action& action, const BackendOptions& options) {
  validate(action);
  const auto& group = geometry->communicator();
  const int node_rank = group.split_by_node().rank();
  comm::on_every_rank(group, [&] {
    gpu::Device::open(options.device, node_rank);  // throws the reason if the GPU cannot be used
    require_kernels(options.device);
  });
  return nullptr;
}

}  // namespace halocline::qcd::device
