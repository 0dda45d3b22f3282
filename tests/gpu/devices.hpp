// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The devices that tests of device code run on: a host executor, and a GPU where there is one.
///
///   for (const gpu::Device& device : test_devices()) { CAPTURE(device.describe()); ... }
///
/// The functions are static because their answer is another in sources that nvcc has compiled.

#include <string>
#include <vector>

#include "halocline/gpu/device.hpp"

namespace halocline::testing {

/// For tests that launch functors: on a GPU only what nvcc has compiled can run. The host executor is the one that
/// holds work back, which finds out what the other one does and reads that come too early.
[[maybe_unused]] static std::vector<gpu::Device> test_devices(int node_rank = 0) {
  std::vector<gpu::Device> devices{gpu::Device::deferred_host_executor()};
#if defined(__CUDACC__)
  if (gpu::unavailable_reason().empty()) devices.push_back(gpu::Device::open("cuda", node_rank));
#else
  static_cast<void>(node_rank);
#endif
  return devices;
}

/// test_devices() and the host executor that runs everything at once: for tests of what is below kernels.
[[maybe_unused]] static std::vector<gpu::Device> all_devices(int node_rank = 0) {
  std::vector<gpu::Device> devices = test_devices(node_rank);
  devices.push_back(gpu::Device::host_executor());
  return devices;
}

/// For tests that launch nothing: memory, streams and copies, compiled by any compiler.
[[maybe_unused]] static std::vector<gpu::Device> memory_devices(int node_rank = 0) {
  std::vector<gpu::Device> devices{gpu::Device::host_executor(), gpu::Device::deferred_host_executor()};
  if (gpu::unavailable_reason().empty()) devices.push_back(gpu::Device::open("cuda", node_rank));
  return devices;
}

/// Why tests run on the host executor alone; empty where they run on a GPU too.
[[maybe_unused]] static std::string why_no_gpu() {
  if (const std::string why = gpu::unavailable_reason(); !why.empty()) return why;
#if defined(__CUDACC__)
  return "";
#else
  return "these tests were not compiled by nvcc";
#endif
}

}  // namespace halocline::testing
