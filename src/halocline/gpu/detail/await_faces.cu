// SPDX-License-Identifier: Apache-2.0
#include "halocline/gpu/detail/await_faces.hpp"

#include "halocline/gpu/face_signals.cuh"
#include "halocline/gpu/launch.cuh"

namespace halocline::gpu::detail {
namespace {

/// One thread waits for each face.
struct AwaitFaces {
  static constexpr int max_threads = 32;
  FaceSignals signals;
  HALOCLINE_HOST_DEVICE void operator()(const Point& p) const {
    const int face = static_cast<int>(p.x);
    if (signals.await[face] != nullptr && !watch(signals, face)) give_up(signals, 1u << face);
#if defined(__CUDA_ARCH__)
    fence_system();
#endif
  }
};

}  // namespace

void await_faces(Stream& stream, const FaceSignals& signals) {
  launch(stream, "await_faces", Extent{most_faces}, Block{most_faces}, AwaitFaces{signals});
}

}  // namespace halocline::gpu::detail
