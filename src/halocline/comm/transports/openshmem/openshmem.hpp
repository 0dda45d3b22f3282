// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `openshmem`: put, fence and flag of an OpenSHMEM library, found while the program runs.
///
/// The processing elements of OpenSHMEM are the processes of the job, so the group must consist of all of them, in
/// any order. The first exchange of several processes that uses this transport starts OpenSHMEM, after MPI.
/// MPI_Finalize ends it, unless the program has started it by itself.
///
/// Inboxes lie on the symmetric heap. The functions of the heap are collective over the job and need equal sizes. So
/// a transport takes as much as the rank that needs most, and never frees it. The next transport takes over a piece
/// that all ranks have left, if it is large enough. Sizes are rounded up to powers of two. So for each power of two
/// that it used, a program holds at most about twice as much as it ever used at once.
///
/// A put returns when the outbox may be refilled. Put-with-signal (OpenSHMEM 1.5) saves the fence where it works.

#include "halocline/comm/exchange/transport.hpp"

#include <memory>
#include <string>

namespace halocline::comm {

/// Why `openshmem` cannot be used; empty when it can.
/// @param grid  may be nullptr; reasons that depend on a grid are then left out
/// Collective: yes, with a grid.
std::string openshmem_unavailable_reason(const ProcessGrid* grid);

/// Why "auto" must not try `openshmem` here; empty for one process, and where OpenSHMEM runs already on every rank. A
/// start that fails ends the job inside the library. Collective: yes.
std::string openshmem_trial_unavailable_reason(const ProcessGrid& grid);

class OpenShmemTransport final : public Transport, private Acknowledgements {
public:
  OpenShmemTransport();
  ~OpenShmemTransport() override;

  std::string_view name() const noexcept override { return "openshmem"; }
  /// @throws InvalidArgument  where openshmem_unavailable_reason() says why; on every rank
  /// @throws core::Error      when the symmetric heap is full; on every rank
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int, int) override {}
  bool sent(int, int) override { return true; }
  Acknowledgements* acknowledgements() noexcept override { return this; }
  bool direct(int face) const noexcept override;
  std::string thread_unavailable_reason() const override;
  bool neighbour_gone(int face) override;
  void abandon() noexcept override;

private:
  void acknowledge(int face, std::uint64_t count) override;
  std::uint64_t acknowledged(int face) override;

  struct State;
  std::unique_ptr<State> state_;
};

/// The entry of this transport in the list of transports.
TransportKind openshmem_transport();

}  // namespace halocline::comm
