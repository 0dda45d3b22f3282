// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The fastest transport for one exchange, found by trials (`transport = "auto"`).
///
/// Every transport that can serve the grid runs the exchange itself, with its message sizes: 4 steps to warm up, then
/// 5 blocks of steps that share the time of the trial. The time of a block is the time of its slowest rank, and the
/// time of a transport is the median over the blocks. So all ranks see the same numbers and choose the same
/// transport. Times within 2 % count as equal; of equals the first in the list wins. Results never depend on the
/// choice.
///
/// A trial must not end or hang a job. OpenSHMEM ends the job if its start fails, so it is tried only where it runs
/// already. MPI windows are opened only where /dev/shm has room for them.

#include "halocline/comm/exchange/halo_exchange.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halocline::comm {

/// The trial of one transport.
struct TransportTrial {
  std::string name;
  double seconds;       ///< time of a step; 0 when it could not be tried
  std::string problem;  ///< why it could not be tried; empty when it was
};

struct TransportChoice {
  std::string name;                    ///< the fastest
  std::vector<TransportTrial> trials;  ///< in the order of preference among equals
};

/// @param face_bytes  as for HaloExchange
/// @param seconds     time of the trial of one transport, about
/// @throws InvalidArgument  for arguments that HaloExchange refuses, and when no transport can serve the grid
/// Collective: yes.  Cost: about `seconds` for each usable transport.
TransportChoice choose_transport(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                                 const HaloOptions& options = {}, double seconds = 0.01);

}  // namespace halocline::comm
