// SPDX-License-Identifier: Apache-2.0
/// @file
/// The three-term recursion, scaled so that nothing overflows: with c and e the centre and half width of the damped
/// part, s_1 = e / (lowest - c) and s_{j+1} = 1 / (2 / s_1 - s_j),
///   x_1 = (s_1 / e) (H - c) x_0,   x_{j+1} = (2 s_{j+1} / e) (H - c) x_j - s_j s_{j+1} x_{j-1},
/// so that x_j = T_j((H - c) / e) / T_j((lowest - c) / e) x_0. The new vector overwrites the one before the last, which
/// the Hamiltonian's Combination makes possible.

#include "halocline/tddft/ground_state/chebyshev.hpp"

#include "halocline/core/region.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halocline::tddft {
namespace {

/// acosh x of T_m(x) = cosh(m acosh x): an eigenvalue below the cut grows by about exp of m times this number.
double growth_exponent(const FilterBounds& bounds, double eigenvalue) {
  return std::acosh(std::max(1.0, 1 + 2 * (bounds.cut - eigenvalue) / (bounds.highest - bounds.cut)));
}

}  // namespace

int filter_degree(const FilterBounds& bounds, double last, double gain, double most_growth) {
  const double wanted = std::acosh(gain) / std::max(1e-6, growth_exponent(bounds, last));
  const double allowed = most_growth / std::max(1e-6, growth_exponent(bounds, bounds.lowest));
  return static_cast<int>(std::clamp(std::min(std::ceil(wanted), std::floor(allowed)), 4.0, 60.0));
}

void chebyshev_filter(const ChannelProblem& problem, const VectorSet& x, double* spare, int degree,
                      const FilterBounds& bounds) {
  core::Region region("tddft/filter");
  const std::int64_t blocks = problem.subspace().blocks();
  const std::int64_t block_doubles = problem.model().decomposition().box().points() * doubles_per_point;
  const double centre = 0.5 * (bounds.highest + bounds.cut), half_width = 0.5 * (bounds.highest - bounds.cut);
  const double first = half_width / (bounds.lowest - centre);
  Hamiltonian& hamiltonian = problem.model().hamiltonian();
  const std::int64_t most = std::clamp<std::int64_t>(hamiltonian.blocks_together(blocks), 1,
                                                     std::max<std::int64_t>(1, problem.subspace().largest_part()));
  for (std::int64_t block = 0; block < blocks;) {
    const std::int64_t group = x.together(block, std::min(most, blocks - block));
    double *old = x.block(block), *now = spare;
    double sigma = first;
    hamiltonian.apply(problem.channel(), now, old, group, {.factor = sigma / half_width, .shift = centre});
    for (int j = 1; j < degree; ++j) {
      const double next = 1 / (2 / first - sigma);
      hamiltonian.apply(problem.channel(), old, now, group,
                        {.factor = 2 * next / half_width, .shift = centre, .base = old, .base_factor = -sigma * next});
      std::swap(old, now);
      sigma = next;
    }
    if (degree % 2 == 1) std::copy_n(spare, group * block_doubles, x.block(block));
    block += group;
  }
}

}  // namespace halocline::tddft
