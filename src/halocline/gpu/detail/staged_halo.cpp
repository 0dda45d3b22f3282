// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policies "staged" and "zero-copy": through pinned host memory and comm::HaloExchange.
///
/// Both work wherever comm::HaloExchange works. Under staged, copies run on a stream of their own, in parallel with the
/// interior kernel, and the host waits for the first ones in wait(), after the interior kernel has been enqueued. Under
/// zero-copy there are none: the packing kernel stores to pinned memory, and the exterior kernel loads from it. The
/// bytes cross the bus while the kernels run, one small transfer at a time, and no copy by the device follows.
///
/// One buffer of each kind is enough. The outbox of step k is packed after the main stream has waited for the arrival
/// of step k-1, and the side stream signals this arrival after its copy of outbox k-1. The inbox of step k is written
/// after the copy of outbox k. This copy waits for the packing of step k, which is enqueued after the reading of inbox
/// k-1. Under zero-copy the host writes the inbox of step k when the packing of step k is done, and so is all that was
/// enqueued before it, the reading of inbox k-1 included.

#include <algorithm>
#include <cstring>
#include <optional>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/detail/halo_policy.hpp"

namespace halocline::gpu::detail {
namespace {

/// The allocations that can fail on one rank alone; made before anything collective.
struct Staging {
  Staging(const Device& device, std::int64_t bytes, bool copies)
      : host_out(device, bytes), host_in(device, bytes), packed(device) {
    if (copies) engine.emplace(device, bytes);
  }
  /// What copies need.
  struct Engine {
    Engine(const Device& device, std::int64_t bytes)
        : out(device, bytes), in(device, bytes), side(device), fetched(device), arrived(device) {}
    DeviceArray<std::byte> out, in;
    Stream side;
    Event fetched, arrived;
  };
  PinnedArray<std::byte> host_out, host_in;
  Event packed;
  std::optional<Engine> engine;  ///< under staged
};

class StagedHalo final : public HaloPolicy {
public:
  StagedHalo(const HaloPlan& plan, std::unique_ptr<Staging> memory)
      : plan_(plan),
        places_(plan),
        memory_(std::move(memory)),
        exchange_(plan.grid, plan.axis_bytes(), "", comm::HaloOptions{.time_limit = plan.time_limit}) {}

  void begin(Stream&, std::uint64_t) override {}
  std::byte* outbox(int face, std::uint64_t) const noexcept override {
    return (memory_->engine ? memory_->engine->out.data() : memory_->host_out.data()) + place(face);
  }
  const std::byte* inbox(int face, std::uint64_t) const noexcept override {
    return (memory_->engine ? memory_->engine->in.data() : memory_->host_in.data()) + place(face);
  }

  void post(Stream& stream, std::uint64_t) override {
    stream.record(memory_->packed);
    if (!memory_->engine) return;
    auto& engine = *memory_->engine;
    engine.side.wait(memory_->packed);
    engine.side.copy_to_host(memory_->host_out.data(), engine.out.data(), places_.bytes);
    engine.side.record(engine.fetched);
  }

  void wait(Stream& stream, std::uint64_t) override {
    (memory_->engine ? memory_->engine->fetched : memory_->packed).wait();
    for (int face = 0; face < most_faces; ++face)
      if (plan_.active(face))
        std::memcpy(exchange_.send_buffer(comm::Face::from_index(face)).data(), memory_->host_out.data() + place(face),
                    plan_.bytes[static_cast<std::size_t>(face)]);
    exchange_.post();
    for (int face = 0; face < most_faces; ++face) {
      if (!plan_.active(face)) continue;
      exchange_.wait(comm::Face::from_index(face));
      std::memcpy(memory_->host_in.data() + place(face), exchange_.recv_buffer(comm::Face::from_index(face)).data(),
                  plan_.bytes[static_cast<std::size_t>(face)]);
    }
    if (!memory_->engine) return;
    auto& engine = *memory_->engine;
    engine.side.copy_to_device(engine.in.data(), memory_->host_in.data(), places_.bytes);
    engine.side.record(engine.arrived);
    stream.wait(engine.arrived);
  }

private:
  std::size_t place(int face) const noexcept { return places_.begin[static_cast<std::size_t>(face)]; }

  HaloPlan plan_;
  FacePlaces places_;
  std::unique_ptr<Staging> memory_;
  comm::HaloExchange exchange_;
};

}  // namespace

std::unique_ptr<HaloPolicy> make_staged_halo(const HaloPlan& plan) {
  std::unique_ptr<Staging> memory;
  comm::on_every_rank(plan.grid.communicator(), [&] {
    memory = std::make_unique<Staging>(plan.device,
                                       std::max<std::int64_t>(static_cast<std::int64_t>(FacePlaces(plan).bytes), 256),
                                       plan.policy != "zero-copy");
  });
  return std::make_unique<StagedHalo>(plan, std::move(memory));
}

}  // namespace halocline::gpu::detail
