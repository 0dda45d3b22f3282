// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How fine a grid a pseudopotential needs.
///
/// A grid of spacing h holds no waves beyond G = pi/h. Second-order perturbation theory says what energy is missed for
/// want of them: an orbital of density n near the ion is scattered by the potential into plane waves q with energy
/// q^2/2, so that the waves beyond G would have lowered the energy of the ion's electrons by
///   E(G) = n / pi^2  integral_G^inf |w(q)|^2 dq,
/// w(q) being the Fourier transform of V psi / psi(0): of the local potential, or of a projector times h times its own
/// overlap with the orbital. The coarsest spacing is where E(G) is 1e-3 hartree.

namespace halocline::tddft {
class Pseudopotential;
namespace detail {

/// Estimate of Pseudopotential::coarsest_spacing from its other functions [bohr], good to some 20 %.
/// Cost: some 10^5 evaluations of a radial function; for constructors.
double coarsest_spacing(const Pseudopotential& pseudopotential);

}  // namespace detail
}  // namespace halocline::tddft
