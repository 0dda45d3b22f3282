// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `hybrid`: shared memory between neighbours of one node, another transport between nodes.
///
/// Each of the two is opened with the capacities of its own faces, and 0 for those of the other. Which faces are near
/// is known to both neighbours of each alike. The network is not opened at all when no face of any rank needs it.

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

/// What `hybrid` takes between the nodes when it is not told: mpi_persistent where the group stands on MPI, `simulated`
/// in a simulation. Collective: yes.
std::string default_network(const ProcessGrid& grid);

/// Why `hybrid` cannot be used; empty where it can. @param grid  nullptr: as far as can be told without one
/// @param network  as for HybridTransport; empty for default_network(*grid)
/// Collective: yes, with a grid.
std::string hybrid_unavailable_reason(const ProcessGrid* grid, std::string_view network = {});

class HybridTransport final : public Transport, private Acknowledgements {
public:
  /// @param network  a name as for make_transport, but no hybrid; empty for default_network(grid)
  /// @param options  ranks_per_node here, the rest for the network
  explicit HybridTransport(std::string network, TransportOptions options = {});

  std::string_view name() const noexcept override { return name_; }
  /// @throws InvalidArgument  when ranks_per_node takes ranks as a node that do not share memory, and for what the two
  ///                          transports refuse; on every rank
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  void dispatch() override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int face, int slot) override;
  bool sent(int face, int slot) override;
  /// nullptr where the network has none, which is known after open().
  Acknowledgements* acknowledgements() noexcept override;
  bool direct(int face) const noexcept override;
  /// Only where both are, which is known after open().
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
  std::unique_ptr<Transport> near_, far_;  ///< far_ is null when nobody needs it
  std::vector<bool> is_far_;               ///< shape (2 ndim,): goes by far_
  std::vector<unsigned> looks_;            ///< shape (2 ndim,): at a near face, since it last advanced the network
  int some_far_face_ = -1;
};

/// The line of this transport in the list of all.
TransportKind hybrid_transport();

}  // namespace halocline::comm
