// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The ways in which the communication benchmarks move their faces, by name.
///
/// A carrier is a transport of the library at one depth of buffers, or "mpi", the plain hand-written exchange
/// (plain_mpi.hpp). A kernel written over either runs as `with_exchange(grid, bytes, carrier, options, kernel)`.

#include <limits>
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

/// Why a carrier cannot serve a grid; empty when it can. Collective: yes.
/// @throws InvalidArgument  for a number of buffers that is neither 1 nor 2
std::string unavailable_reason(const Carrier& carrier, const comm::ProcessGrid& grid);

/// All transports that the library knows of, at both depths, and "mpi" first.
std::vector<Carrier> all_carriers();

/// Calls `make(std::shared_ptr<Exchange>)` with a new exchange of the carrier's type.
/// @throws InvalidArgument  as HaloExchange and PlainMpi do. Collective: yes.
template <class Make>
auto with_exchange(const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes, const Carrier& carrier,
                   const comm::HaloOptions& options, Make&& make) {
  if (carrier.transport == "mpi") return make(std::make_shared<PlainMpi>(grid, face_bytes));
  return make(std::make_shared<comm::HaloExchange>(grid, face_bytes, carrier.transport, options));
}

/// Ceilings of a benchmark that computes nothing: only the cache line is known.
Ceilings no_ceilings(double cache_line_seconds = std::numeric_limits<double>::quiet_NaN());

}  // namespace halocline::bench
