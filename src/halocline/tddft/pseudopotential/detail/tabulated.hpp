// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A pseudopotential given by tables on one radial mesh, in atomic units.
///
/// Functions between the nodes are cubic splines. Every radial function of angular momentum l continues to negative r
/// with the parity of l. The splines include a few mirrored nodes, so that they are smooth at the origin. Beyond the
/// point from which the table stays near -Z/r, and beyond 10 bohr in any case, the local potential is -Z/r. (Some
/// tables deviate by 1e-5 hartree as far as they reach. The mean of the potential of a crystal then depends on where
/// they are cut; Quantum ESPRESSO cuts there, too.) Its Fourier transform is an integral of the spline by Simpson's
/// rule.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halocline::tddft::detail {

struct Tabulated {
  struct Projector {
    int l;
    std::vector<double> p;  ///< at the first nodes of the mesh [bohr^(-3/2)], with r^l; zero from the last one on
  };
  std::string symbol, origin, functional;
  double valence = 0;
  std::vector<double> r;              ///< increasing, not negative [bohr]
  std::vector<double> local;          ///< shape of r [hartree]
  std::vector<Projector> projectors;  ///< l = 0 ... 3
  std::vector<double> coupling;       ///< shape (projectors, projectors), symmetric [hartree]; zero between different l
  std::vector<double> density;        ///< shape of r [1/bohr^3]; empty: use a Gaussian
  std::vector<double> core;           ///< shape of r [1/bohr^3]; empty: no core correction
};

/// Largest deviation of r V_local from -Z at the end of a table [bohr hartree].
inline constexpr double largest_tail = 1e-3;

/// Fraction of its maximum at which a projector of a file may end.
inline constexpr double projector_end = 1e-8;
inline constexpr std::size_t fewest_nodes = 16;  ///< of a mesh, and of a projector

/// Cuts a projector where it stays below `end` of its maximum, one node later, but not below fewest_nodes.
/// @return false if all values are zero
bool trim_projector(std::vector<double>& values, double end = projector_end);

/// What is wrong with a radial mesh, as a sentence, or an empty text: increasing radii from near 0 on are expected.
std::string mesh_fault(std::span<const double> r);
/// What is wrong with the end of a local potential, or an empty text: -Z/r is expected.
std::string tail_fault(std::span<const double> r, std::span<const double> local, double valence);

/// @param table  valid as described above; the caller has checked it
std::shared_ptr<const Pseudopotential> make_tabulated(Tabulated table);

}  // namespace halocline::tddft::detail
