// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Small dense complex matrices: products, Cholesky factors, inverses, eigenvalues. Their sizes are those of Krylov
/// bases, so that clarity comes before speed.

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace halocline::solve::detail {

/// Rows by columns, zero at first.
class SmallMatrix {
public:
  using Scalar = std::complex<double>;
  SmallMatrix() = default;
  SmallMatrix(std::size_t rows, std::size_t columns) : rows_(rows), data_(rows * columns) {}

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return rows_ == 0 ? 0 : data_.size() / rows_; }
  Scalar& operator()(std::size_t row, std::size_t column) { return data_[column * rows_ + row]; }
  Scalar operator()(std::size_t row, std::size_t column) const { return data_[column * rows_ + row]; }
  std::span<const Scalar> column(std::size_t j) const { return std::span(data_).subspan(j * rows_, rows_); }
  /// All entries, one column after the other.
  std::span<const Scalar> data() const noexcept { return data_; }
  bool finite() const noexcept;
  /// The upper left corner.
  SmallMatrix corner(std::size_t rows, std::size_t columns) const;

private:
  std::size_t rows_ = 0;
  std::vector<Scalar> data_;
};

/// A B. An empty factor makes a zero matrix, as a sum over nothing does.
SmallMatrix product(const SmallMatrix& a, const SmallMatrix& b);
/// A^dagger B, of shape (A's columns, B's columns).
SmallMatrix adjoint_product(const SmallMatrix& a, const SmallMatrix& b);
/// A + factor B, for equal shapes.
SmallMatrix sum(SmallMatrix a, const SmallMatrix& b, double factor = 1.0);

/// Orthonormalises a vector of unit length against orthonormal ones; false if it depends on them.
bool orthonormalise(const std::vector<std::vector<std::complex<double>>>& basis, std::vector<std::complex<double>>& v);

/// G = L L^dagger for a hermitian G, as far as its pivots are positive.
class Cholesky {
public:
  using Scalar = std::complex<double>;
  Cholesky() = default;
  /// @param g      hermitian; its lower triangle is read
  /// @param floor  a pivot not above this fraction of its diagonal entry ends the factorisation
  /// Cost: O(n^3).
  Cholesky(const SmallMatrix& g, double floor);

  /// The number of good pivots; only as large a corner of G may be solved.
  std::size_t size() const noexcept { return size_; }
  /// L^-1 f for the corner of the length of f.
  std::vector<Scalar> forward(std::vector<Scalar> f) const;
  /// L^-dagger f for the corner of the length of f.
  std::vector<Scalar> backward(std::vector<Scalar> f) const;
  /// G^-1 f for the corner of the length of f.
  std::vector<Scalar> solve(std::vector<Scalar> f) const { return backward(forward(std::move(f))); }
  /// L_ij for i >= j.
  Scalar factor(std::size_t i, std::size_t j) const { return l_(i, j); }

private:
  SmallMatrix l_;
  std::size_t size_ = 0;
};

/// The inverse of an n * n matrix, entry (row, column) at [column * n + row]. Of a singular matrix (to rounding) it is
/// the pseudo-inverse.
/// @throws NotFinite  the matrix is not finite
/// Cost: O(n^3).
std::vector<std::complex<double>> inverse(std::size_t n, std::span<const std::complex<double>> matrix);

/// The eigenvalues of A^-1 B, the largest modulus first.
/// @throws NotFinite  a matrix is not finite
/// Cost: O(n^3).
std::vector<std::complex<double>> eigenvalues(const SmallMatrix& a, const SmallMatrix& b);

/// Harmonic Ritz vectors of an Arnoldi relation A V_n = V_{n+1} H: the eigenvectors g of H^+ [1; 0] for its `count`
/// eigenvalues 1/theta of largest modulus, where H^+ is the pseudo-inverse. Equivalently (Morgan, SIAM J. Sci. Comput.
/// 24 (2002) 20) they are those of H_n + |h_{n+1,n}|^2 H_n^-dagger e_n e_n^dagger for the smallest theta, but
/// H_n may be singular here.
/// @param h  shape (n + 1, n)
/// @throws NotFinite  the matrix is not finite
/// Returns shape (n, count). Cost: O(n^3).
SmallMatrix harmonic_ritz(const SmallMatrix& h, std::size_t count);

}  // namespace halocline::solve::detail
