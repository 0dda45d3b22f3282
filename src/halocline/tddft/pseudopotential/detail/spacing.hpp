// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The grid spacing that a pseudopotential needs.
///
/// A grid of spacing h has no waves beyond pi/h, and the stencil gives waves beyond G = 0.8 pi/h too little kinetic
/// energy. Second-order perturbation theory estimates the contribution of such waves. The potential scatters an orbital
/// of density n near the ion into plane waves q with energy q^2/2. The waves beyond G lower the energy of the ion's
/// electrons by
///   E(G) = n / pi^2  integral_G^inf |w(q)|^2 dq,
/// where w(q) is the Fourier transform of V psi / psi(0): of the local potential, or of a projector times h times its
/// own overlap with the orbital. The coarsest spacing is the one for which E(G) is 1e-3 hartree.
///
/// Check by ground states of single atoms in periodic boxes, at a grid point and between eight of them [bohr]:
///
///   atom                 measured spacing of 1e-3 hartree error   estimate
///   hydrogen                                               0.37       0.42
///   carbon                                                 0.28       0.28
///   oxygen                                                 0.20       0.20
///   silicon                                                0.49       0.39
///   gold                                                   0.28       0.33
///   silicon (KY file)                                      0.56       0.48
///
/// Files that are optimised for few plane waves need fewer points than this estimate says (detail/tabulated.cpp).
/// docs/pseudopotentials.md has measured spacings of all families.

namespace halocline::tddft {
class Pseudopotential;
namespace detail {

/// Estimates Pseudopotential::coarsest_spacing from the other functions [bohr], accurate to about 25 %.
/// Cost: some 10^5 evaluations of a radial function; called by constructors.
double coarsest_spacing(const Pseudopotential& pseudopotential);

}  // namespace detail
}  // namespace halocline::tddft
