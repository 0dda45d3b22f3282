// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The halo exchange that one would write by hand with MPI, to compare with: MPI_Irecv, MPI_Isend, MPI_Waitall.
///
/// One receive and one send buffer a face, no flags, no counting, no checks. It has the members of comm::HaloExchange
/// that the benchmarks use, so that a kernel is written once over both. Along an axis of one process nothing is sent:
/// the send buffer of a face is the receive buffer of the opposite one, as in the library.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "halocline/comm/halo_exchange.hpp"

namespace halocline::bench {

/// Faces through plain MPI.
class PlainMpi {
public:
  /// Why this grid cannot be served: built without MPI, or a group that does not stand on it. Empty when it can.
  static std::string unavailable_reason(const comm::ProcessGrid& grid);

  /// @param face_bytes  shape (grid.ndim(),) [bytes]; below 2 GiB
  /// @throws InvalidArgument  where unavailable_reason() is not empty. Collective: no.
  PlainMpi(const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes);
  PlainMpi(PlainMpi&&) noexcept;
  PlainMpi& operator=(PlainMpi&&) = delete;
  ~PlainMpi();

  bool active(comm::Face face) const noexcept;
  std::span<std::byte> send_buffer(comm::Face face) noexcept;
  std::span<const std::byte> recv_buffer(comm::Face face) const noexcept;

  /// Starts the receives for the messages that leave through these faces elsewhere. Before packing, so that no message
  /// comes unexpected.
  void receive(comm::FaceMask faces = comm::all_faces);
  void post(comm::FaceMask faces = comm::all_faces);  ///< starts the sends
  void wait(comm::Face face);                         ///< this face has arrived
  void wait_all(comm::FaceMask faces = comm::all_faces);
  void wait_sent();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What an exchange does before packing: only plain MPI has something to do.
inline void start_receiving(PlainMpi& exchange, comm::FaceMask faces = comm::all_faces) { exchange.receive(faces); }
inline void start_receiving(comm::HaloExchange&, comm::FaceMask = comm::all_faces) {}

/// What it does before a send buffer is written again: plain MPI must know that the last message has left, the library
/// sees to that itself.
inline void before_refill(PlainMpi& exchange) { exchange.wait_sent(); }
inline void before_refill(comm::HaloExchange&) {}

/// What it does when the received data has been used: with one buffer the library tells the neighbours.
inline void finish_using(PlainMpi&) {}
inline void finish_using(comm::HaloExchange& exchange) {
  if (exchange.options().buffering == comm::Buffering::one) exchange.release();
}

}  // namespace halocline::bench
