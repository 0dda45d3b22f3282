// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policies whose messages are MPI's, by the memory that they leave from and arrive in:
///
///   | policy               | kernels store and load | MPI sends and receives                                  |
///   |----------------------|------------------------|---------------------------------------------------------|
///   | gpu-aware-mpi, mixed | device memory          | the same                                                |
///   | mixed without that   | device memory          | pinned host memory, copied on a stream of its own       |
///   | zero-copy            | pinned host memory     | the same                                                |
///
/// Under zero-copy nothing copies the bytes: they cross the bus while the kernels run, in small transfers.
///
/// MPI does not know streams. The host therefore waits for the packing kernel before it starts the messages, and for
/// the messages before it enqueues the kernel that reads them. It does both in wait(), after the interior kernel has
/// been enqueued.
///
/// One buffer of each kind is enough. The receive of step k starts when the packing of step k is known to be done. All
/// work enqueued before the packing is then done too, including the reading of step k-1. The sends of step k are done
/// when wait() returns. In host memory, the receive of step k follows the copies out of step k, and these follow the
/// copies in of step k-1 on the same stream.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <thread>

#include "halocline/comm/group/swap.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/detail/halo_policy.hpp"

namespace halocline::gpu::detail {
namespace {

struct Buffers {
  Buffers(const Device& device, std::int64_t bytes, MessageMemory memory)
      : packed(device), fetched(device), arrived(device) {
    if (memory != MessageMemory::pinned) {
      out = DeviceArray<std::byte>(device, bytes);
      in = DeviceArray<std::byte>(device, bytes);
    }
    if (memory != MessageMemory::device) {
      host_out = PinnedArray<std::byte>(device, bytes);
      host_in = PinnedArray<std::byte>(device, bytes);
    }
    if (memory == MessageMemory::staged) side.emplace(device);
  }
  DeviceArray<std::byte> out, in;            // empty with MessageMemory::pinned
  PinnedArray<std::byte> host_out, host_in;  // empty with MessageMemory::device
  std::optional<Stream> side;
  Event packed, fetched, arrived;
};

class MessageHalo final : public HaloPolicy {
public:
  MessageHalo(const HaloPlan& plan, MessageMemory memory, std::unique_ptr<Buffers> buffers)
      : plan_(plan),
        memory_(memory),
        places_(plan),
        group_(plan.grid.communicator().split(0, plan.grid.rank())),
        buffers_(std::move(buffers)) {}

  ~MessageHalo() override {
    bool under_way = false;
    for (comm::Swap& swap : swaps_) {
      try {
        if (swap.done()) continue;
      } catch (const core::Error&) {
        // treat as not done
      }
      swap.abandon();
      under_way = true;
    }
    if (under_way) [[maybe_unused]]
      auto* const given_away = buffers_.release();  // leaked: MPI may still read and write it
  }

  void begin(Stream&, std::uint64_t) override {}
  std::byte* outbox(int face, std::uint64_t) const noexcept override {
    return (memory_ == MessageMemory::pinned ? buffers_->host_out.data() : buffers_->out.data()) + place(face);
  }
  const std::byte* inbox(int face, std::uint64_t) const noexcept override {
    return (memory_ == MessageMemory::pinned ? buffers_->host_in.data() : buffers_->in.data()) + place(face);
  }
  void post(Stream& stream, std::uint64_t step) override {
    stream.record(buffers_->packed);
    if (!staged()) return;
    Stream& side = *buffers_->side;
    side.wait(buffers_->packed);
    for (int face = 0; face < most_faces; ++face)
      if (travels(face)) side.copy_to_host(sent(face).data(), outbox(face, step), plan_.bytes[at(face)]);
    side.record(buffers_->fetched);
  }

  void wait(Stream& stream, std::uint64_t step) override {
    (staged() ? buffers_->fetched : buffers_->packed).wait();
    for (int face = 0; face < most_faces; ++face) {
      if (travels(face))
        swaps_[at(face)] = comm::Swap(group_, sent(face), received(face), plan_.neighbour[at(face)], tag(face));
      else if (plan_.active(face) && memory_ == MessageMemory::pinned)
        std::memcpy(buffers_->host_in.data() + place(face), buffers_->host_out.data() + place(face ^ 1),
                    plan_.bytes[at(face)]);
      else if (plan_.active(face))
        stream.copy_on_device(buffers_->in.data() + place(face), buffers_->out.data() + place(face ^ 1),
                              plan_.bytes[at(face)]);
    }
    await_messages(step);
    if (!staged()) return;
    Stream& side = *buffers_->side;
    for (int face = 0; face < most_faces; ++face)
      if (travels(face))
        side.copy_to_device(buffers_->in.data() + place(face), received(face).data(), plan_.bytes[at(face)]);
    side.record(buffers_->arrived);
    stream.wait(buffers_->arrived);
  }

private:
  static constexpr std::size_t at(int face) noexcept { return static_cast<std::size_t>(face); }
  std::size_t place(int face) const noexcept { return places_.begin[at(face)]; }
  bool staged() const noexcept { return memory_ == MessageMemory::staged; }
  bool in_host_memory() const noexcept { return memory_ != MessageMemory::device; }
  bool travels(int face) const noexcept { return plan_.active(face) && !plan_.to_self(face); }

  /// Where a message leaves and arrives.
  std::span<std::byte> sent(int face) const noexcept {
    return {(in_host_memory() ? buffers_->host_out.data() : buffers_->out.data()) + place(face), plan_.bytes[at(face)]};
  }
  std::span<std::byte> received(int face) const noexcept {
    return {(in_host_memory() ? buffers_->host_in.data() : buffers_->in.data()) + place(face), plan_.bytes[at(face)]};
  }

  void await_messages(std::uint64_t step) {
    const auto begin = std::chrono::steady_clock::now();
    for (int face = 0; face < most_faces; ++face)
      while (!swaps_[at(face)].done()) {
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > plan_.time_limit)
          throw core::Error(plan_.where(face, step) + ": no message within " + std::to_string(plan_.time_limit) + " s",
                            plan_.grid.rank());
        std::this_thread::yield();
      }
  }

  /// The tag is the same at both ends of a link: its axis, and the parity of the position of its lower end. Two
  /// processes on an axis share two links, which differ in this parity.
  int tag(int face) const noexcept {
    const int axis = face / 2, dim = plan_.grid.dims()[at(axis)], here = plan_.grid.coords()[at(axis)];
    const int lower = face % 2 == 1 ? here : (here + dim - 1) % dim;
    return 2 * axis + lower % 2;
  }

  HaloPlan plan_;
  MessageMemory memory_;
  FacePlaces places_;
  comm::Communicator group_;
  std::unique_ptr<Buffers> buffers_;
  std::array<comm::Swap, most_faces> swaps_;
};

}  // namespace

std::string message_halo_unavailable_reason(const Device& device, const comm::ProcessGrid& grid) {
  if (!device.on_gpu() || grid.size() == 1) return "";
  const std::string here = comm::device_memory_unavailable_reason();
  return grid.communicator().all(here.empty()) ? ""
         : here.empty()                        ? "the MPI library of another rank cannot take device memory"
                                               : here;
}

std::unique_ptr<HaloPolicy> make_message_halo(const HaloPlan& plan, MessageMemory memory) {
  std::unique_ptr<Buffers> buffers;
  comm::on_every_rank(plan.grid.communicator(), [&] {
    buffers = std::make_unique<Buffers>(
        plan.device, std::max<std::int64_t>(static_cast<std::int64_t>(FacePlaces(plan).bytes), 256), memory);
  });
  return std::make_unique<MessageHalo>(plan, memory, std::move(buffers));
}

}  // namespace halocline::gpu::detail
