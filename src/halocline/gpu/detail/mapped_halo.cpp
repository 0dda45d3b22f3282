// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policies over memory that neighbours map: "copy-engine", "remote-write", "merged-pack", "one-kernel".
///
/// A process owns one piece of shareable device memory. It holds two inboxes for each face, and a flag for each face on
/// a cache line of its own. The neighbours map the piece and store their messages into it. Either the packing kernel
/// stores them, or an asynchronous copy follows the packing kernel, and the flag follows the copy.
///
/// Freeing memory that a neighbour has mapped is undefined on a GPU. A collective destructor could wait for a rank that
/// is unwinding by an exception. So at the end the processes exchange a message of eight bytes through shared host
/// memory (by MPI where some are on other machines), with a time limit. If the message does not come, the device memory
/// is leaked instead of freed. On the host executor a mapping outlives its owner, so no final exchange is needed.

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/detail/await_faces.hpp"
#include "halocline/gpu/detail/halo_policy.hpp"
#include "halocline/gpu/detail/runtime.hpp"
#include "halocline/gpu/detail/shared_memory.hpp"

namespace halocline::gpu::detail {
namespace {

constexpr std::size_t flag_stride = 256;      // [bytes]
constexpr std::int64_t count_stride = 32;     // counters of one face lie in a sector of their own
constexpr double patience_at_the_end = 10.0;  // [s]
constexpr std::size_t faces = most_faces;

/// Describes a rank's shared memory to the other ranks.
struct Card {
  MemoryHandle handle;
  std::uint64_t begin[most_faces];  ///< offset of inbox 0 of each face
  std::uint64_t buffer;             ///< distance between inbox 0 and 1
  std::uint64_t flags;              ///< offset of the flag of face 0
};

/// The allocations that can fail on one rank alone; made before anything collective.
struct Local {
  Local(const HaloPlan& plan, std::size_t bytes, bool copies)
      : inboxes(plan.device, 2 * bytes + faces * flag_stride),
        counts(plan.device, most_faces * count_stride),
        failed(plan.device, 1),
        packed(plan.device) {
    Stream stream(plan.device);
    stream.set_zero(inboxes.data() + 2 * bytes, faces * flag_stride);
    stream.set_zero(counts.data(), counts.bytes());
    stream.synchronize();
    failed.data()[0] = 0;
    if (!copies) return;
    outboxes = DeviceArray<std::byte>(plan.device, static_cast<std::int64_t>(2 * bytes));
    for (std::size_t face = 0; face < faces; ++face) {
      if (!plan.active(static_cast<int>(face))) continue;
      side[face].emplace(plan.device);
      for (auto& events : copied) events[face].emplace(plan.device);
    }
  }
  SharedMemory inboxes;
  DeviceArray<std::uint32_t> counts;
  PinnedArray<std::uint64_t> failed;
  Event packed;
  DeviceArray<std::byte> outboxes;
  std::array<std::optional<Stream>, faces> side;
  std::array<std::array<std::optional<Event>, faces>, 2> copied;
};

class MappedHalo final : public HaloPolicy {
public:
  MappedHalo(const HaloPlan& plan, const HaloPlan& whole)
      : plan_(plan), places_(plan), copies_(plan.policy == "copy-engine") {
    const comm::Communicator& group = plan.grid.communicator();
    Card card{};
    comm::on_every_rank(group, [&] {
      places_.bytes = std::max<std::size_t>(places_.bytes, 256);
      local_ = std::make_unique<Local>(plan, places_.bytes, copies_);
      card.handle = local_->inboxes.handle();
      std::copy(places_.begin.begin(), places_.begin.end(), card.begin);
      card.buffer = places_.bytes;
      card.flags = 2 * places_.bytes;
    });
    const std::vector<std::byte> cards = group.allgather(std::as_bytes(std::span(&card, 1)));
    try {
      comm::on_every_rank(group, [&] { open(cards); });
    } catch (const core::Error&) {  // on all ranks together: no rank frees memory that another rank still maps
      mapped_.clear();
      group.barrier();
      throw;
    }
    local_->inboxes.seal();
    if (!plan.device.on_gpu()) return;
    parting_.emplace(plan.grid, parting_bytes(whole),
                     group.size() == 1         ? "self"
                     : whole.policy == "mixed" ? "mpi_persistent"
                                               : "shared_memory",
                     comm::HaloOptions{.time_limit = patience_at_the_end});
  }

  ~MappedHalo() override {
    if (!plan_.device.on_gpu()) return;
    try {
      plan_.device.synchronize();
      mapped_.clear();
      if (failed() == 0) {
        parting_->post();
        parting_->wait_all();
        return;
      }
    } catch (const core::Error&) {
      // A neighbour did not answer, or the device has failed: leak the memory below.
    }
    [[maybe_unused]] auto* const given_away = new SharedMemory(std::move(local_->inboxes));
  }

  void begin(Stream& stream, std::uint64_t step) override {
    if (!copies_) return;
    for (int face = 0; face < most_faces; ++face)  // copies out of the outbox to be filled now have finished
      if (plan_.active(face)) stream.wait(*local_->copied[step % 2][at(face)]);
  }

  std::byte* outbox(int face, std::uint64_t step) const noexcept override {
    return copies_ ? local_->outboxes.data() + (step % 2) * places_.bytes + places_.begin[at(face)]
                   : there_[at(face)] + (step % 2) * buffer_there_[at(face)];
  }
  const std::byte* inbox(int face, std::uint64_t step) const noexcept override {
    return local_->inboxes.data() + (step % 2) * places_.bytes + places_.begin[at(face)];
  }

  void post(Stream& stream, std::uint64_t step) override {
    if (!copies_) return;
    stream.record(local_->packed);
    for (int face = 0; face < most_faces; ++face) {
      if (!plan_.active(face)) continue;
      Stream& side = *local_->side[at(face)];
      side.wait(local_->packed);
      side.copy_on_device(there_[at(face)] + (step % 2) * buffer_there_[at(face)], outbox(face, step),
                          plan_.bytes[at(face)]);
      side.write_value(flag_there_[at(face)], step);
      side.record(*local_->copied[step % 2][at(face)]);
    }
  }

  void wait(Stream& stream, std::uint64_t step) override { await_faces(stream, signals(step)); }

  FaceSignals signals(std::uint64_t step) const noexcept override {
    FaceSignals out;
    for (int face = 0; face < most_faces; ++face) {
      if (!plan_.active(face)) continue;
      out.raise[face] = flag_there_[at(face)];
      out.await[face] =
          reinterpret_cast<const std::uint64_t*>(local_->inboxes.data() + 2 * places_.bytes + at(face) * flag_stride);
      out.arriving[face] = const_cast<std::byte*>(inbox(face, step));
      out.bytes[face] = plan_.bytes[at(face)];
      out.packed[face] = local_->counts.data() + face * count_stride;
    }
    out.step = step;
    out.failed = local_->failed.data();
    out.time_limit = plan_.time_limit;
    return out;
  }

  std::uint64_t failed() const noexcept override {
    return *const_cast<const volatile std::uint64_t*>(local_->failed.data());
  }

private:
  static constexpr std::size_t at(int face) noexcept { return static_cast<std::size_t>(face); }

  static std::vector<std::size_t> parting_bytes(const HaloPlan& whole) {
    std::vector<std::size_t> bytes = whole.axis_bytes();
    for (std::size_t& b : bytes) b = b > 0 ? 8 : 0;
    return bytes;
  }

  void open(const std::vector<std::byte>& cards) {
    for (int face = 0; face < most_faces; ++face) {
      if (!plan_.active(face)) continue;
      const int rank = plan_.neighbour[at(face)];
      Card card;
      std::memcpy(&card, cards.data() + sizeof(Card) * at(rank), sizeof(Card));
      auto found = mapped_.find(rank);
      if (found == mapped_.end()) found = mapped_.emplace(rank, MappedMemory(plan_.device, card.handle)).first;
      std::byte* const memory = found->second.data();
      there_[at(face)] = memory + card.begin[face ^ 1];
      buffer_there_[at(face)] = card.buffer;
      flag_there_[at(face)] = reinterpret_cast<std::uint64_t*>(memory + card.flags + at(face ^ 1) * flag_stride);
    }
  }

  HaloPlan plan_;
  FacePlaces places_;
  bool copies_;
  std::unique_ptr<Local> local_;
  std::map<int, MappedMemory> mapped_;  ///< by rank in the grid
  std::array<std::byte*, faces> there_{};
  std::array<std::size_t, faces> buffer_there_{};
  std::array<std::uint64_t*, faces> flag_there_{};
  std::optional<comm::HaloExchange> parting_;
};

}  // namespace

std::string mapped_halo_unavailable_reason(const Device&, const comm::ProcessGrid& grid) {
  const bool one_node = grid.communicator().split_by_node().size() == grid.size();
  return grid.communicator().all(one_node) ? "" : "the processes are on several machines";
}

std::unique_ptr<HaloPolicy> make_mapped_halo(const HaloPlan& plan, const HaloPlan& whole) {
  return std::make_unique<MappedHalo>(plan, whole);
}

}  // namespace halocline::gpu::detail
