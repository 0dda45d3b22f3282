// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A polynomial of the Hamiltonian that enhances the lowest states and damps all others (Zhou, Saad, Tiago,
/// Chelikowsky, J. Comput. Phys. 219, 172, 2006). It is the Chebyshev polynomial T_m of H, mapped so that the unwanted
/// part of the spectrum, [cut, highest], lies in [-1, 1], where |T_m| <= 1. Below it T_m grows as cosh(m acosh x).

#include "halocline/tddft/ground_state/channel_problem.hpp"

namespace halocline::tddft {

struct FilterBounds {
  double lowest = 0;   ///< eigenvalue at which the polynomial is scaled to 1 [hartree]
  double cut = 0;      ///< lower end of the damped part
  double highest = 0;  ///< at least the largest eigenvalue of H
};

/// The degree for which an eigenvalue `last` grows by `gain` relative to the damped part; from 4 to 60. Limited so that
/// the lowest eigenvalue grows by at most exp(`most_growth`), since the vectors would otherwise become parallel.
int filter_degree(const FilterBounds& bounds, double last, double gain, double most_growth);

/// Applies the polynomial of H to the set x. A few blocks run together through all degrees; if space is not split, as
/// many as stay in the cache.
/// @param spare  memory for problem.subspace().largest_part() blocks
/// Collective over space(). Cost: `degree` applications of H; no other passes, for odd degrees a copy.
void chebyshev_filter(const ChannelProblem& problem, const VectorSet& x, double* spare, int degree,
                      const FilterBounds& bounds);

}  // namespace halocline::tddft
