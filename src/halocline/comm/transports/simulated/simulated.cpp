// SPDX-License-Identifier: Apache-2.0
/// @file
/// One rank's end of the simulated network.

#include "halocline/comm/transports/simulated/simulated.hpp"

#include "halocline/comm/simulation/simulated_group.hpp"
#include "halocline/comm/transports/simulated/detail/simulated_network.hpp"
#include "halocline/core/error.hpp"

#include <vector>

namespace halocline::comm {

std::string simulated_unavailable_reason(const ProcessGrid* grid) {
  if (grid == nullptr) return {};
  if (dynamic_cast<detail::SimulatedBackend*>(&grid->communicator().backend()) != nullptr) return {};
  return "serves the ranks of a simulation only (halocline/comm/simulation/simulation.hpp)";
}

void SimulatedTransport::open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) {
  if (const std::string unavailable_reason = simulated_unavailable_reason(&grid); !unavailable_reason.empty()) {
    throw core::InvalidArgument("transport simulated " + unavailable_reason);
  }
  grid_ = std::make_unique<const ProcessGrid>(grid);
  backend_ = static_cast<detail::SimulatedBackend*>(&grid_->communicator().backend());
  std::vector<int> neighbours;
  for (int face = 0; face < 2 * grid.ndim(); ++face) neighbours.push_back(grid.neighbour(Face::from_index(face)));
  detail::Simulator& simulator = backend_->simulator();
  network_ = std::static_pointer_cast<detail::SimulatedNetwork>(backend_->agree([&] {
    auto network = std::make_shared<detail::SimulatedNetwork>(simulator, grid.size());
    simulator.adopt(network);
    return network;
  }));
  // In an unwound simulation the ranks cannot agree.
  if (network_ == nullptr) network_ = std::make_shared<detail::SimulatedNetwork>(simulator, grid.size());
  network_->open(grid.rank(), backend_->member(grid.rank()), neighbours, capacity, slots);
  backend_->barrier();
}

std::byte* SimulatedTransport::outbox(int face, int slot, std::size_t) noexcept {
  return network_->outbox(grid_->rank(), face, slot);
}

const std::byte* SimulatedTransport::inbox(int face, int slot, std::size_t) const noexcept {
  return network_->inbox(grid_->rank(), face, slot);
}

void SimulatedTransport::put(int face, int slot, std::size_t bytes, std::uint64_t flag) {
  if (backend_->simulator().enter(backend_->member(grid_->rank()))) {
    network_->put(grid_->rank(), face, slot, bytes, flag);
  }
}

std::uint64_t SimulatedTransport::arrived_flag(int face, int slot, std::size_t) {
  backend_->simulator().looked();
  return network_->arrived_flag(grid_->rank(), face, slot);
}

void SimulatedTransport::release(int face, int slot) { network_->release(grid_->rank(), face, slot); }

bool SimulatedTransport::sent(int face, int slot) {
  backend_->simulator().looked();
  return network_->sent(grid_->rank(), face, slot);
}

void SimulatedTransport::acknowledge(int face, std::uint64_t count) {
  if (backend_->simulator().enter(backend_->member(grid_->rank()))) network_->acknowledge(grid_->rank(), face, count);
}

std::uint64_t SimulatedTransport::acknowledged(int face) {
  backend_->simulator().looked();
  return network_->acknowledged(grid_->rank(), face);
}

bool SimulatedTransport::neighbour_gone(int face) {
  const int there = network_->neighbour(grid_->rank(), face);
  return there >= 0 && (!backend_->alive(there) || network_->abandoned(there));
}

void SimulatedTransport::abandon() noexcept {
  if (network_ != nullptr) network_->abandon(grid_->rank());
}

TransportKind simulated_transport() {
  return {
      .name = "simulated",
      .unavailable_reason = simulated_unavailable_reason,
      .make = [](const TransportOptions&) { return std::make_unique<SimulatedTransport>(); },
  };
}

}  // namespace halocline::comm
