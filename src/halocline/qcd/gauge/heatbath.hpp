// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Quenched gauge fields: heatbath and over-relaxation for the Wilson gauge action.
///
/// The weight of a field is exp(-S), S = beta sum_{x, mu < nu} w_munu (1 - Re tr U_munu(x) / 3), with w = 1, or on an
/// anisotropic lattice w = 1 / xi0 for spatial planes and xi0 for those that contain t. A link U couples to the other
/// links only through the sum A of its staples: its weight is exp(beta / 3 Re tr(U A)).
///
/// The heatbath replaces U by a U with a in three SU(2) subgroups in turn (Cabibbo and Marinari, Phys. Lett. B 119
/// (1982) 387), each drawn exactly from its distribution (Kennedy and Pendleton, Phys. Lett. B 156 (1985) 393).
/// Over-relaxation (Brown and Woch, Phys. Rev. Lett. 58 (1987) 2394) reflects each subgroup about its maximum, which
/// keeps the action and moves the field far. Links of one direction and one parity do not couple to each other. All
/// processes and threads update them together, in eight steps a sweep.
///
/// The random numbers of a link are keyed by (seed, sweep, global link), and the staples are added in one order, so
/// the field is the same, bit for bit, on any process grid and with any number of threads.

#include "halocline/qcd/field/gauge_field.hpp"

#include <cstdint>

namespace halocline::qcd::gauge {

struct HeatbathParameters {
  double beta;               ///< inverse coupling 6 / g^2, not negative
  int overrelaxation_steps;  ///< sweeps of over-relaxation after each heatbath sweep
  std::uint64_t seed;        ///< of the whole Markov chain
  double xi0 = 1;            ///< bare anisotropy: beta xi0 in planes with t, beta / xi0 in the others
};

/// One heatbath sweep over all links and `overrelaxation_steps` sweeps of over-relaxation. Ghosts must be up to date,
/// and are up to date afterwards. The heatbath reunitarises every link that it writes (Gram-Schmidt).
///
/// @param sweep_index  place in the Markov chain, below 2^32: different for each sweep; a run that continues from a
///                     saved field continues the count
/// @throws InvalidArgument  on every rank: parameters out of range, or an odd extent of the whole lattice
/// @throws core::Error      on every rank: a link is not finite; the field is then unusable
/// Collective: yes.  Cost: about 4000 flops a link and sweep, 16 messages a split axis and sweep, scratch of 72 bytes a
/// site; 0.6 us of one AVX-512 core a link in the heatbath, 0.4 us in over-relaxation.
void heatbath_sweep(GaugeField& gauge, const HeatbathParameters& parameters, std::uint64_t sweep_index);

/// One sweep of over-relaxation alone. The action stays the same to rounding.
/// @param xi0  bare anisotropy, as above
/// Errors, ghosts, cost: as heatbath_sweep.
void overrelaxation_sweep(GaugeField& gauge, double xi0 = 1);

}  // namespace halocline::qcd::gauge
