// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A function on the grid as a Gaussian cube file, which every viewer of molecules reads.

#include "halocline/tddft/base/decomposition.hpp"

#include <span>
#include <string>
#include <vector>

namespace halocline::tddft {

/// A function of the box of each process, whole on rank 0 of space(); empty elsewhere. Shape (z, y, x).
/// Collective over decomposition.space().
std::vector<double> gathered(const Decomposition& decomposition, std::span<const double> values);

/// Writes two comment lines, atoms, grid and values: lengths in bohr, z fastest, six numbers of 11 significant digits a
/// line. PATH keeps what it held until the new file is whole.
/// @param values   shape (points of the box,), e.g. the density [1/bohr^3]; the same in all groups that hold the box
/// @param comment  one line
/// @throws FileError  on every rank. Collective over the world.
void write_cube(const std::string& path, const System& system, const Decomposition& decomposition,
                std::span<const double> values, const std::string& comment);

}  // namespace halocline::tddft
