// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `simulated`: a network that keeps the contract of transport.hpp, and promises nothing more.
///
/// It serves the ranks of a simulation (simulation.hpp). A put does nothing at once. Later the network reads the data
/// from the outbox, in pieces and in any order. Each piece travels for a time of its own and is written into the
/// neighbour's inbox. The flag follows the last piece. The network orders neither messages of different faces nor
/// two messages of one face. So an outbox that is filled too early, or an inbox that is read too early or too late,
/// gives wrong bytes for some seed.
///
/// Two mistakes are found even where the bytes would come out right by luck. A put into an inbox that its reader has
/// not released is a core::Error. A released inbox is overwritten with a pattern.
///
/// With SimulationOptions::damage_probability a message has one of its bits flipped on the way. HaloOptions::checksum
/// must find this.

#include "halocline/comm/exchange/transport.hpp"

#include <memory>
#include <string>

namespace halocline::comm {

namespace detail {
class SimulatedBackend;
class SimulatedNetwork;
}  // namespace detail

/// Why `simulated` cannot be used; empty when it can.
/// @param grid  may be nullptr; reasons that depend on a grid are then left out
std::string simulated_unavailable_reason(const ProcessGrid* grid);

/// The worst network that the contract allows, to test the exchange.
class SimulatedTransport final : public Transport, private Acknowledgements {
public:
  std::string_view name() const noexcept override { return "simulated"; }
  /// @throws InvalidArgument  for a grid of ranks that are not simulated, on every rank
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int face, int slot) override;
  bool sent(int face, int slot) override;
  Acknowledgements* acknowledgements() noexcept override { return this; }
  /// A rank is one thread, so its calls need no turns.
  bool concurrent() const noexcept override { return true; }
  bool neighbour_gone(int face) override;
  void abandon() noexcept override;

private:
  void acknowledge(int face, std::uint64_t count) override;
  std::uint64_t acknowledged(int face) override;

  std::unique_ptr<const ProcessGrid> grid_;            ///< keeps the group
  detail::SimulatedBackend* backend_ = nullptr;        ///< of the group
  std::shared_ptr<detail::SimulatedNetwork> network_;  ///< of all ranks of the grid
};

/// The entry of this transport in the list of transports.
TransportKind simulated_transport();

}  // namespace halocline::comm
