// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The nucleon two-point function.
///
///   O = epsilon_abc (u_a^T C gamma5 d_b) u_c,   C = gamma_y gamma_t,   Obar = O^dagger gamma_t,
///   G(p, t) = sum_x exp(-i p (x - x0)) < O(x, t0 + t) Obar(x0, t0) >,   C_P(p, t) = tr[P G(p, t)].
///
/// P = (1 + gamma_t)/2 selects the nucleon running forwards in time (and its parity partner backwards), P = (1 -
/// gamma_t)/2 the partner forwards. The hopping term in D multiplies a quark running forwards by 1 + gamma_t, so the
/// forward correlator of the first P is positive. No volume or kappa factor.
///
/// With D~ = (C gamma5) S_d (gamma_t (C gamma5)^dagger gamma_t) the two Wick contractions are, for each pair (c, c') of
/// colours left over at sink and source,
///   V[c c'] = sum epsilon_abc epsilon_c'b'a' (D~[b b'])^T S_u[a a']          a 4x4 spin matrix, 2304 multiply-adds,
///   G = - sum_cc' ( tr(V[c c']) S_u[c c'] + S_u[c c'] V[c c'] ).
///
/// Shifting the source time to index 0 carries some time slices across the end of the lattice. These are multiplied by
/// the cube of the boundary phase, -1 for an antiperiodic boundary, because three quarks cross it. The result is then
/// the same wherever the source was put. Space must be periodic: a spatial phase would shift the momenta of a baryon
/// away from integers.

#include <array>
#include <complex>
#include <span>
#include <vector>

#include "halocline/qcd/measure/momentum.hpp"
#include "halocline/qcd/measure/propagator.hpp"

namespace halocline::qcd::measure {

/// G as a matrix in spin, for one momentum.
struct NucleonCorrelator {
  Momentum momentum{0, 0, 0};
  std::vector<std::array<std::complex<double>, 16>> values;  ///< shape (T,): [4 sink spin + source spin], DeGrand-Rossi

  /// tr[(1 + parity gamma_t)/2 G(t)], shape (T,).
  /// @param parity  +1 or -1
  /// @throws InvalidArgument  for another parity
  std::vector<std::complex<double>> project(int parity) const;
};

/// The proton for (up, down), the neutron for (down, up).
/// @param boundary_t  phase of psi(t + T) / psi(t), as in the action
/// @return  one entry a momentum, the same on every rank
/// @throws InvalidArgument  on every rank, when the propagators differ in lattice, process grid or source, or when no
///                          momentum is given
/// Collective: yes.  Cost: reads both propagators once and makes 12,700 fused multiply-adds a site.
std::vector<NucleonCorrelator> nucleon(const Propagator& up, const Propagator& down, std::complex<double> boundary_t,
                                       std::span<const Momentum> momenta);

/// At zero momentum.
NucleonCorrelator nucleon(const Propagator& up, const Propagator& down, std::complex<double> boundary_t);

}  // namespace halocline::qcd::measure
