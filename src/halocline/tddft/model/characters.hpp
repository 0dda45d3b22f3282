// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The s, p, d and f character of orbitals within spheres around atoms.
///
/// In a sphere of radius R an orbital is expanded in j_l(q_n r) Y_lm with j_l'(q_n R) = 0, a complete set that is
/// orthogonal in the sphere; its first functions suffice for smooth orbitals. The squares of the coefficients of one l,
/// summed over n, m and the atoms of an element, are the part of the orbital there that has this angular momentum.

#include "halocline/tddft/model/model.hpp"

#include <vector>

namespace halocline::tddft {

/// For each orbital the norm of its part of angular momentum l within the spheres of one species.
/// @param species  index into System::species
/// @param l        0 to 3
/// @param radius   of the spheres [bohr]; spheres that overlap count their overlap twice
/// @return shape (all channels, states), the same on every rank
/// @throws InvalidArgument  on every rank: another l, a species that does not exist, a radius that is not positive
/// Collective over the world.  Cost: projectors of four functions and 2 l + 1 harmonics for each atom, and half an
/// application of them to all orbitals.
std::vector<double> characters(const Model& model, const State& state, int species, int l, double radius);

}  // namespace halocline::tddft
