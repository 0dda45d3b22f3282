// SPDX-License-Identifier: Apache-2.0
/// @file
/// The density of a block: 12 flops and 72 bytes a point, bound by reading the orbitals; in float 24 flops.
#include "halocline/tddft/stencil/stencil.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace halocline::tddft {

template <class T>
void add_density(std::span<double> density, const T* block, std::span<const double> factors) {
  assert(factors.size() == static_cast<std::size_t>(lanes_of<T>));
  std::array<double, static_cast<std::size_t>(lanes_of<T>)> weights;
  std::ranges::copy(factors, weights.begin());
  const auto points = static_cast<std::int64_t>(density.size());
  for (std::int64_t r = 0; r < points; ++r) {
    const T* psi = block + r * numbers_per_point<T>;
    double sum = 0;
    for (int lane = 0; lane < lanes_of<T>; ++lane) {
      const double re = psi[2 * lane], im = psi[2 * lane + 1];
      sum += weights[static_cast<std::size_t>(lane)] * (re * re + im * im);
    }
    density[static_cast<std::size_t>(r)] += sum;
  }
}

template void add_density(std::span<double>, const double*, std::span<const double>);
template void add_density(std::span<double>, const float*, std::span<const double>);

}  // namespace halocline::tddft
