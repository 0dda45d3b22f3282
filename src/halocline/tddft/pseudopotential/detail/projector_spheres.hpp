// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The grid points around each atom where its projectors are non-zero, and the projectors' values there.
///
/// Displacements are counted without wrapping: the integer grid steps continue beyond the faces of the cell. Each step
/// has one displacement d = i h - R and one index in the cell, i modulo the extent. So periodic images need no loop of
/// their own. A sphere larger than the cell contains the same point several times, each time with its own d.
///
/// Two atoms of one species at the same position relative to the grid points have the same displacements, hence the
/// same projectors and phases. Both are stored once (a Shape), and each atom adds the list of its points (a Sphere). In
/// a crystal whose lattice constant is an integer number of grid steps, all projectors then stay in the first-level
/// cache.

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

/// The projectors of one species and one l. Projector (i, m) has the number first + i (2 l + 1) + m.
struct Shell {
  int l = 0;
  int radial = 0;  ///< number of radial functions
  int first = 0;
  double radius = 0;             ///< [bohr]
  std::vector<double> coupling;  ///< h_ij, shape (radial, radial) [hartree]
};

/// All projectors of a species.
struct ProjectorSet {
  std::vector<Shell> shells;
  int count = 0;      ///< number of projectors, counting m
  double radius = 0;  ///< the largest [bohr]
};

/// @throws InvalidArgument  for l above largest_harmonic_l, or a coupling that is not symmetric
ProjectorSet projector_set(const Pseudopotential& potential);

/// values[j] = p_j(d) of all projectors of a species. @param values  shape (count,)
void evaluate_projectors(const Pseudopotential& potential, const ProjectorSet& set, const Vec3& d,
                         std::span<double> values);

/// Points of a row: displacements that differ only along x, by one step each.
struct Row {
  std::int64_t begin = 0, end = 0;
  std::array<int, 3> step{};  ///< of the first point, relative to Shape::start
};

/// The projectors on the points of a sphere. Padding to a multiple of `unroll` points has zeros.
struct Shape {
  static constexpr std::int64_t unroll = 4;

  int species = 0;
  int count = 0;            ///< number of projectors
  std::int64_t points = 0;  ///< number of points on this process
  std::int64_t padded = 0;
  Vec3 start{};                       ///< displacement of step (0, 0, 0) [bohr]
  std::array<int, 3> steps{};         ///< number of steps along each axis
  std::vector<Row> rows;              ///< in order
  std::vector<Vec3> displacements;    ///< shape (points,) [bohr]
  core::AlignedArray<double> values;  ///< shape (padded, count) [bohr^(-3/2)]
  std::int64_t first_point = 0;       ///< index of its first phase in a table of all shapes
};

/// The points of a sphere in one z plane of the box.
struct PlaneRun {
  std::int64_t z = 0, begin = 0, end = 0;
};

/// The points of one atom on this process.
struct Sphere {
  int atom = 0;
  int shape = 0;
  std::vector<std::int32_t> index;  ///< shape (padded,): indices in the box; the last one repeated as padding
  std::vector<PlaneRun> planes;
};

/// All data of the atoms whose spheres reach this process, and the ranks that share each atom.
struct ProjectorSpheres {
  std::vector<ProjectorSet> species;
  std::vector<Shape> shapes;
  std::vector<Sphere> spheres;  ///< by atom
  std::int64_t phase_points = 0;
  /// For each atom of the system with projectors: the ranks of space() that hold points of it, ascending.
  std::vector<std::vector<int>> ranks_of_atom;
};

/// @throws InvalidArgument  as projector_set, the same on every rank. Collective: no.
/// Cost: visits the points of all spheres of the system to find the ranks, and those of this process for the
/// projectors.
ProjectorSpheres make_spheres(const System& system, const Decomposition& decomposition);

/// phases[p] = (cos, sin) of q . d at the points of a shape. Computes one sine and cosine for each axis. The factors
/// along an axis follow from each other by products, so that errors grow to at most a few dozen rounding units.
/// @param phases  shape (padded, 2)
void fill_phases(const Shape& shape, const Grid& grid, const Vec3& q, double* phases);

/// The same for phases q . d + d S d / 2. Along a row the factor from one point to the next changes by a constant
/// factor.
/// @param s  xx yy zz xy xz yz
void fill_curved_phases(const Shape& shape, const Grid& grid, const Vec3& q, const std::array<double, 6>& s,
                        double* phases);

}  // namespace halocline::tddft::detail
