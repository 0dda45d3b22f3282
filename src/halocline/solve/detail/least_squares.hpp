// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The small problem inside GMRES: minimise |beta e_1 - H y| for a growing Hessenberg matrix, by Givens rotations.

#include <complex>
#include <span>
#include <vector>

namespace halocline::solve::detail {

/// Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., sec. 6.5.3.
class HessenbergLeastSquares {
public:
  using Scalar = std::complex<double>;

  /// @param beta  norm of the residual at the start
  explicit HessenbergLeastSquares(double beta) : rhs_{beta} {}

  /// Appends column j = size(), given by its entries 0..j and its subdiagonal entry. Returns the squared norm of the
  /// least residual. Cost: O(j).
  double append(std::span<const Scalar> upper, double subdiagonal);
  std::size_t size() const noexcept { return triangle_.size(); }
  /// The minimiser, of length size(), as solve_triangle() gives it.
  std::vector<Scalar> solve() const;

private:
  std::vector<std::vector<Scalar>> triangle_;  // column j of R has j + 1 entries
  std::vector<double> cosine_;
  std::vector<Scalar> sine_;
  std::vector<Scalar> rhs_;
};

/// Solves R y = g for upper triangular R, the factor of H in a least-squares problem. columns[j] has j + 1 entries; g
/// may have more entries than R has columns. A column with zero pivot gets the coefficient zero.
///
/// If R is singular but for rounding, y grows until the rounding of x += V y is as large as the residual. Then the last
/// columns get zeros: the result is the minimiser of the most columns with |H| |y| <= 1e12 |g|, |H| being the length of
/// the longest column.
std::vector<std::complex<double>> solve_triangle(const std::vector<std::vector<std::complex<double>>>& columns,
                                                 const std::vector<std::complex<double>>& g);

/// Solves R y = g for upper triangular R with unit diagonal; columns[j][i] = R_ij for i < j.
std::vector<std::complex<double>> solve_unit_triangle(const std::vector<std::vector<std::complex<double>>>& columns,
                                                      std::vector<std::complex<double>> g);

}  // namespace halocline::solve::detail
