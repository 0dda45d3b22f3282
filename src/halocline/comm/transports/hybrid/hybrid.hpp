// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `hybrid`: shared memory between neighbours of one node, another transport between nodes.
///
/// Each of the two transports is opened with the capacities of its own faces, and with 0 for the faces of the other
/// one. Both neighbours of a face agree whether it is near. The network is not opened at all when no face of any rank
/// needs it.

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/transports/shared_memory/shared_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::comm {

/// The transport that `hybrid` takes between the nodes by default: mpi_persistent where the group stands on MPI,
/// `simulated` in a simulation, `self` for one process. Collective: yes.
std::string default_network(const ProcessGrid& grid);

/// Why `hybrid` cannot be used; empty when it can.
/// @param grid     may be nullptr; reasons that depend on a grid are then left out
/// @param network  as for HybridTransport; empty for default_network(*grid)
/// Collective: yes, with a grid.
std::string hybrid_unavailable_reason(const ProcessGrid* grid, std::string_view network = {});

class HybridTransport final : public Transport, private Acknowledgements {
public:
  /// @param network  a name as for make_transport, but no hybrid; empty for default_network(grid)
  /// @param options  ranks_per_node here, the rest for the network
  explicit HybridTransport(std::string network, TransportOptions options = {});

  std::string_view name() const noexcept override { return name_; }
  /// @throws InvalidArgument  when ranks_per_node makes a node of ranks that do not share memory, and when one of the
  ///                          two transports refuses; on every rank
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  void dispatch() override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int face, int slot) override;
  bool sent(int face, int slot) override;
  /// nullptr when the network has no acknowledgements; known after open().
  Acknowledgements* acknowledgements() noexcept override;
  bool direct(int face) const noexcept override;
  /// True when both transports are; known after open().
  bool concurrent() const noexcept override;
  bool neighbour_gone(int face) override;
  void close() override;
  void abandon() noexcept override;

private:
  void acknowledge(int face, std::uint64_t count) override;
  std::uint64_t acknowledged(int face) override;
  bool paced(int face) const noexcept override;

  Transport& of(int face) const noexcept;
  void advance_network(int face);

  std::string network_name_, name_;
  TransportOptions options_;
  std::unique_ptr<Transport> near_, far_;  ///< far_ is null when no rank needs it
  std::vector<bool> is_far_;               ///< shape (2 ndim,): the face uses far_
  std::vector<unsigned> looks_;            ///< shape (2 ndim,): polls of a near face; some of them advance the network
  int some_far_face_ = -1;
};

/// The entry of this transport in the list of transports.
TransportKind hybrid_transport();

}  // namespace halocline::comm
