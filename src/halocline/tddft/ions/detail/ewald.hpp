// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The energy of point charges in a periodic cell on a neutralising uniform background: the sum of Ewald
/// (Ann. Phys. 64, 253, 1921).
///
/// Each charge is split into a Gaussian of exponent eta^2, summed in reciprocal space, and the remainder, which decays
/// as erfc(eta r)/r and is summed in real space:
///   E = 1/2 sum'_{ij,L} Z_i Z_j erfc(eta |r_ij + L|)/|r_ij + L|
///     + 2 pi/V sum_{G != 0} exp(-G^2/4 eta^2)/G^2 |sum_i Z_i exp(i G r_i)|^2
///     - eta/sqrt(pi) sum_i Z_i^2 - pi (sum_i Z_i)^2 / (2 V eta^2).
/// The result does not depend on eta. Both sums are truncated where a term falls below exp(-41), 1e-18.
///
/// For a slab or a wire the second sum has v(G) / 2V instead of 2 pi/(V G^2) and includes G = 0 (base/coulomb_cut.hpp),
/// and the last term is absent.
/// The cut of the interaction must lie where the Gaussians have decayed, which sets a least eta.

#include "halocline/tddft/base/grid.hpp"

#include <span>
#include <vector>

namespace halocline::tddft::detail {

struct EwaldSum {
  double energy = 0;         ///< [hartree]
  std::vector<Vec3> forces;  ///< [hartree/bohr]; on each charge
};

/// @param edges      of the cell [bohr]
/// @param charges    shape (n,)
/// @param positions  shape (n,) [bohr], inside or outside the cell; no two at the same place
/// @param eta        [1/bohr]; 0 chooses the value that gives both sums equal time
/// Cost: some 200 n^1.5 terms, for cells that are not very flat. Collective: no; every process computes all.
EwaldSum ewald(const std::array<Vec3, 3>& edges, std::span<const double> charges, std::span<const Vec3> positions,
               double eta = 0);

/// The smallest eta with which charges do not see their images along open axes [1/bohr]; 0 without open axes.
/// @throws InvalidArgument  charges too far apart along an open axis for half of its length
double eta_of_room(const Grid& grid, std::span<const Vec3> positions);

/// The sum for the cell of a periodic grid, which may have open axes.
/// @throws InvalidArgument  as eta_of_room()
EwaldSum ewald(const Grid& grid, std::span<const double> charges, std::span<const Vec3> positions, double eta = 0);

}  // namespace halocline::tddft::detail
