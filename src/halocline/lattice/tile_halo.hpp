// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The halo exchange of a stencil on tiled fields.

#include <cstddef>
#include <memory>
#include <string_view>

#include "halocline/lattice/neighbours.hpp"

namespace halocline::comm {
class HaloExchange;
}

namespace halocline::lattice {

/// The face through which the data leave that another process receives from its direction d.
constexpr comm::Face leaving_face(int d) { return {axis_of(d), -step_of(d)}; }

/// An exchange with room for the largest face of each split axis; null if no axis is split.
/// @param site_bytes  of all columns;  @param transport  by name; empty for the default
/// @throws InvalidArgument  as HaloExchange, on every rank. Collective: yes.
std::unique_ptr<comm::HaloExchange> open_halo(const Neighbours& neighbours, std::size_t site_bytes,
                                              std::string_view transport);

}  // namespace halocline::lattice
