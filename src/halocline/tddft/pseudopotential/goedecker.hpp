// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The built-in pseudopotentials: dual-space Gaussians of Goedecker, Teter and Hutter (Phys. Rev. B 54, 1703, 1996).
///
/// Two tables of parameters: "pade", of Hartwigsen, Goedecker and Hutter (Phys. Rev. B 58, 3641, 1998, table I), made
/// for the local density approximation in Pade form, hydrogen to radon; and "pbe", of Krack (Theor. Chem. Acc. 114,
/// 145, 2005) and later additions, made for PBE, hydrogen to radon and uranium. The numbers
/// are those of CP2K's library, with eight digits. Spin-orbit coupling is left out. detail/gaussian.hpp has the
/// functions.
///
/// The projectors of an l are cut off where all of them have fallen to 1e-6 of their maxima, at 5.3 to 6 r_l, because
/// the cost of the nonlocal part grows with the volume of the sphere. For silicon (16^3 points in the cubic cell) this
/// changes the total energy by 1.5e-6 hartree an atom, little compared with the error of the spacing. A cut at 1e-8
/// would leave 2e-8 and cost half as much again; a cut at 1e-5 would leave 2e-5.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::tddft {

/// @param symbol      of the element, in any case
/// @param valence     charge of the ion, for elements with several of them; 0: the first of goedecker_valences()
/// @param functional  "pade" or "pbe"
/// @throws core::InvalidArgument  an unknown element, valence or functional; lists the available ones
std::shared_ptr<const Pseudopotential> goedecker(std::string_view symbol, int valence = 0,
                                                 std::string_view functional = "pade");

/// The available elements, by atomic number.
std::vector<std::string> goedecker_symbols(std::string_view functional = "pade");
/// Valences of an element, the usual one first: with semicore electrons, as CP2K takes it, but without them for
/// Na (pade) and Ga, and without the filled s and p shells for Cu, Ag and Au. Empty for an unknown element.
std::vector<int> goedecker_valences(std::string_view symbol, std::string_view functional = "pade");

}  // namespace halocline::tddft
