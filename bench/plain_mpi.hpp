// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The halo exchange that one would write by hand with MPI, for comparison: MPI_Irecv, MPI_Isend, MPI_Waitall.
///
/// One receive and one send buffer for each face, no flags, no counting, no checks. It has the members of
/// comm::HaloExchange that the benchmarks use, so that one kernel works with both. Along an axis of one process nothing
/// is sent: the send buffer of a face is the receive buffer of the opposite one, as in the library.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "halocline/comm/exchange/halo_exchange.hpp"

namespace halocline::bench {

/// Faces through plain MPI.
class PlainMpi {
public:
  /// The reason why this grid cannot be served: built without MPI, or a group without MPI. Empty if it can.
  static std::string unavailable_reason(const comm::ProcessGrid& grid);

  /// @param face_bytes  shape (grid.ndim(),) [bytes]; below 2 GiB
  /// @throws InvalidArgument  there is an unavailable_reason(). Collective: no.
  PlainMpi(const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes);
  PlainMpi(PlainMpi&&) noexcept;
  PlainMpi& operator=(PlainMpi&&) = delete;
  ~PlainMpi();

  bool active(comm::Face face) const noexcept;
  std::span<std::byte> send_buffer(comm::Face face) noexcept;
  std::span<const std::byte> recv_buffer(comm::Face face) const noexcept;

  /// Starts the receives for the messages that other processes send through these faces. Call before packing, so that
  /// no message arrives unexpected.
  void receive(comm::FaceMask faces = comm::all_faces);
  void post(comm::FaceMask faces = comm::all_faces);  ///< starts the sends
  void wait(comm::Face face);                         ///< this face has arrived
  void wait_all(comm::FaceMask faces = comm::all_faces);
  void wait_sent();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Called before packing: starts the receives of plain MPI; the library needs nothing here.
inline void start_receiving(PlainMpi& exchange, comm::FaceMask faces = comm::all_faces) { exchange.receive(faces); }
inline void start_receiving(comm::HaloExchange&, comm::FaceMask = comm::all_faces) {}

/// Called before a send buffer is written again: plain MPI must wait until the last message has left; the library takes
/// care of this itself.
inline void before_refill(PlainMpi& exchange) { exchange.wait_sent(); }
inline void before_refill(comm::HaloExchange&) {}

/// Called when the received data has been used: with one buffer the library notifies the neighbours.
inline void finish_using(PlainMpi&) {}
inline void finish_using(comm::HaloExchange& exchange) {
  if (exchange.options().buffering == comm::Buffering::one) exchange.release();
}

}  // namespace halocline::bench
