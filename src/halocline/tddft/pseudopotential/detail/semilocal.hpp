// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Separable pseudopotentials from a potential and a wave function of each angular momentum.

#include "halocline/tddft/pseudopotential/detail/tabulated.hpp"

#include <array>
#include <string>
#include <vector>

namespace halocline::tddft::detail {

/// One potential for each l, on one mesh, in atomic units.
struct Semilocal {
  struct Channel {
    std::vector<double> potential;  ///< V_l, shape of r [hartree]
    std::vector<double> u;          ///< r R_l, shape of r, normalised [bohr^(-1/2)]; empty: no projector
  };
  std::vector<double> r;
  std::vector<Channel> channels;  ///< of l = 0, 1, ...
  int local_l = 0;
};

/// Electrons of the pseudo-atom in s, p, d, f, filled in this order: for start densities, where a file states none.
std::array<double, 4> filling(double valence);

/// Fills local potential, projectors, coupling and start density of a table: for every l but the local one the
/// projector (V_l - V_local) u_l / r, with the coupling 1 / integral of u_l^2 (V_l - V_local) (L. Kleinman and D. M.
/// Bylander, Phys. Rev. Lett. 48, 1425, 1982). A channel that equals the local one has none. The projectors end where
/// they stay below 1e-6 of their maxima, because the tables' own rounding follows.
/// @param table  with valence and names, and nothing else
void fill_separable(Tabulated& table, Semilocal semilocal);

}  // namespace halocline::tddft::detail
