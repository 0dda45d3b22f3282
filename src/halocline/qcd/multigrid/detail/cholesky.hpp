// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Cholesky factor of the Gram matrix of test vectors, as CholeskyQR needs it.

#include <complex>
#include <cstddef>
#include <vector>

namespace halocline::qcd::multigrid {

/// A complex square matrix in double, [row][column].
struct Matrix {
  int size;
  std::vector<std::complex<double>> e;

  explicit Matrix(int n) : size(n), e(static_cast<std::size_t>(n * n)) {}
  std::complex<double>& operator()(int row, int column) { return e[static_cast<std::size_t>(row * size + column)]; }
  const std::complex<double>& operator()(int row, int column) const {
    return e[static_cast<std::size_t>(row * size + column)];
  }
};

/// L^-dagger of the Cholesky factor L of G; `least` becomes the smallest ratio of a pivot to the diagonal entry, at
/// most what it was. The matrix is not valid if that is not positive.
/// @param g  hermitian; its lower triangle is read
Matrix inverse_factor(const Matrix& g, double& least);

}  // namespace halocline::qcd::multigrid
