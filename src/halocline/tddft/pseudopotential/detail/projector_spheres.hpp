// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The grid points around each atom where its projectors live, and what they are there.
///
/// Displacements are counted without wrapping: the integer steps of the grid run on past the faces of the cell, and
/// each step has one displacement d = i h - R and one place in the cell, i modulo the extent. Periodic images need no
/// loop of their own then, and a sphere larger than the cell meets the same point several times, each with its own d.
///
/// Two atoms of one species that stand alike between the grid points have the same displacements and so the same
/// projectors and the same phases: both are kept once (a Shape), and an atom adds the list of its points (a Sphere). In
/// a crystal whose cell is a whole number of grid steps that keeps all projectors in the first level of cache.

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

/// The projectors of one species and one l; projector (i, m) has the number first + i (2 l + 1) + m.
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
  int count = 0;      ///< of projectors, m counted
  double radius = 0;  ///< the largest [bohr]
};

/// @throws InvalidArgument  for l above largest_harmonic_l, or a coupling that is not symmetric
ProjectorSet projector_set(const Pseudopotential& potential);

/// values[j] = p_j(d) of all projectors of a species. @param values  shape (count,)
void evaluate_projectors(const Pseudopotential& potential, const ProjectorSet& set, const Vec3& d,
                         std::span<double> values);

/// Points of a row: displacements that differ along x alone, by one step each.
struct Row {
  std::int64_t begin = 0, end = 0;
  std::array<int, 3> step{};  ///< of the first point, counted from Shape::start
};

/// Projectors on the points of a sphere. Points beyond `points` fill up to a multiple of `unroll` with zeros.
struct Shape {
  static constexpr std::int64_t unroll = 4;

  int species = 0;
  int count = 0;            ///< projectors
  std::int64_t points = 0;  ///< here
  std::int64_t padded = 0;
  Vec3 start{};                       ///< displacement of step 0 along each axis [bohr]
  std::array<int, 3> steps{};         ///< how many along each axis
  std::vector<Row> rows;              ///< in order
  std::vector<Vec3> displacements;    ///< shape (points,) [bohr]
  core::AlignedArray<double> values;  ///< shape (padded, count) [bohr^(-3/2)]
  std::int64_t first_point = 0;       ///< of its phases in a table of all shapes
};

/// Points of one z plane of the box among those of a sphere.
struct PlaneRun {
  std::int64_t z = 0, begin = 0, end = 0;
};

/// The points of one atom on this process.
struct Sphere {
  int atom = 0;
  int shape = 0;
  std::vector<std::int32_t> index;  ///< shape (padded,): places in the box; the last repeated to fill up
  std::vector<PlaneRun> planes;
};

/// Everything about the atoms whose spheres reach this process, and who shares the others.
struct ProjectorSpheres {
  std::vector<ProjectorSet> species;
  std::vector<Shape> shapes;
  std::vector<Sphere> spheres;  ///< by atom
  std::int64_t phase_points = 0;
  /// For each atom of the system with projectors the ranks of space() that hold points of it, ascending.
  std::vector<std::vector<int>> ranks_of_atom;
};

/// @throws InvalidArgument  as projector_set, on every rank alike. Collective: no.
/// Cost: the points of all spheres of the system for the ranks; those of this process for the projectors.
ProjectorSpheres make_spheres(const System& system, const Decomposition& decomposition);

/// phases[p] = (cos, sin) of q . d at the points of a shape. One sine and
/// cosine an axis; along an axis the factors follow from each other by products, so that errors grow to a few dozen
/// rounding units at most.
/// @param phases  shape (padded, 2)
void fill_phases(const Shape& shape, const Grid& grid, const Vec3& q, double* phases);

}  // namespace halocline::tddft::detail
