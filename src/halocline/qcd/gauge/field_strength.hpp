// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The clover field strength F_munu(x) = (Q - Q^dagger) / 8.
///
/// Q_munu(x) is the sum of the four plaquettes ("leaves") of the mu-nu plane that touch x, each starting at x and
/// turning from mu to nu. F is anti-hermitian and antisymmetric in mu and nu, transforms as F -> g F g^dagger, and
/// keeps its trace (of order a^6), as the operator of docs/conventions.md wants it. In the continuum limit F is
/// i a^2 times the hermitian field strength (with the coupling in it), up to order a^4.

#include <vector>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/su3.hpp"

namespace halocline::qcd::gauge {

/// The six planes mu < nu in the order in which fields of F hold them: xy xz xt yz yt zt.
inline constexpr int field_strength_plane[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/// F_munu at one site.
/// @param u   links with valid ghost sites
/// @param x   local coordinates in the box of this process
/// @param mu, nu  axes; equal ones give zero
/// @throws InvalidArgument  for a site outside the local box or an axis outside 0..3
/// Collective: no.  Cost: 12 products of 3x3 matrices.
Su3<double> field_strength(const GaugeField& u, const lattice::Coordinates<4>& x, int mu, int nu);

/// F_munu of the six planes at every local site.
/// @param u   links with valid ghost sites
/// @returns   `[t][z][y][x][plane]` of the local box, planes as in field_strength_plane: element
///            `6 * linear_index(x, local) + plane`
/// Collective: no.  Cost: 72 products of 3x3 matrices a site (14256 flops), 864 bytes a site held.
std::vector<Su3<double>> field_strength(const GaugeField& u);

}  // namespace halocline::qcd::gauge
