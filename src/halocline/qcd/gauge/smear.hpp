// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// APE and stout smearing of links.
///
/// APE (Albanese et al., Phys. Lett. B 192 (1987) 163):
///   U' = P[(1 - alpha) U + (alpha / n) sum of the n staples], P the SU(3) matrix that maximises Re tr(P^dagger M).
/// Stout (Morningstar and Peardon, hep-lat/0311018, eqs. 1 to 4 with rho_munu = rho):
///   U' = exp(rho TA(C U^dagger)) U, C the sum of the staples, TA the traceless anti-hermitian part.
/// With `spatial` only links and staples in x, y, z take part (n = 4) and links in t stay as they are; else all do
/// (n = 6). Both commute with gauge transformations, lattice translations and rotations of the axes that take part.

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::gauge {

/// Which links are smeared, by staples of the same axes.
enum class SmearedAxes {
  all,      ///< x y z t
  spatial,  ///< x y z: keeps the transfer matrix
};

struct ApeParameters {
  double alpha = 0.5;  ///< weight of the staples, 0 to 1
  int steps = 1;
  SmearedAxes axes = SmearedAxes::all;
};

struct StoutParameters {
  double rho = 0.1;  ///< step; above about 0.125 (all axes) repeated steps are unstable
  int steps = 1;
  SmearedAxes axes = SmearedAxes::all;
};

/// Smears `u` in place; its ghosts are valid before and after.
/// @throws InvalidArgument  unless alpha is in [0, 1] and steps >= 0, on every rank
/// Collective: yes.  Cost a step: 48 products of 3x3 matrices a site and the projection (about ten sweeps over the
/// subgroups, 400 flops each, a link); one copy of the links; one exchange of ghosts.
void smear_ape(GaugeField& u, const ApeParameters& parameters);

/// Smears `u` in place; its ghosts are valid before and after.
/// @throws InvalidArgument  unless rho is finite and not negative, and steps >= 0, on every rank
/// Collective: yes.  Cost a step: 56 products of 3x3 matrices and 4 exponentials a site; half a copy of the links;
/// one exchange of ghosts.
void smear_stout(GaugeField& u, const StoutParameters& parameters);

}  // namespace halocline::qcd::gauge
