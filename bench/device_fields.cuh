// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fields of the benchmarks on a device, and the timing of work on them. For sources that launch kernels.

#include <string>

#include "bench/device_result.hpp"
#include "bench/device_timing.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/spinor_array.cuh"

namespace halocline::bench {

using namespace qcd::device;  // NOLINT: the namespace under test

/// Fills with numbers between -1 and 1 that depend on the position, none of them zero.
template <class S>
struct FillSpinor {
  SpinorWriter<S> out;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    std::uint32_t state = static_cast<std::uint32_t>(p.x) * 2654435761u + static_cast<std::uint32_t>(p.y) * 40503u + 1u;
    Spinor<RealOf<S>> psi;
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        state = state * 1664525u + 1013904223u;
        const auto re = static_cast<RealOf<S>>(static_cast<std::int32_t>(state >> 8 | 1u) - (1 << 23));
        state = state * 1664525u + 1013904223u;
        const auto im = static_cast<RealOf<S>>(static_cast<std::int32_t>(state >> 8 | 1u) - (1 << 23));
        psi.at[colour][spin] = {re / RealOf<S>(1 << 23), im / RealOf<S>(1 << 23)};
      }
    out.store(static_cast<int>(p.x), p.y, psi);
  }
};

template <class S>
DeviceSpinor<S> filled(const ContextPtr& context, lattice::Subset subset, int parity, int columns,
                       int components = qcd::spinor_components) {
  DeviceSpinor<S> psi(context, subset, columns, components);
  gpu::launch(context->stream, "bench_fill", {.x = psi.sites(), .y = columns}, {.x = 128},
              FillSpinor<S>{psi.writer(parity)});
  return psi;
}

/// Times the work, directly or as a graph if asked. Skips work that cannot be recorded as a graph.
inline void measure(DeviceResult& result, DeviceClock& clock, bool graph, const Work& work, const Effort& effort,
                    gpu::FaceExchange* exchange) {
  if (!graph) {
    result.seconds = clock.measure(work, effort);
    return;
  }
  try {
    result.seconds = clock.measure_graph(work, effort, exchange);
  } catch (const core::Error& error) {
    result.skipped = std::string("it cannot be recorded as a graph: ") + error.what();
  }
}

}  // namespace halocline::bench
