// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `simulated`: a network that keeps its promises and no others.
///
/// For ranks of a simulation (simulation.hpp). A put does nothing at once. Later, in pieces and in any order, the data
/// is read from the outbox; each piece then travels for a time of its own and is written into the neighbour's inbox in
/// any order; the flag follows the last of them. Nothing orders messages of different faces, or two messages of one
/// face. So an outbox that is filled too early, or an inbox that is read too early or too late, gives wrong bytes for
/// some seed. Two mistakes are found even where the bytes would come out right by luck: a put into an inbox that its
/// reader has not released is a core::Error, and a released inbox is overwritten with a pattern.
///
/// With SimulationOptions::damage_probability a message has one of its bits flipped on the way, which is what
/// HaloOptions::checksum is there to find.

#include "halocline/comm/exchange/transport.hpp"

#include <memory>
#include <string>

namespace halocline::comm {

namespace detail {
class SimulatedBackend;
class SimulatedNetwork;
}  // namespace detail

/// Why `simulated` cannot be used; empty where it can. @param grid  nullptr: as far as can be told without one
std::string simulated_unavailable_reason(const ProcessGrid* grid);

/// The opponent of the exchange.
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
  /// A rank is one thread; there is nobody to keep out.
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

/// The line of this transport in the list of all.
TransportKind simulated_transport();

}  // namespace halocline::comm
