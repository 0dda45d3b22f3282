// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The ways in which the communication benchmarks move their faces, selected by name.
///
/// A carrier is a transport of the library with one or two buffers, or "mpi", the plain hand-written exchange
/// (plain_mpi.hpp). A kernel written over either type runs as `with_exchange(grid, bytes, carrier, options, kernel)`.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/plain_mpi.hpp"
#include "bench/result.hpp"

namespace halocline::bench {

struct Carrier {
  std::string transport;  ///< a name as for comm::make_transport, or "mpi"
  int buffers = 2;        ///< 1 or 2; "mpi" has 1

  comm::HaloOptions options() const {
    comm::HaloOptions made;
    made.buffering = buffers == 1 ? comm::Buffering::one : comm::Buffering::two;
    return made;
  }
};

/// The reason why a carrier cannot serve a grid; empty if it can. Collective: yes.
/// @throws InvalidArgument  a number of buffers other than 1 or 2
std::string unavailable_reason(const Carrier& carrier, const comm::ProcessGrid& grid);

/// "mpi" first, then all transports of the library, with one and with two buffers.
std::vector<Carrier> all_carriers();

/// Calls `make(std::shared_ptr<Exchange>)` with a new exchange of the carrier's type.
/// @throws InvalidArgument  as HaloExchange and PlainMpi do. Collective: yes.
template <class Make>
auto with_exchange(const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes, const Carrier& carrier,
                   const comm::HaloOptions& options, Make&& make) {
  if (carrier.transport == "mpi") return make(std::make_shared<PlainMpi>(grid, face_bytes));
  return make(std::make_shared<comm::HaloExchange>(grid, face_bytes, carrier.transport, options));
}

}  // namespace halocline::bench
