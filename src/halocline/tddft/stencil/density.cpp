// SPDX-License-Identifier: Apache-2.0
/// @file
/// The density of a block: 12 flops and 72 bytes a point, bound by reading the orbitals.
#include "halocline/core/pack.hpp"
#include "halocline/tddft/stencil/stencil.hpp"

namespace halocline::tddft {

void add_density(std::span<double> density, const double* block, std::span<const double, orbital_lanes> factors) {
  const auto points = static_cast<std::int64_t>(density.size());
  for (std::int64_t r = 0; r < points; ++r) {
    const double* psi = block + r * doubles_per_point;
    double sum = 0;
    for (int lane = 0; lane < orbital_lanes; ++lane)
      sum += factors[static_cast<std::size_t>(lane)] *
             (psi[2 * lane] * psi[2 * lane] + psi[2 * lane + 1] * psi[2 * lane + 1]);
    density[static_cast<std::size_t>(r)] += sum;
  }
}

}  // namespace halocline::tddft
