// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A pseudopotential given by tables on one radial mesh, in atomic units.
///
/// Functions between the nodes are cubic splines. Every radial function of angular momentum l continues to negative r
/// with the parity of l; the splines run through a few mirrored nodes as well, so that they are smooth at the origin.
/// The local potential is -Z/r from where the table has come near it for good; its Fourier transform is an integral of
/// the spline by Simpson's rule.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <memory>
#include <string>
#include <vector>

namespace halocline::tddft::detail {

struct Tabulated {
  struct Projector {
    int l;
    std::vector<double> p;  ///< at the first nodes of the mesh [bohr^(-3/2)], r^l included; zero from the last one on
  };
  std::string symbol, origin, functional;
  double valence = 0;
  std::vector<double> r;              ///< increasing, not negative [bohr]
  std::vector<double> local;          ///< shape of r [hartree]
  std::vector<Projector> projectors;  ///< l = 0 ... 3
  std::vector<double> coupling;       ///< shape (projectors, projectors), symmetric [hartree]; zero between different l
  std::vector<double> density;        ///< shape of r [1/bohr^3]; empty: a Gaussian is taken
};

/// How far r V_local may be from -Z where a table ends [bohr hartree].
inline constexpr double largest_tail = 1e-3;

/// @param table  as described; the caller has checked it
std::shared_ptr<const Pseudopotential> make_tabulated(Tabulated table);

}  // namespace halocline::tddft::detail
