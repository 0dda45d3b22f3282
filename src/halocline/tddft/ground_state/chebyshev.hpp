// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A polynomial of the Hamiltonian that keeps the lowest states and damps all others (Zhou, Saad, Tiago, Chelikowsky,
/// J. Comput. Phys. 219, 172, 2006): the Chebyshev polynomial T_m of H mapped so that the unwanted part of the
/// spectrum, [cut, highest], lies in [-1, 1], where |T_m| <= 1, while below it T_m grows as cosh(m acosh x).

#include "halocline/tddft/ground_state/channel_problem.hpp"

namespace halocline::tddft {

struct FilterBounds {
  double lowest = 0;   ///< eigenvalue about which the polynomial is scaled to 1 [hartree]
  double cut = 0;      ///< where the damped part begins
  double highest = 0;  ///< not below the largest eigenvalue of H
};

/// The degree for which an eigenvalue `last` grows by `gain` against all that is damped; at least 4 and at most 60, and
/// no more than keeps the lowest eigenvalue from growing by exp(`most_growth`), lest the vectors become parallel.
int filter_degree(const FilterBounds& bounds, double last, double gain, double most_growth);

/// x = polynomial of H times x, whole sets; `spare` is a set for the recursion.
/// Where space is not split each block runs through all degrees while it is in the cache.
/// @return the one of x and spare that holds the result
/// Collective over space(). Cost: `degree` applications of H; no passes besides.
double* chebyshev_filter(const ChannelProblem& problem, double* x, double* spare, int degree,
                         const FilterBounds& bounds);

}  // namespace halocline::tddft
