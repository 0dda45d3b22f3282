// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How fine a grid a pseudopotential needs.
///
/// A grid of spacing h holds no waves beyond pi/h, and the stencil gives those beyond G = 0.8 pi/h too little kinetic
/// energy. Second-order perturbation theory says what such waves contribute: an orbital of density n near the ion is
/// scattered by the potential into plane waves q with energy q^2/2, and those beyond G lower the energy of the ion's
/// electrons by
///   E(G) = n / pi^2  integral_G^inf |w(q)|^2 dq,
/// w(q) being the Fourier transform of V psi / psi(0): of the local potential, or of a projector times h times its own
/// overlap with the orbital. The coarsest spacing is where E(G) is 1e-3 hartree. Measured by ground states of single
/// atoms in periodic boxes, at a grid point and between eight of them, an error of 1e-3 hartree is met at 0.37 bohr by
/// hydrogen (estimate 0.39), at 0.20 by oxygen (0.20), at 0.49 by silicon (0.36), at 0.28 by gold (0.32), and at 0.56
/// by silicon of the KY file (0.48).

namespace halocline::tddft {
class Pseudopotential;
namespace detail {

/// Estimate of Pseudopotential::coarsest_spacing from its other functions [bohr], good to some 25 %.
/// Cost: some 10^5 evaluations of a radial function; for constructors.
double coarsest_spacing(const Pseudopotential& pseudopotential);

}  // namespace detail
}  // namespace halocline::tddft
