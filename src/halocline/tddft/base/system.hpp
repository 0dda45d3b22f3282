// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The physical system: atoms with their pseudopotentials or a jellium sphere, on a grid, with k-points and spin.
///
/// A channel is a k-point with a spin: a set of mutually orthogonal orbitals. Without k-points there is one, k = 0.
/// With two spins there are twice as many channels, first all of spin 0, then all of spin 1.

#include "halocline/tddft/base/grid.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halocline::tddft {

class Pseudopotential;  // pseudopotential/pseudopotential.hpp

struct Atom {
  int species;    ///< index into System::species
  Vec3 position;  ///< [bohr], in the frame of Grid::position
};

/// A ball of uniform positive charge instead of atoms.
struct JelliumSphere {
  double radius_per_charge;  ///< Wigner-Seitz radius r_s [bohr]: density 3 / (4 pi r_s^3)
  double charge;
  Vec3 centre;  ///< [bohr]
};

struct Channel {
  Vec3 k{};           ///< [1/bohr]
  double weight = 1;  ///< of the k-point; the weights of one spin add up to 1
  int spin = 0;
};

/// A symmetry of the crystal: point i goes to rotation i + shift. Made by symmetry_of() of symmetry.hpp.
struct Symmetry {
  std::array<std::array<int, 3>, 3> rotation{};
  std::array<std::int64_t, 3> shift{};
  std::array<Vec3, 3> rows{};  ///< the Cartesian rotation
  std::vector<int> atoms;      ///< image of each atom
};

struct System {
  Grid grid;
  std::vector<std::shared_ptr<const Pseudopotential>> species;
  std::vector<Atom> atoms;
  std::optional<JelliumSphere> jellium;
  std::vector<Channel> channels{Channel{}};
  int spins = 1;         ///< 1: every state holds two electrons; 2: collinear
  double electrons = 0;  ///< number of electrons in the cell
  int states = 0;        ///< number of states in each channel
  /// Isolated boxes: leave out the waves of the ions' potentials that the grid cannot carry, as periodic cells do.
  /// False: as codes that sample the potentials at the points.
  bool filtered = true;
  /// All symmetries under which `channels` are the irreducible part of a mesh of k-points; empty: all k-points are
  /// here.
  std::vector<Symmetry> symmetries;
  bool time_reversal = false;  ///< with symmetries: a k-point also represents -k

  /// Number of electrons in a full state.
  double full() const noexcept { return spins == 1 ? 2.0 : 1.0; }
};

/// Distance of two places [bohr]; in a periodic cell that of their nearest images.
double distance(const Grid& grid, const Vec3& a, const Vec3& b);

/// The mesh of Monkhorst and Pack (Phys. Rev. B 13, 5188, 1976); symmetry is not used. The number along each axis is
/// (i - 1/2)/n - 1/2 for i = 1 ... n in units of the reciprocal vector, 2 pi / length in an orthogonal cell, plus
/// shift / n. In a cell with oblique edges each point is then moved by reciprocal vectors to the first Brillouin zone.
/// `gamma_centred` moves a mesh with an even number of points by half a step, so that k = 0 is one of them.
/// @param counts  at least 1 along each axis; x runs fastest in the result
/// @throws InvalidArgument  a count below 1, or more than 1 in an isolated box
std::vector<Channel> monkhorst_pack(const Grid& grid, std::array<int, 3> counts, Vec3 shift = {},
                                    bool gamma_centred = false, int spins = 1);

/// Checks the system. @throws InvalidArgument  for any number of processes: an axis of fewer than 5 points, a spacing
/// that is not positive, axes that laplacian_directions() refuses, oblique axes of an isolated box or around a jellium
/// sphere, atoms outside an isolated box or within 0.5 bohr of each other, electrons that do not fit the
/// states, an odd number of electrons without spin (`odd_allowed` accepts it; occupations are then fractional), species
/// that do not exist, both jellium and atoms or neither
void validate(const System& system, bool odd_allowed = false);

}  // namespace halocline::tddft
