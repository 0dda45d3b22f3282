// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The result of a benchmark on a device, and the count of bytes that its kernels move.
///
/// A hop reads eight neighbours of each site, and each spinor is a neighbour of eight sites. Without reuse in a cache a
/// spinor is read eight times, with perfect reuse once. The actual traffic lies between the two, so the result gives
/// both counts. Links, clover blocks and the written spinor are used once in both.

#include <string>

#include "bench/result.hpp"

namespace halocline::bench {

/// Bytes of one number, and of the scale that belongs to a spinor or a clover block.
struct DeviceStorage {
  double number = 0, scale = 0;
};
/// @param precision  "double", "float", "fixed16" or "fixed8". @throws InvalidArgument  another name; lists these
DeviceStorage device_storage(const std::string& precision);

/// Cost for one site of the target parity and all its columns: the hop and the operations fused with it.
struct DeviceCost {
  double flops = 0;
  double bytes = 0;             ///< without reuse
  double bytes_with_reuse = 0;  ///< each spinor read once
};
/// @param form  "hopping": 1320 flops for each column; "hopping-clover": also an inverse clover block, 1824; "fused":
///              also the addition to a spinor, the dot product with that spinor, and the norm, 1824 + 48 + 144
DeviceCost device_cost(const std::string& form, const std::string& precision, int link_reals, int columns);

/// The result of one case on a device.
struct DeviceResult {
  std::string bench, measured;
  Properties parameters;
  bool host_executor = false;  ///< the times are of loops on the host, and say nothing about a GPU
  Spread seconds;
  double flops = 0, bytes = 0, bytes_with_reuse = 0;  ///< of one execution, all processes together
  double copy_gbytes_per_s = 0;  ///< read plus written by a copy kernel in the same run, all processes
  double copy_bytes = 0;         ///< of each of its two arrays, one process
  double memory_bytes = 0;       ///< device memory, the most that the case held
  Properties outcome;
  std::string skipped{};  ///< reason why the case could not run
};
std::string to_json(const DeviceResult& result);

}  // namespace halocline::bench
