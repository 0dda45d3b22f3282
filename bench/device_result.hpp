// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a benchmark on a device hands over, and the bytes that its kernels move, counted.
///
/// A hop reads eight neighbours of each site, and each spinor is a neighbour of eight sites: without any reuse in a
/// cache a spinor is read eight times, with perfect reuse once. What is measured lies between, so both are told. Links,
/// clover blocks and the spinor that is written are of one use either way.

#include <string>

#include "bench/result.hpp"

namespace halocline::bench {

/// Bytes of one number, and of the scale that goes with a spinor or a clover block.
struct DeviceStorage {
  double number = 0, scale = 0;
};
/// @param precision  "double", "float", "half" or "quarter". @throws InvalidArgument  for others; lists them
DeviceStorage device_storage(const std::string& precision);

/// Of one site of the target parity and all its columns: the hop, and what goes with it.
struct DeviceCost {
  double flops = 0;
  double bytes = 0;             ///< without reuse
  double bytes_with_reuse = 0;  ///< each spinor read once
};
/// @param form  "hopping": 1320 flops a column; "hopping-clover": an inverse clover block behind it, 1824; "fused": the
///              same added to a spinor, and the dot product with that spinor and the norm, 1824 + 48 + 144
DeviceCost device_cost(const std::string& form, const std::string& precision, int link_reals, int columns);

/// A case on a device.
struct DeviceResult {
  std::string bench, measured;
  Properties parameters;
  bool host_executor = false;  ///< the times are of loops on the host, and say nothing about a GPU
  Spread seconds;
  double flops = 0, bytes = 0, bytes_with_reuse = 0;  ///< of one execution, all processes together
  double copy_gbytes_per_s = 0;  ///< read and written by a copy kernel of the same run, all processes
  double copy_bytes = 0;         ///< of each of its two arrays, one process
  double memory_bytes = 0;       ///< of the device, the most that the case held
  Properties outcome;
  std::string skipped{};  ///< why the case could not be run
};
std::string to_json(const DeviceResult& result);

}  // namespace halocline::bench
