// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The small problem inside GMRES with deflated restarts: minimise |g - H y| for a growing dense matrix, by Householder
/// reflections.

#include "halocline/solve/detail/small_matrix.hpp"

namespace halocline::solve::detail {

/// Column j of H may have entries in all rows so far and in one row more, or in any number of rows before the first
/// column is appended. Golub and van Loan, Matrix Computations, 4th ed., sec. 5.2.
class DenseLeastSquares {
public:
  using Scalar = std::complex<double>;
  DenseLeastSquares() = default;
  /// @param g  right-hand side; it is zero in further rows
  explicit DenseLeastSquares(std::vector<Scalar> g) : g_(std::move(g)) {}

  /// Appends a column of more than size() entries. Returns the squared norm of the least residual. Cost: O(rows
  /// size()).
  double append(std::vector<Scalar> column);
  std::size_t size() const noexcept { return triangle_.size(); }
  /// The minimiser, of length size(), as solve_triangle() gives it. A column that depends on those before it, to
  /// rounding, gets the coefficient zero.
  std::vector<Scalar> solve() const;
  /// A unit vector of size() + 1 entries orthogonal to all columns, if no column has more entries.
  std::vector<Scalar> complement() const;

private:
  // v -= 2 w <w, v>, with w of unit length from row `first` on, or empty
  struct Reflector {
    std::size_t first;
    std::vector<Scalar> w;
    void apply(std::vector<Scalar>& v) const;
  };
  std::vector<Reflector> reflectors_;
  std::vector<std::vector<Scalar>> triangle_;  // column j of R has j + 1 entries
  std::vector<Scalar> g_;
};

}  // namespace halocline::solve::detail
