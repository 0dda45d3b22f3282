// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Locally optimal block preconditioned conjugate gradients (Knyazev, SIAM J. Sci. Comput. 23, 517, 2001). Each
/// iteration does Rayleigh-Ritz in the span of the vectors, their preconditioned residuals and their last steps.

#include "halocline/tddft/ground_state/channel_problem.hpp"

#include <vector>

namespace halocline::tddft {

struct LobpcgResult {
  std::vector<double> values;     ///< Ritz values of all vectors; empty if the numbers are not finite
  std::vector<double> residuals;  ///< norm of H x - e x of the vectors on this process, shape (blocks, 4)
};

/// Improves the set x in place.
/// @param iterations  upper limit
/// @param tolerance   stops when the residuals of the first `wanted` vectors of the channel are smaller
/// Collective over space() and orbitals(). Cost of an iteration: one application of H, five of the stencil in the
/// preconditioner, and products of nine sets of vectors. Memory: six sets besides x.
LobpcgResult lobpcg(const ChannelProblem& problem, double* x, int iterations, double tolerance, int wanted);

}  // namespace halocline::tddft
