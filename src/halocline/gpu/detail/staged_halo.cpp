// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policy "staged": through pinned host memory and comm::HaloExchange.
///
/// Works wherever comm::HaloExchange works. The copies run on a stream of their own, in parallel with the interior
/// kernel. The host waits for the first copies in wait(), after the interior kernel has been enqueued.
///
/// One buffer of each kind is enough. The outbox of step k is packed after the main stream has waited for the arrival
/// of step k-1, and the side stream signals this arrival after its copy of outbox k-1. The inbox of step k is written
/// after the copy of outbox k. This copy waits for the packing of step k, which is enqueued after the reading of inbox
/// k-1.

#include <algorithm>
#include <cstring>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/detail/halo_policy.hpp"

namespace halocline::gpu::detail {
namespace {

/// The allocations that can fail on one rank alone; made before anything collective.
struct Staging {
  Staging(const Device& device, std::int64_t bytes)
      : out(device, bytes),
        in(device, bytes),
        host_out(device, bytes),
        host_in(device, bytes),
        side(device),
        packed(device),
        fetched(device),
        arrived(device) {}
  DeviceArray<std::byte> out, in;
  PinnedArray<std::byte> host_out, host_in;
  Stream side;
  Event packed, fetched, arrived;
};

class StagedHalo final : public HaloPolicy {
public:
  StagedHalo(const HaloPlan& plan, std::unique_ptr<Staging> memory)
      : plan_(plan),
        places_(plan),
        memory_(std::move(memory)),
        exchange_(plan.grid, plan.axis_bytes(), "", comm::HaloOptions{.time_limit = plan.time_limit}) {}

  void begin(Stream&, std::uint64_t) override {}
  std::byte* outbox(int face, std::uint64_t) const noexcept override { return memory_->out.data() + place(face); }
  const std::byte* inbox(int face, std::uint64_t) const noexcept override { return memory_->in.data() + place(face); }

  void post(Stream& stream, std::uint64_t) override {
    stream.record(memory_->packed);
    memory_->side.wait(memory_->packed);
    memory_->side.copy_to_host(memory_->host_out.data(), memory_->out.data(), places_.bytes);
    memory_->side.record(memory_->fetched);
  }

  void wait(Stream& stream, std::uint64_t) override {
    memory_->fetched.wait();
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
    memory_->side.copy_to_device(memory_->in.data(), memory_->host_in.data(), places_.bytes);
    memory_->side.record(memory_->arrived);
    stream.wait(memory_->arrived);
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
                                       std::max<std::int64_t>(static_cast<std::int64_t>(FacePlaces(plan).bytes), 256));
  });
  return std::make_unique<StagedHalo>(plan, std::move(memory));
}

}  // namespace halocline::gpu::detail
