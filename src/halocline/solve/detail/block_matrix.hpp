// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The small square matrices of block solvers: one row and one column for each column of a batch.
///
/// A block that has lost directions keeps its width: only its first `rank` columns are in use, and the others are zero.
/// So the functions below take a rank, work on the leading rank x rank part, and leave zeros elsewhere. Every process
/// computes the same matrices from the same sums.

#include <complex>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace halocline::solve::detail {

/// Double complex, row by row, initially zero.
class BlockMatrix {
public:
  using Scalar = std::complex<double>;

  explicit BlockMatrix(std::size_t n) : n_(n), entries_(n * n) {}
  /// Ones on the first `rank` places of the diagonal.
  static BlockMatrix identity(std::size_t n, std::size_t rank);

  std::size_t size() const noexcept { return n_; }
  Scalar& operator()(std::size_t i, std::size_t j) noexcept { return entries_[i * n_ + j]; }
  const Scalar& operator()(std::size_t i, std::size_t j) const noexcept { return entries_[i * n_ + j]; }
  std::span<Scalar> entries() noexcept { return entries_; }
  std::span<const Scalar> entries() const noexcept { return entries_; }

private:
  std::size_t n_;
  std::vector<Scalar> entries_;
};

/// Cost of a product: 8 n^3 flops.
BlockMatrix operator*(const BlockMatrix& a, const BlockMatrix& b);
BlockMatrix operator*(std::complex<double> factor, const BlockMatrix& a);
BlockMatrix adjoint(const BlockMatrix& a);
bool finite(const BlockMatrix& a) noexcept;
/// The squared norm of each column; complex, as Monitor takes norms.
std::vector<std::complex<double>> column_norms2(const BlockMatrix& a);

/// The inverse of a hermitian positive matrix, by Cholesky factorization. Nothing if the matrix is not finite, or not
/// positive within rounding errors: some pivot is below 1e-14 of its diagonal entry.
std::optional<BlockMatrix> inverse_of_positive(const BlockMatrix& a, std::size_t rank);

/// The solution y of a y = b, by Gaussian elimination with row exchanges. Nothing if a number is not finite or a is
/// singular within rounding errors: some pivot is below 1e-14 of the norm of its column.
std::optional<BlockMatrix> solve_small(const BlockMatrix& a, const BlockMatrix& b, std::size_t rank);

/// The least singular value, up to a factor of sqrt(rank): 1 / |a^-1| in the Frobenius norm. Zero if solve_small calls
/// the matrix singular or not finite.
double least_singular_value(const BlockMatrix& a, std::size_t rank);

/// One round of the factorization w = w' factor; see orthonormal_columns.hpp.
struct OrthonormalRound {
  BlockMatrix transform;  ///< w' = w transform
  BlockMatrix factor;     ///< w = w' factor, but for the directions dropped
  std::size_t rank = 0;   ///< the first `rank` columns of w' are orthonormal, up to the accuracy of this round
  std::size_t open = 0;   ///< as many columns follow that could not be told from combinations of the first
  bool accurate = false;  ///< the first columns were well conditioned: orthonormal up to rounding errors
};

/// Pivoted Cholesky factorization of a Gram matrix.
/// @param gram     finite; <w_i, w_j>
/// @param settled  as many leading columns are nearly orthonormal already; pivots are taken from them first
/// @param least    a direction of this norm or less is dropped
OrthonormalRound orthonormal_round(const BlockMatrix& gram, std::size_t settled, double least);

}  // namespace halocline::solve::detail
