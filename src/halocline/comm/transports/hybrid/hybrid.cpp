// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finds out which neighbours are near, and calls one transport or the other.

#include "halocline/comm/transports/hybrid/hybrid.hpp"

#include "halocline/comm/group/shared_room.hpp"
#include "halocline/core/error.hpp"

#include <cstring>
#include <utility>

namespace halocline::comm {
namespace {

constexpr unsigned looks_per_advance = 16;  // a poll costs some ns, advancing MPI some 100 ns

/// The ranks that count as one node with this rank.
Communicator node_of(const Communicator& group, int ranks_per_node) {
  if (ranks_per_node == 0) return group.split_by_node();
  on_every_rank(group, [&] {
    if (ranks_per_node < 0)
      throw core::InvalidArgument("transport hybrid: " + std::to_string(ranks_per_node) +
                                  " ranks per node given, expected a positive number, or 0 to ask the machine");
  });
  const Communicator node = group.split(group.rank() / ranks_per_node, group.rank());
  const int together = node.split_by_node().size();
  on_every_rank(group, [&] {
    if (together != node.size())
      throw core::InvalidArgument("transport hybrid: " + std::to_string(ranks_per_node) +
                                  " ranks per node given, but of those around this rank only " +
                                  std::to_string(together) + " share memory; give 0 to ask the machine");
  });
  return node;
}

/// Shape (ranks of the group,): the rank in the node, -1 for ranks elsewhere.
std::vector<int> ranks_in_node(const Communicator& group, const Communicator& node) {
  const int mine = group.rank();
  const std::vector<std::byte> gathered = node.allgather(std::as_bytes(std::span(&mine, 1)));
  std::vector<int> members(static_cast<std::size_t>(node.size()));
  std::memcpy(members.data(), gathered.data(), gathered.size());
  std::vector<int> ranks(static_cast<std::size_t>(group.size()), -1);
  for (std::size_t rank = 0; rank < members.size(); ++rank)
    ranks[static_cast<std::size_t>(members[rank])] = static_cast<int>(rank);
  return ranks;
}

}  // namespace

std::string default_network(const ProcessGrid& grid) {
  if (grid.size() == 1) return "self";
  return transport_unavailable_reason("mpi_persistent", grid).empty() ? "mpi_persistent" : "simulated";
}

std::string hybrid_unavailable_reason(const ProcessGrid* grid, std::string_view network) {
  if (network.starts_with("hybrid")) return "cannot take another hybrid between the nodes";
  if (grid == nullptr) return {};
  const std::string name = network.empty() ? default_network(*grid) : std::string(network);
  const std::string problem = transport_unavailable_reason(name, *grid);
  if (!problem.empty()) return "takes " + name + " between the nodes, which " + problem;
  return grid->size() == 1 ? "" : detail::shared_segment_problem(grid->communicator());
}

HybridTransport::HybridTransport(std::string network, TransportOptions options)
    : network_name_(std::move(network)),
      name_(network_name_.empty() ? "hybrid" : "hybrid:" + network_name_),
      options_(std::move(options)) {}

void HybridTransport::open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) {
  const Communicator& group = grid.communicator();
  on_every_rank(group, [&] {
    if (const std::string problem = hybrid_unavailable_reason(nullptr, network_name_); !problem.empty())
      throw core::InvalidArgument("transport hybrid " + problem);
  });
  if (network_name_.empty()) {
    network_name_ = default_network(grid);
    name_ = "hybrid:" + network_name_;
  }
  const Communicator node = node_of(group, options_.ranks_per_node);
  std::vector<int> rank_in_node = ranks_in_node(group, node);

  std::vector<std::size_t> near(capacity.size(), 0), far(capacity.size(), 0);
  is_far_.assign(capacity.size(), false);
  looks_.assign(capacity.size(), 0);
  some_far_face_ = -1;
  for (std::size_t face = 0; face < capacity.size(); ++face) {
    const int neighbour = grid.neighbour(Face::from_index(static_cast<int>(face)));
    if (neighbour < 0 || capacity[face] == 0) continue;
    is_far_[face] = rank_in_node[static_cast<std::size_t>(neighbour)] < 0;
    (is_far_[face] ? far : near)[face] = capacity[face];
    if (is_far_[face]) some_far_face_ = static_cast<int>(face);
  }
  if (group.any(some_far_face_ >= 0)) {
    far_ = make_transport(network_name_, grid, options_);
    far_->open(grid, far, slots);
  }
  // Collective inside a node, where all ranks fail alike. So an error can be raised on the other nodes afterwards.
  on_every_rank(group, [&] {
    near_ = std::make_unique<SharedMemoryTransport>(node, std::move(rank_in_node));
    near_->open(grid, near, slots);
  });
}

/// The transport of a face. For a face that is left out: the near one, which knows that it is left out.
Transport& HybridTransport::of(int face) const noexcept {
  return is_far_[static_cast<std::size_t>(face)] ? *far_ : *near_;
}

/// A wait for a near neighbour must not stop messages of the network that need calls of this process. The near
/// neighbour could be waiting for them, through other ranks.
void HybridTransport::advance_network(int face) {
  if (some_far_face_ < 0 || is_far_[static_cast<std::size_t>(face)] || far_->concurrent()) return;
  if (++looks_[static_cast<std::size_t>(face)] % looks_per_advance == 0)
    static_cast<void>(far_->sent(some_far_face_, 0));
}

std::byte* HybridTransport::outbox(int face, int slot, std::size_t bytes) noexcept {
  return of(face).outbox(face, slot, bytes);
}
const std::byte* HybridTransport::inbox(int face, int slot, std::size_t bytes) const noexcept {
  return std::as_const(of(face)).inbox(face, slot, bytes);
}
void HybridTransport::put(int face, int slot, std::size_t bytes, std::uint64_t flag) {
  of(face).put(face, slot, bytes, flag);
}
void HybridTransport::dispatch() {
  near_->dispatch();
  if (far_ != nullptr) far_->dispatch();
}
std::uint64_t HybridTransport::arrived_flag(int face, int slot, std::size_t bytes) {
  advance_network(face);
  return of(face).arrived_flag(face, slot, bytes);
}
void HybridTransport::release(int face, int slot) { of(face).release(face, slot); }
bool HybridTransport::sent(int face, int slot) { return of(face).sent(face, slot); }
void HybridTransport::acknowledge(int face, std::uint64_t count) {
  of(face).acknowledgements()->acknowledge(face, count);
}
std::uint64_t HybridTransport::acknowledged(int face) {
  advance_network(face);
  return of(face).acknowledgements()->acknowledged(face);
}
bool HybridTransport::paced(int face) const noexcept { return of(face).acknowledgements()->paced(face); }
Acknowledgements* HybridTransport::acknowledgements() noexcept {
  return far_ == nullptr || far_->acknowledgements() != nullptr ? this : nullptr;
}
bool HybridTransport::direct(int face) const noexcept { return of(face).direct(face); }
bool HybridTransport::concurrent() const noexcept {
  return near_ != nullptr && near_->concurrent() && (far_ == nullptr || far_->concurrent());
}
bool HybridTransport::neighbour_gone(int face) { return of(face).neighbour_gone(face); }

void HybridTransport::close() {
  if (near_ != nullptr) near_->close();
  if (far_ != nullptr) far_->close();
}

void HybridTransport::abandon() noexcept {
  if (near_ != nullptr) near_->abandon();
  if (far_ != nullptr) far_->abandon();
}

TransportKind hybrid_transport() {
  return {
      .name = "hybrid",
      .unavailable_reason = [](const ProcessGrid* grid) { return hybrid_unavailable_reason(grid); },
      .make =
          [](const TransportOptions& options) { return std::make_unique<HybridTransport>(options.network, options); },
      .takes_network = true,
  };
}

}  // namespace halocline::comm
