// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A pseudopotential given by tables on one radial mesh, in atomic units.
///
/// Functions between the nodes are cubic splines. Every radial function of angular momentum l continues to negative r
/// with the parity of l. The splines include a few mirrored nodes, so that they are smooth at the origin. Beyond the
/// point from which the table stays near -Z/r, the local potential is -Z/r. Its Fourier transform is an integral of the
/// spline by Simpson's rule.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <memory>
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
};

/// Largest deviation of r V_local from -Z at the end of a table [bohr hartree].
inline constexpr double largest_tail = 1e-3;

/// @param table  valid as described above; the caller has checked it
std::shared_ptr<const Pseudopotential> make_tabulated(Tabulated table);

}  // namespace halocline::tddft::detail
