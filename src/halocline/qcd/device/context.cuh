// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The device, stream and lattice that all device fields and operators of one lattice share.

#include <memory>
#include <string>
#include <utility>

#include "halocline/gpu/stream.hpp"
#include "halocline/gpu/tuning.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/device/box.hpp"

namespace halocline::qcd::device {

namespace detail {
class Staging;
}

struct HaloChoice {
  std::string policy{};       ///< name of gpu::FaceExchange; empty: its default; "auto": chosen by timing
  double time_limit = 300.0;  ///< longest wait for a neighbour [s]
  int ranks_per_node = 0;     ///< as in gpu::FaceExchangeOptions, for tests
};

/// Work is enqueued on `stream`, in order. Synchronize the stream before reading results on the host. All fields of a
/// call must have the same context, because the streams of two contexts are not ordered. For one thread at a time.
struct Context {
  /// @param emulated_axes  bit `axis`: treat this axis as split although one process holds it
  /// @throws InvalidArgument  as Box::of. Collective: no.
  Context(const gpu::Device& on, std::shared_ptr<const lattice::Geometry4> lattice, unsigned emulated_axes = 0,
          HaloChoice halo_choice = {}, std::shared_ptr<gpu::TuneCache> cache = gpu::TuneCache::open())
      : device(on),
        stream(on),
        tuner(on, std::move(cache)),
        geometry(std::move(lattice)),
        box(Box::of(*geometry, emulated_axes)),
        emulated(emulated_axes),
        halo(std::move(halo_choice)) {}

  gpu::Device device;
  gpu::Stream stream;
  gpu::Tuner tuner;
  std::shared_ptr<const lattice::Geometry4> geometry;
  Box box;
  unsigned emulated;
  HaloChoice halo;
  std::shared_ptr<detail::Staging> staging;  ///< for copies from and to the host (staging.cuh), made at the first copy
};
using ContextPtr = std::shared_ptr<Context>;

}  // namespace halocline::qcd::device
