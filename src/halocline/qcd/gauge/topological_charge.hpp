// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Topological charge and action density from the clover field strength.
///
/// With G the anti-hermitian field strength of field_strength.hpp less its trace,
///   charge = -1/(32 pi^2) sum_x sum_munurhosigma epsilon_munurhosigma tr G_munu G_rhosigma   (epsilon_xyzt = 1)
///          = -1/(4 pi^2) sum_x tr (G_xy G_zt - G_xz G_yt + G_xt G_yz),
///   energy = -1/2 sum_munu tr G_munu G_munu, the mean over sites (1/4 G^a G^a),
/// in the conventions of Luescher (arXiv:1006.4518, section 2). The charge is no integer on a rough field: smear or
/// flow it first. A reflection of one axis changes its sign and keeps the energy.

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::gauge {

/// Sums of one pass over the lattice.
struct CloverObservables {
  double plaquette = 1;           ///< mean Re tr / 3 of all plaquettes; 1 for the unit field
  double energy_plaquette = 0;    ///< a^4 E = 36 (1 - plaquette), Luescher's eq. 3.1
  double energy_clover = 0;       ///< a^4 E from the clover, symmetric around the site
  double topological_charge = 0;  ///< summed over the whole lattice
};

/// @param u   links with valid ghost sites
/// Collective: yes; all ranks get the same bits.  Cost: 72 products of 3x3 matrices a site.
CloverObservables clover_observables(const GaugeField& u);

/// The topological charge alone, at the same cost.
double topological_charge(const GaugeField& u);

/// a^4 E, the mean clover action density alone, at the same cost.
double energy_density(const GaugeField& u);

}  // namespace halocline::qcd::gauge
