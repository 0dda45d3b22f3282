// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `fjmpi_persistent`: the persistent requests of Fujitsu's MPI (FJMPI_Prequest), which skip part of the work
/// of the standard ones. Everything else is as in `mpi_persistent`. Compiled where the vendor's header is; the tests
/// compile it against a shim over the standard requests.
///
/// Source: Kanamori et al., "Acceleration of communication with low latency uTofu interface in LQCD application",
/// section 4.1, configurations "fjmpi".

#include "halocline/comm/exchange/transport.hpp"

namespace halocline::comm {

/// The entry of this transport in the list of transports.
TransportKind fjmpi_persistent_transport();

}  // namespace halocline::comm
