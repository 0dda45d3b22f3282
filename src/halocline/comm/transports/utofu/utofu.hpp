// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `utofu`: puts of the Tofu-D interconnect through its own interface, without MPI below.
///
/// A face has a virtual control queue (VCQ) on one of the network interfaces (TNIs) of the node. So faces leave
/// through several interfaces at once, and several threads may post faces of their own. Faces share a VCQ when no
/// more are left.
///
/// Data and flag are one put with strong ordering. Its last bytes, the flag, are stored last, so the receiver only
/// polls its memory. Boxes stand on 256-byte boundaries and messages fill whole lines up to the flag. The hardware
/// needs this to put arriving data into the last-level cache. A message of up to 8 bytes travels with its flag inside
/// the descriptor, into a line of its own, and so do acknowledgements: this side reads no memory for them. The
/// completion queue (TCQ) of a VCQ tells when an outbox may be refilled.
///
/// Source: Kanamori et al., "Acceleration of communication with low latency uTofu interface in LQCD application",
/// sections 2, 3.2 to 3.5; Fujitsu, "Development Studio uTofu User's Guide". Compiled where the vendor's header is;
/// the tests compile it against a loopback shim of that interface.

#include "halocline/comm/exchange/transport.hpp"

#include <memory>
#include <string>

namespace halocline::comm {

/// Why `utofu` cannot be used; empty when it can.
/// @param grid  may be nullptr; reasons that depend on a grid are then left out
/// Collective: yes, with a grid.
std::string utofu_unavailable_reason(const ProcessGrid* grid);

class UtofuTransport final : public Transport, private Acknowledgements {
public:
  /// @param options  uses interfaces, cache_injection and piggyback_bytes. Interfaces are numbered 0, 1, ... among
  ///                 those that the process may use
  explicit UtofuTransport(TransportOptions options = {});
  ~UtofuTransport() override;

  std::string_view name() const noexcept override { return "utofu"; }
  /// @throws InvalidArgument  a wrong number of interfaces or one that is not there, piggyback_bytes above 8, a
  ///                          message longer than one put; on every rank
  /// @throws core::Error      when no control queue is left or memory cannot be registered; on every rank
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int, int) override {}
  bool sent(int face, int slot) override;
  Acknowledgements* acknowledgements() noexcept override { return this; }
  bool direct(int face) const noexcept override;
  /// True when every face to another process has a VCQ of its own.
  bool concurrent() const noexcept override;
  bool neighbour_gone(int face) override;
  void abandon() noexcept override;

private:
  void acknowledge(int face, std::uint64_t count) override;
  std::uint64_t acknowledged(int face) override;

  struct State;
  TransportOptions options_;
  std::unique_ptr<State> state_;
};

/// The entry of this transport in the list of transports.
TransportKind utofu_transport();

}  // namespace halocline::comm
