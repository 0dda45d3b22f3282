// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `mpi_persistent`: MPI requests that are made once and started in every step.
///
/// The flag is the last word of the message. A receive stands ready in every slot: release() starts the next one.
/// With two buffers this is a whole step before its message can come. So no message is ever unexpected, and large
/// messages go straight to their place. With one buffer a message may come before its receive; MPI then keeps it, or
/// makes its sender wait. Requests have a fixed length. So there is one send request for each length in use, made
/// when the length is first sent, and a receive takes the longest. Each transport has its own duplicate of the
/// communicator; the tag is the receiver's face and slot. A process that is its own neighbour sends itself nothing
/// through MPI.

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/mpi/mpi.hpp"

#include <memory>

namespace halocline::comm {

/// Why `mpi_persistent` cannot be used; empty when it can.
/// @param grid  may be nullptr; reasons that depend on a grid are then left out
std::string mpi_persistent_unavailable_reason(const ProcessGrid* grid);

/// The calls that make and start persistent requests. Both kinds of requests are completed by MPI_Test and freed by
/// MPI_Request_free.
struct PersistentCalls {
  std::string_view transport;
  int (*send_init)(const void* buffer, int bytes, int to, int tag, MPI_Comm comm, MPI_Request* request);
  int (*receive_init)(void* buffer, int bytes, int from, int tag, MPI_Comm comm, MPI_Request* request);
  int (*start)(MPI_Request* request);
};
/// Those of the MPI standard.
PersistentCalls standard_persistent_calls() noexcept;

class MpiPersistentTransport final : public Transport, private Acknowledgements {
public:
  explicit MpiPersistentTransport(const PersistentCalls& calls = standard_persistent_calls());
  ~MpiPersistentTransport() override;

  std::string_view name() const noexcept override { return calls_.transport; }
  /// @throws InvalidArgument  a message above 2 GiB, or several processes that do not stand on MPI
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int face, int slot) override;
  bool sent(int face, int slot) override;
  Acknowledgements* acknowledgements() noexcept override { return this; }
  bool direct(int face) const noexcept override;
  std::string thread_unavailable_reason() const override { return mpi_thread_unavailable_reason(); }
  void abandon() noexcept override;

private:
  void acknowledge(int face, std::uint64_t count) override;
  std::uint64_t acknowledged(int face) override;
  bool paced(int face) const noexcept override;

  struct State;
  PersistentCalls calls_;
  std::unique_ptr<State> state_;
};

/// The entry of this transport in the list of transports.
TransportKind mpi_persistent_transport();

}  // namespace halocline::comm
