// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The offset of every number in the memory orders of other codes: one plain formula for each order.
///
/// This is the reference of convert.hpp and the compiled form of the table in docs/conventions.md. Coordinates are
/// local, spins are those of the order's basis, `part` is 0 for the real and 1 for the imaginary part. Offsets count
/// numbers, from the first one of the array.

#include <cstdint>

#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order {

/// The place of a site among the local sites, 0 ... local volume - 1. Collective: no.
std::int64_t site_index(const SiteOrder& order, const lattice::Geometry4& geometry, const lattice::Coordinates<4>& x);

/// @param number_bytes  of a real, on which the lanes of some orders depend;  @param spins  4, or 1 of staggered quarks
std::int64_t spinor_offset(const SpinorOrder& order, const lattice::Geometry4& geometry,
                           const lattice::Coordinates<4>& x, int spin, int colour, int part, std::size_t number_bytes,
                           int spins = 4);

/// U_mu(x), row, column. For Directions::around_odd_sites x may lie one step below the box along mu, and the offset is
/// -1 where the array of another process holds the link.
std::int64_t gauge_offset(const GaugeOrder& order, const lattice::Geometry4& geometry, const lattice::Coordinates<4>& x,
                          int mu, int row, int column, int part, std::size_t number_bytes);

std::int64_t propagator_offset(const PropagatorOrder& order, const lattice::Geometry4& geometry,
                               const lattice::Coordinates<4>& x, int sink_spin, int sink_colour, int source_spin,
                               int source_colour, int part, std::size_t number_bytes);

/// The factor of the other code's link: its U_mu(x) is this times ours. Local coordinates, as for gauge_offset().
double link_factor(const GaugeOrder& order, const lattice::Geometry4& geometry, const lattice::Coordinates<4>& x,
                   int mu);

}  // namespace halocline::qcd::order
