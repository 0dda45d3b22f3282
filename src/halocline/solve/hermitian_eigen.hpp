// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Eigenvalues and eigenvectors of a small dense hermitian matrix.

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace halocline::solve {

struct HermitianEigen {
  std::vector<double> values;                 ///< ascending
  std::vector<std::complex<double>> vectors;  ///< [i * n + row]: orthonormal, the eigenvector of values[i]
};

/// @param matrix  n * n entries, entry (row, column) at [column * n + row]; only its lower triangle is read
/// @throws NotFinite  the matrix is not finite
/// Cost: O(n^3).
HermitianEigen hermitian_eigen(std::size_t n, std::span<const std::complex<double>> matrix);

}  // namespace halocline::solve
