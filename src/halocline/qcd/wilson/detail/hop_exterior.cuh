// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The kernel of the exterior sites: each block waits for all messages, and then computes its sites as usual.
///
/// The kernel follows the packing of its step in one stream, so a waiting block keeps no place that our own packing
/// needs. Two processes that share a device by time slices both progress. Under MPS the waiting blocks of one process
/// can fill the device before the packing kernel of the other starts.

#include "halocline/gpu/face_signals.cuh"
#include "halocline/qcd/wilson/detail/hop_site.cuh"

namespace halocline::qcd::device {

template <class S, int reals>
struct HopExterior : HopSite<S, reals, true, true, 1> {
  gpu::FaceSignals signals;
  bool waits;  ///< whether the messages may still be on their way; uses `signals`

  HALOCLINE_HOST_DEVICE bool begin_block(const gpu::BlockPoint&) const {
    if (waits) gpu::await_all(signals);  // a message that does not come is read as NaN
    return true;
  }
};

}  // namespace halocline::qcd::device
