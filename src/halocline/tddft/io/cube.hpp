// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Writes a function on the grid as a Gaussian cube file, which molecular viewers read.

#include "halocline/tddft/base/decomposition.hpp"

#include <span>
#include <string>
#include <vector>

namespace halocline::tddft {

/// Gathers a function from the boxes of the processes on rank 0 of space(); empty on other ranks. Shape (z, y, x).
/// Collective over decomposition.space().
std::vector<double> gathered(const Decomposition& decomposition, std::span<const double> values);

/// Writes two comment lines, atoms, grid and values: lengths in bohr, z fastest, six numbers of 11 significant digits
/// on a line. PATH keeps its previous content until the new file is complete.
/// @param values   shape (points of the box,), e.g. the density [1/bohr^3]; the same in all groups that hold the box
/// @param comment  one line
/// @throws FileError  on every rank. Collective over the world.
void write_cube(const std::string& path, const System& system, const Decomposition& decomposition,
                std::span<const double> values, const std::string& comment);

}  // namespace halocline::tddft
