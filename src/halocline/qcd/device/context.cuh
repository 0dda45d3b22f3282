// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What all device fields and operators of one lattice share.

#include <memory>
#include <string>

#include "halocline/gpu/stream.hpp"
#include "halocline/gpu/tuning.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/device/box.hpp"

namespace halocline::qcd::device {

struct HaloChoice {
  std::string policy{};       ///< as gpu::FaceExchange takes it; empty: its default; "auto": tuned
  double time_limit = 300.0;  ///< [s]
};

/// Work is enqueued on `stream`, in order; whoever reads results on the host synchronizes it.
struct Context {
  /// @param emulated  bits of axes treated as split though one process holds them
  /// @throws InvalidArgument  as Box::of. Collective: no.
  Context(const gpu::Device& device, std::shared_ptr<const lattice::Geometry4> geometry, unsigned emulated = 0,
          HaloChoice halo = {}, std::shared_ptr<gpu::TuneCache> cache = gpu::TuneCache::open())
      : device(device),
        stream(device),
        tuner(device, std::move(cache)),
        geometry(std::move(geometry)),
        box(Box::of(*this->geometry, emulated)),
        emulated(emulated),
        halo(std::move(halo)) {}

  gpu::Device device;
  gpu::Stream stream;
  gpu::Tuner tuner;
  std::shared_ptr<const lattice::Geometry4> geometry;
  Box box;
  unsigned emulated;
  HaloChoice halo;
};
using ContextPtr = std::shared_ptr<Context>;

}  // namespace halocline::qcd::device
