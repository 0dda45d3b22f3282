// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Eigenvalue problems of the small matrices that Rayleigh-Ritz produces.

#include "halocline/tddft/ground_state/matrix.hpp"

#include <vector>

namespace halocline::tddft {

/// Eigenvalues in ascending order, and vectors as columns.
struct Eigenpairs {
  std::vector<double> values;
  Matrix vectors;
  bool found = false;    ///< false: not finite, not positive definite, or of too small a rank; the rest is then empty
  double condition = 1;  ///< estimate for the overlap matrix scaled to a unit diagonal; the vectors are orthonormal to
                         ///< epsilon times this number
};

/// All eigenpairs of a Hermitian matrix; reads its lower triangle. Cost: about 25 n^3 real flops.
Eigenpairs eigenpairs(const Matrix& h);

/// The `wanted` lowest pairs of H c = e S c with c^H S c = 1, for Hermitian H and positive semidefinite S.
///
/// S is first scaled to a unit diagonal. If its Cholesky factor is well conditioned, the factor reduces the problem to
/// a standard one. Otherwise S is diagonalised and directions of relative weight below 1e-12 are dropped (canonical
/// orthogonalisation); found = false if fewer than `wanted` remain.
Eigenpairs generalised_eigenpairs(const Matrix& h, const Matrix& s, int wanted);

/// The x that minimises |A x - b| for a Hermitian positive semidefinite A, without directions whose eigenvalue is below
/// `cut` times the largest. Real, for the few unknowns of a mixing history. @param a  shape (n, n)
std::vector<double> least_squares(const std::vector<double>& a, const std::vector<double>& b, double cut);

}  // namespace halocline::tddft
