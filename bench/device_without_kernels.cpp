// SPDX-License-Identifier: Apache-2.0
/// @file
/// Replaces device_dslash.cu in builds with neither nvcc nor the host executor.
#include "bench/device_dslash.hpp"
#include "halocline/gpu/device.hpp"
#include "halocline/qcd/quark/device_backend.hpp"

namespace halocline::bench {

void measure_device_dslash(DeviceResult&, const std::shared_ptr<const lattice::Geometry4>&, const DeviceDslashCase& c,
                           const Effort&) {
  gpu::Device::open(c.device);
  qcd::device::require_kernels(c.device);
}

}  // namespace halocline::bench
