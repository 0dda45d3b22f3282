// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `mpi_rma`: MPI's one-sided calls with a passive target.
///
/// The inboxes are a window that stays locked for all ranks until it is freed. A put is MPI_Put of the data,
/// MPI_Win_flush, and then the flag; without the flush MPI promises no order. All messages of a post are put before
/// the first is flushed, so that they travel side by side. The receiver polls its own memory. Now and then it calls
/// MPI: where the network cannot write by itself, the receiver's MPI has to. There the flush of a put waits for the
/// neighbour to be in MPI, as MPI has no other way to learn that data has arrived. Where memory is shared or the
/// network writes by itself, no process waits for another.
///
/// MPI_Win_free is collective and a destructor is not. So a transport that ends without close() leaves its window
/// with the group. The next transport that the group opens frees the windows that all ranks have left. A window that
/// some rank never leaves, because it failed or gave up, is never freed.

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/mpi/mpi.hpp"

#include <memory>
#include <string>

namespace halocline::comm {

/// Why `mpi_rma` cannot be used: a group without MPI, or a /dev/shm with no room for a window. Empty when it can.
/// @param grid  may be nullptr; reasons that depend on a grid are then left out
/// Collective: yes, the same on every rank; without a grid no.
std::string mpi_rma_unavailable_reason(const ProcessGrid* grid);

class MpiRmaTransport final : public Transport, private Acknowledgements {
public:
  MpiRmaTransport();
  ~MpiRmaTransport() override;

  std::string_view name() const noexcept override { return "mpi_rma"; }
  /// @throws InvalidArgument  a message above 2 GiB, several processes that do not stand on MPI, or no room in /dev/shm
  ///                          for the window; on every rank
  /// @throws core::Error      a window through which nothing arrives; on every rank
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  void dispatch() override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int, int) override {}
  bool sent(int face, int slot) override;
  Acknowledgements* acknowledgements() noexcept override { return this; }
  bool direct(int face) const noexcept override;
  std::string thread_unavailable_reason() const override { return mpi_thread_unavailable_reason(); }
  bool neighbour_gone(int face) override;
  void close() override;
  void abandon() noexcept override;

private:
  void acknowledge(int face, std::uint64_t count) override;
  std::uint64_t acknowledged(int face) override;

  struct State;
  struct Estate;
  std::unique_ptr<State> state_;
};

/// The entry of this transport in the list of transports.
TransportKind mpi_rma_transport();

}  // namespace halocline::comm
