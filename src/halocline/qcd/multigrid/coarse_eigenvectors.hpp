// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Eigenvectors of Gamma5 D_c with the smallest eigenvalues: directions for the deflation of a coarse system.
///
/// Gamma5 D_c is hermitian. Its eigenvectors v with small |lambda| are what a Krylov solver finds last, since
/// D_c v = lambda Gamma5 v. With a twisted mass Gamma5 D_c(mu) = Gamma5 D_c + i mu, so they are the same for every mu.
/// Thick-restart Lanczos (solve/lanczos.hpp) computes them. Two digits are enough: deflation
/// (coarse_deflation.hpp) is exact for any directions.

#include <memory>
#include <string>
#include <vector>

#include "halocline/qcd/multigrid/coarse_field.hpp"
#include "halocline/qcd/multigrid/coarse_operator.hpp"

namespace halocline::qcd::multigrid {

struct CoarseEigenvectors {
  CoarseField vectors;            ///< orthonormal, one in each column; fewer than wanted if Lanczos did not find all
  std::vector<double> values;     ///< of Gamma5 D_c without the twisted mass, by increasing modulus
  std::vector<double> residuals;  ///< |Gamma5 D_c v - lambda v|, recomputed
  double norm = 0;                ///< about |D_c|
  int applications = 0;           ///< of D_c to one column
};

/// @param count      how many are wanted
/// @param tolerance  on residual / norm
/// @param transport  of the halo exchange, by name; empty for the default
/// Collective: yes; the same vectors on any process grid beyond rounding.  Cost: some thousand applications of D_c to
/// one column, and memory for 4 count + 60 vectors.
template <class S>
CoarseEigenvectors coarse_eigenvectors(std::shared_ptr<const CoarseBlocks<S>> blocks, int count,
                                       double tolerance = 1e-2, const std::string& transport = "");

}  // namespace halocline::qcd::multigrid
