// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The symmetries of a crystal that map grid points onto grid points.
///
/// With them a ground state needs the k-points of an irreducible part of the zone only. The orbitals of the others
/// would be images of these orbitals. So the density of all is the mean of the images of the density of these, and
/// forces likewise. A symmetry maps point i to rotation i + shift. The stencil has the symmetry of the lattice
/// (directions.hpp), so that energies of images are equal to rounding; only at the border of the zone, where a k-point
/// and its image differ by a reciprocal vector, they differ by the stencil's error.

#include "halocline/tddft/base/decomposition.hpp"

#include <array>
#include <span>
#include <vector>

namespace halocline::tddft {

/// A symmetry from its action on the points of the grid.
/// @param rotation  numbers of the image of one step along each axis, in columns
/// @param shift     of the point 0
/// @throws InvalidArgument  a rotation that does not keep lengths, or an atom whose image is none of its species within
///                          2e-5 bohr
Symmetry symmetry_of(const System& system, const std::array<std::array<int, 3>, 3>& rotation,
                     const std::array<std::int64_t, 3>& shift);

/// Replaces a field by the mean of its images. @param field  shape (points of the box,)
/// Collective over decomposition.space() if there are symmetries.  Cost: points x symmetries; the whole grid on every
/// process.
void symmetrise(std::span<double> field, const Decomposition& decomposition, std::span<const Symmetry> symmetries);

/// The same for a field of vectors. @param field  shape (3, points of the box), Cartesian components
void symmetrise_vectors(std::span<double> field, const Decomposition& decomposition,
                        std::span<const Symmetry> symmetries);

/// The mean of the images of a vector of the whole crystal, e.g. a current. The vector itself without symmetries.
Vec3 symmetrised(const Vec3& vector, std::span<const Symmetry> symmetries);

/// Whether every symmetry leaves a vector alone, up to rounding.
bool keep(std::span<const Symmetry> symmetries, const Vec3& vector);

/// Replaces vectors of the atoms by the mean of their images. Collective: no.
void symmetrise(std::span<Vec3> of_atoms, std::span<const Symmetry> symmetries);

}  // namespace halocline::tddft
