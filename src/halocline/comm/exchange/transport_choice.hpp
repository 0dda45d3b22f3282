// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The fastest transport for one exchange, found by trying (`transport = "auto"`).
///
/// Every candidate that can serve the grid runs the exchange itself, with its sizes, a few dozen times. The time of a
/// candidate is the median over blocks of the slowest rank's time a step, so all ranks see the same numbers and choose
/// alike; of equals (within 2 %) the first in the list wins. Results never depend on the choice. A trial never ends or
/// hangs a job: OpenSHMEM, whose start does where it fails, is a candidate only where it runs already, and windows of
/// MPI are opened only where /dev/shm has room for them.

#include "halocline/comm/exchange/halo_exchange.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halocline::comm {

/// One candidate.
struct TransportTrial {
  std::string name;
  double seconds;       ///< a step; 0 when it could not be tried
  std::string problem;  ///< why not; empty when it was tried
};

struct TransportChoice {
  std::string name;                    ///< the fastest
  std::vector<TransportTrial> trials;  ///< in the order of preference among equals
};

/// @param face_bytes  as for HaloExchange
/// @param seconds     for each candidate, about
/// @throws InvalidArgument  as HaloExchange does, and when no transport can serve the grid
/// Collective: yes.  Cost: about `seconds` for each usable transport.
TransportChoice choose_transport(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                                 const HaloOptions& options = {}, double seconds = 0.01);

}  // namespace halocline::comm
