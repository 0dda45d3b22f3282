// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The built-in pseudopotentials: dual-space Gaussians of Goedecker, Teter and Hutter (Phys. Rev. B 54, 1703, 1996)
/// with the parameters of Hartwigsen, Goedecker and Hutter (Phys. Rev. B 58, 3641, 1998, table I), made for the local
/// density approximation in Pade form. Spin-orbit coupling is left out.
///
/// With x = r/r_loc,
///   V_local(r) = -Z/r erf(x/sqrt 2) + exp(-x^2/2) (C1 + C2 x^2 + C3 x^4 + C4 x^6),
///   p_i^l(r) = sqrt 2 r^(l+2i) exp(-r^2/(2 r_l^2)) / (r_l^(l+2i+3/2) sqrt Gamma(l+2i+3/2)),   i = 0, 1, 2,
/// and all functions have closed forms in both spaces. The paper tabulates h_ii; h_ij for i < j is a fixed multiple of
/// h_jj.
///
/// The projectors of an l are cut off where all of them have fallen to 1e-6 of their maxima, at 5.3 to 6 r_l, because
/// the cost of the nonlocal part grows with the volume of the sphere. For silicon (16^3 points in the cubic cell) this
/// changes the total energy by 1.5e-6 hartree an atom, little compared with the error of the spacing. A cut at 1e-8
/// would leave 2e-8 and cost half as much again; a cut at 1e-5 would leave 2e-5.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace halocline::tddft {

/// @param symbol   of the element, in any case
/// @param valence  charge of the ion, for elements with two of them in the paper; 0: the first of goedecker_valences()
/// @throws core::InvalidArgument  an unknown element or valence; lists the available ones
std::shared_ptr<const Pseudopotential> goedecker(std::string_view symbol, int valence = 0);

/// The available elements, by atomic number.
std::vector<std::string> goedecker_symbols();
/// Valences of an element, the usual one first: with d electrons for Cu, Ag and Au, without semicore electrons for Na
/// and Ga. Empty for an unknown element.
std::vector<int> goedecker_valences(std::string_view symbol);

}  // namespace halocline::tddft
