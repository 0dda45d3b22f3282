// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `dslash` on a device for other actions than Wilson, and for Schur complements.

#include <memory>

#include "bench/device_dslash.hpp"
#include "halocline/gpu/device.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::bench {

/// The action of a case. Wilson and twisted quarks have a clover term.
qcd::Action device_action(const DeviceDslashCase& c);

/// Cost for one site of one parity and all its columns. A matrix of the fifth dimension counts the flops of its
/// recursion, whatever the kernel does. Bytes are those of kernels that keep the result of a hop in registers until
/// the block of the site, or the matrix, has been multiplied.
DeviceCost device_operator_cost(const DeviceDslashCase& c);

/// Measures a case that has been checked, on its device: times, bytes and outcome. Collective: yes.
void measure_device_operator(DeviceResult& result, const std::shared_ptr<const lattice::Geometry4>& geometry,
                             const gpu::Device& device, const DeviceDslashCase& c, const Effort& effort);

}  // namespace halocline::bench
