// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Coulomb interaction of a crystal, of slabs and of wires in reciprocal space.
///
/// A crystal repeats along all axes: v(G) = 4 pi / G^2, and 0 at G = 0, where a uniform background makes it neutral.
///
/// A slab repeats along two axes. Along the third, the open one, its cell repeats for the orbitals' sake only, and 1/r
/// is cut to zero beyond half of the cell's length L. If all charges lie within L/2, every two of them interact, and
/// none with an image (Rozzi et al., Phys. Rev. B 73, 205119, 2006; Sohier, Calandra and Mauri, Phys. Rev. B 96,
/// 075448, 2017). With g along the slab, k across it and c = L/2,
///     v = 4 pi / G^2 (1 - exp(-g c) cos(k c)),     v(0) = -2 pi c^2.
/// A wire repeats along one axis, with wave number g; across it 1/r is cut beyond the radius c, half of the shorter
/// open length. With k across, and Bessel functions,
///     v = 4 pi / G^2 (1 + k c J1(k c) K0(g c) - g c J0(k c) K1(g c)),
///     v = 4 pi / k^2 (1 - J0(k c) - k c ln(c) J1(k c)) at g = 0,     v(0) = -pi c^2 (2 ln c - 1).
/// The zero of the potential is then far from a neutral slab or wire, the mean of both sides of a slab.

#include "halocline/tddft/base/grid.hpp"

namespace halocline::tddft {

/// v(G) [bohr^2] on a periodic grid. @param g  [1/bohr]
double coulomb_in_waves(const Grid& grid, const Vec3& g);

/// The number of open axes of a grid.
int open_axes(const Grid& grid) noexcept;

}  // namespace halocline::tddft
