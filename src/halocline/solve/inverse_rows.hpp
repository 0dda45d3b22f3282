// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Rows of the inverse of a dense complex matrix.
///
/// Gaussian elimination with partial pivoting in double. The rows are solved for in groups of a fixed size, which
/// threads share, so their bits do not depend on the number of threads.

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace halocline::solve {

struct InverseRows {
  std::vector<std::complex<double>> rows;  ///< [row - first][column]
  double pivot = 0;  ///< smallest pivot relative to the largest; 0 for a singular matrix and one that is not finite
};

/// @param n       rows of the matrix
/// @param matrix  shape (n, n), [row][column]
/// @param first, count  the rows of the inverse that are wanted
/// @throws InvalidArgument  for a matrix of another size, or rows that it does not have
/// The rows are not valid where the pivot is 0. Collective: no.  Cost: 8 n^3 / 3 + 8 count n^2 flops.
InverseRows inverse_rows(std::int64_t n, std::span<const std::complex<double>> matrix, std::int64_t first,
                         std::int64_t count);

}  // namespace halocline::solve
