// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The interior sites of a box, which need no message, and the exterior sites, which need at least one. For boxes
/// with split axes.

#include <algorithm>
#include <array>
#include <cstdint>

#include "halocline/gpu/array.hpp"
#include "halocline/qcd/device/context.cuh"
#include "halocline/qcd/device/storage.cuh"

namespace halocline::qcd::device {

/// A list of sites of one parity, in order, in device memory.
struct SiteList {
  gpu::DeviceArray<std::int32_t> sites;
  int count = 0;
};

/// Every site is in exactly one of the two lists of its parity. A site at several edges is in `exterior` once.
struct HopSites {
  std::array<SiteList, 2> interior, exterior;  ///< by parity of the site

  /// Waits for the stream. @throws core::Error  out of memory. Collective: no.
  explicit HopSites(Context& context);
  /// The larger number of exterior sites of the two parities, padded().
  int most_exterior() const { return padded(std::max(exterior[0].count, exterior[1].count)); }
};

}  // namespace halocline::qcd::device
