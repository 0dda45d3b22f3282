// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Pseudopotentials in KY format (`Si_rps.dat`): tables of V_l and of the pseudo-atom's u_l = r R_l.
///
/// Line 1: number of radial steps M, step [angstrom], largest l, charge Z of the ion. Line 2: flag of a partial core,
/// then the core radius of each l [angstrom]. Then M + 1 lines: r, core density, V_l(r) [eV] for each l. Then M + 1
/// lines: r, u_l(r) [angstrom^(-1/2)] for each l.
///
/// The separable form is that of Kleinman and Bylander (Phys. Rev. Lett. 48, 1425, 1982). The caller names one of the
/// channels as the local potential; each other l has one projector,
///   p_l = (V_l - V_local) u_l / r,   h_l = 1 / integral of u_l^2 (V_l - V_local) dr.
/// The sixth digit of an energy depends on how the tables become functions, so this is fixed here:
///   - the integral of h_l: the trapezoidal rule over all but the last interval;
///   - p_l / r^l: a natural cubic spline from 0 to the first node beyond the largest core radius, with the value of the
///     first node at r = 0, and zero from the largest core radius on;
///   - the local potential in reciprocal space: the midpoint rule over the same nodes;
///   - the local potential in real space, for isolated systems: a natural cubic spline through its table, and -Z/r
///     beyond the end of the table;
///   - units: one electronvolt is 1/27.21138505 hartree and one angstrom 1/0.52917721067 bohr, the constants of the
///     code that these files come from.
/// (Between the core radius and their end the tables of carbon and hydrogen have -Z/r with a charge that is 4e-5 and
/// 2.5e-5 smaller. Omitting this part would lower all levels of acetylene equally, by 3 meV.)

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace halocline::tddft {

/// @param path       of the file
/// @param symbol     of the element, e.g. "Si", which the file does not contain; used as given
/// @param local_l    the l whose potential is the local one; -1: the largest
/// @param largest_l  ignore channels above this l; -1: use all. Files often have one channel more than their authors
///                   use: hydrogen is used with its s channel only, which is then the local one, and has no projector.
///                   (Its p channel differs from s by so little that h is -5400.)
/// @throws core::InvalidArgument  a local_l or largest_l that the file does not have; says which l it has
/// @throws core::FileError        a missing, truncated or foreign file, or one with a partial core
/// Collective: no; every process reads the file.
std::shared_ptr<const Pseudopotential> read_ky(const std::string& path, std::string_view symbol, int local_l = -1,
                                               int largest_l = -1);

}  // namespace halocline::tddft
