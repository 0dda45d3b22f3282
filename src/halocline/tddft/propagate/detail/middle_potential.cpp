// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/detail/middle_potential.hpp"

#include "halocline/tddft/model/model.hpp"

#include <algorithm>
#include <cassert>

namespace halocline::tddft::detail {

void extrapolate_to_middle(std::vector<double>& middle, std::vector<double>& earlier, std::span<const double> now) {
  const std::size_t n = now.size(), known = earlier.size() / n;
  assert(known > 0);
  middle.resize(n);
  const double *one = earlier.data(), *two = one + (known - 1) * n;
  for (std::size_t i = 0; i < n; ++i)
    middle[i] = known == 1 ? 1.5 * now[i] - 0.5 * one[i] : 0.125 * (15 * now[i] - 10 * one[i] + 3 * two[i]);
  earlier.resize(most_earlier_potentials * n);
  std::copy_backward(earlier.begin(), earlier.end() - static_cast<std::ptrdiff_t>(n), earlier.end());
  std::copy(now.begin(), now.end(), earlier.begin());
}

void add_to_spins(std::span<double> potentials, double factor, std::span<const double> potential) {
  for (std::size_t first = 0; first < potentials.size(); first += potential.size())
    for (std::size_t i = 0; i < potential.size(); ++i) potentials[first + i] += factor * potential[i];
}

}  // namespace halocline::tddft::detail
