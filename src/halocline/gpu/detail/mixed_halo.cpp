// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policy "mixed": faces towards processes of this machine by "copy-engine", the others by messages.
///
/// A message leaves from device memory where the MPI library can take it, else from pinned host memory. All transfers
/// of a step are under way at the same time. wait() first waits for the messages on the host and then lets the stream
/// wait for the flags of the copies.

#include <algorithm>
#include <utility>

#include "halocline/gpu/detail/halo_policy.hpp"

namespace halocline::gpu::detail {
namespace {

/// Shape (ranks,): a number that ranks of one machine share. Collective.
std::vector<int> machines(const HaloPlan& plan) {
  const comm::Communicator& group = plan.grid.communicator();
  const int rank = group.rank();
  int mine = plan.ranks_per_node > 0 ? rank / plan.ranks_per_node : rank;
  if (plan.ranks_per_node == 0) group.split_by_node().broadcast(std::as_writable_bytes(std::span(&mine, 1)), 0);
  const std::vector<std::byte> all = group.allgather(std::as_bytes(std::span(&mine, 1)));
  std::vector<int> out(static_cast<std::size_t>(group.size()));
  std::copy(all.begin(), all.end(), std::as_writable_bytes(std::span(out)).begin());
  return out;
}

/// The plan of the faces whose neighbours are on this machine, or of the others.
HaloPlan part_of(const HaloPlan& plan, const std::vector<int>& machine, bool near) {
  HaloPlan part = plan;
  const int here = machine[static_cast<std::size_t>(plan.grid.rank())];
  for (std::size_t face = 0; face < most_faces; ++face) {
    if (plan.bytes[face] == 0) continue;
    if ((machine[static_cast<std::size_t>(plan.neighbour[face])] == here) == near) continue;
    part.bytes[face] = 0;
    part.neighbour[face] = -1;
  }
  return part;
}

class MixedHalo final : public HaloPolicy {
public:
  MixedHalo(const HaloPlan& near, const HaloPlan& whole, const HaloPlan& far, bool staged)
      : near_plan_(near),
        near_(make_mapped_halo(near, whole)),
        far_(make_message_halo(far, staged ? MessageMemory::staged : MessageMemory::device)) {}

  void begin(Stream& stream, std::uint64_t step) override {
    near_->begin(stream, step);
    far_->begin(stream, step);
  }
  std::byte* outbox(int face, std::uint64_t step) const noexcept override { return of(face).outbox(face, step); }
  const std::byte* inbox(int face, std::uint64_t step) const noexcept override { return of(face).inbox(face, step); }
  void post(Stream& stream, std::uint64_t step) override {
    far_->post(stream, step);
    near_->post(stream, step);
  }
  void wait(Stream& stream, std::uint64_t step) override {
    far_->wait(stream, step);
    near_->wait(stream, step);
  }
  std::uint64_t failed() const noexcept override { return near_->failed(); }

private:
  const HaloPolicy& of(int face) const noexcept { return near_plan_.active(face) ? *near_ : *far_; }

  HaloPlan near_plan_;
  std::unique_ptr<HaloPolicy> near_, far_;
};

}  // namespace

std::unique_ptr<HaloPolicy> make_mixed_halo(const HaloPlan& plan) {
  const std::vector<int> machine = machines(plan);
  HaloPlan near = part_of(plan, machine, true);
  near.policy = "copy-engine";
  const bool staged = !plan.device.on_gpu() || !message_halo_unavailable_reason(plan.device, plan.grid).empty();
  return std::make_unique<MixedHalo>(near, plan, part_of(plan, machine, false), staged);
}

}  // namespace halocline::gpu::detail
