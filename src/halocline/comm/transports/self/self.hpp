// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `self`: one process that is its own neighbour on every periodic axis. Nothing moves: the outbox of a face
/// is the inbox of the opposite one, and a put writes the flag.

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/transports/boxes.hpp"

#include <string>
#include <vector>

namespace halocline::comm {

/// Why `self` cannot be used; empty when it can.
/// @param grid  may be nullptr; reasons that depend on a grid are then left out
std::string self_unavailable_reason(const ProcessGrid* grid);

/// The reference with which the tests compare the other transports.
class SelfTransport final : public Transport, private Acknowledgements {
public:
  std::string_view name() const noexcept override { return "self"; }
  /// @throws InvalidArgument  for a grid of more than one process, on every rank
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int, int) override {}
  bool sent(int, int) override { return true; }
  Acknowledgements* acknowledgements() noexcept override { return this; }
  bool direct(int) const noexcept override { return true; }
  bool concurrent() const noexcept override { return true; }
  void abandon() noexcept override {}

private:
  void acknowledge(int face, std::uint64_t count) override;
  std::uint64_t acknowledged(int face) override;

  detail::Boxes boxes_;
  std::vector<std::uint64_t> acknowledged_;  ///< shape (2 ndim,)
};

/// The entry of this transport in the list of transports.
TransportKind self_transport();

}  // namespace halocline::comm
