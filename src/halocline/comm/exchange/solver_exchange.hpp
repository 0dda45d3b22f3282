// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Halo exchanges of solvers, by the settings of their group (group/solver_communication.hpp).

#include "halocline/comm/exchange/halo_exchange.hpp"

#include <span>
#include <string_view>

namespace halocline::comm {

/// An exchange by the settings of the grid's group: its buffers, who posts, the interfaces, and the time limit of
/// solves.
/// @param transport  of the caller, which the settings replace if they name one; as for HaloExchange
/// @throws InvalidArgument  as HaloExchange, and for interfaces where the transport does not choose among any; on every
///                          rank
/// Collective: yes.
HaloExchange solver_exchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                             std::string_view transport);

/// The name of the transport that solver_exchange() takes; "auto" decided by a trial. For several equal exchanges, of
/// which only one shall be tried.
/// Collective: yes.
std::string solver_transport(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                             std::string_view transport);

/// The faces that one thread of a team posts: every `threads`-th of the set, so that all threads together post all of
/// them.
constexpr FaceMask share_of(FaceMask faces, int thread, int threads) noexcept {
  FaceMask share = 0;
  for (int n = 0; faces != 0; ++n) {
    const FaceMask lowest = faces & (~faces + 1);
    if (n % threads == thread) share |= lowest;
    faces ^= lowest;
  }
  return share;
}

}  // namespace halocline::comm
