// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The device, stream and lattice that all device fields and operators of one lattice share.

#include <memory>
#include <string>
#include <utility>

#include "halocline/gpu/memory_pool.hpp"
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
  /// Exterior sites in two parts, before and after the messages (wilson/detail/hop_split.cuh). Changes results by
  /// rounding. For common storages; others compute them whole.
  bool split_sites = false;
};

/// Work is enqueued on `stream`, in order. Synchronize the stream before reading results on the host. All fields of a
/// call must have the same context, because the streams of two contexts are not ordered. For one thread at a time. Not
/// movable.
struct Context {
  /// @param emulated_axes  bit `axis`: treat this axis as split although one process holds it
  /// @throws InvalidArgument  as Box::of. Collective: no.
  Context(const gpu::Device& on, std::shared_ptr<const lattice::Geometry4> lattice, unsigned emulated_axes = 0,
          HaloChoice halo_choice = {}, std::shared_ptr<gpu::TuneCache> cache = gpu::TuneCache::open())
      : device(on),
        stream(on),
        vectors(stream),
        tuner(on, std::move(cache)),
        geometry(std::move(lattice)),
        box(Box::of(*geometry, emulated_axes)),
        emulated(emulated_axes),
        halo(std::move(halo_choice)) {}

  gpu::Device device;
  gpu::Stream stream;
  /// The memory of the vectors (DeviceSpinor). A vector may be destroyed while work on it is enqueued, because only
  /// this stream works on vectors. The other streams of a halo exchange touch the buffers of the exchange alone: the
  /// side streams of "staged" and "copy-engine" copy outboxes and inboxes, which kernels of this stream fill from a
  /// vector and read into one; MPI under "gpu-aware-mpi" sends and receives the same kind of buffers; NVSHMEM's puts
  /// are on this stream. Copies from and to the host (staging.cuh), sums and the trial runs of the tuner are on this
  /// stream too.
  gpu::MemoryPool vectors;
  gpu::Tuner tuner;
  std::shared_ptr<const lattice::Geometry4> geometry;
  Box box;
  unsigned emulated;
  HaloChoice halo;
  std::shared_ptr<detail::Staging> staging;  ///< for copies from and to the host (staging.cuh), made at the first copy
};
using ContextPtr = std::shared_ptr<Context>;

}  // namespace halocline::qcd::device
