// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Thick-restart Lanczos for the largest eigenvalues of a hermitian operator, orthogonal to a set of locked vectors.
///
/// Wu and Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602. The basis satisfies F V = V T + beta v e_m^T. A restart
/// keeps the best Ritz vectors and v. T then becomes diagonal apart from one full row and column, and the recursion
/// continues. Every new vector is orthogonalised against the whole basis and the locked vectors. So T is stored as a
/// dense matrix of the resulting coefficients, and no spurious copies of an eigenvalue appear.

#include <algorithm>
#include <cmath>
#include <vector>

#include "halocline/solve/detail/gram_schmidt.hpp"
#include "halocline/solve/hermitian_eigen.hpp"

namespace halocline::solve::detail {

/// For one column only. Refers to space, operator and locked vectors.
template <VectorSpace Space, class F>
class ThickRestartLanczos {
public:
  using Vector = typename Space::Vector;

  /// @param size    largest basis, at least 3
  /// @param locked  orthonormal
  ThickRestartLanczos(Space& space, F& f, std::size_t size, const std::vector<Vector>& locked)
      : space_(&space), f_(&f), size_(size) {
    for (const Vector& v : locked) locked_.push_back(&v);
    basis_.reserve(size + 1);
  }

  /// Starts from v. Returns false if v lies in the span of the locked vectors.
  bool start(Vector v) {
    basis_.clear();
    t_.assign(size_ * size_, Scalar(0.0));
    const Orthogonalised ortho = orthogonalise(*space_, std::span<const Vector* const>(locked_), {}, v);
    exhausted_ = !(ortho.norm2[0] > 1e-20 * ortho.before2[0]);
    if (exhausted_) return false;
    normalise(v, ortho.norm2[0]);
    basis_.push_back(std::move(v));
    return true;
  }

  /// Grows the basis to its full size, or until the space is exhausted, and solves the projected problem.
  void extend() {
    beta_ = 0.0;
    while (filled() < size_ && !exhausted_) {
      const std::size_t j = basis_.size() - 1;
      Vector w = space_->create();
      f_->apply(w, basis_[j]);
      std::vector<const Vector*> against = locked_;
      for (const Vector& v : basis_) against.push_back(&v);
      const Orthogonalised ortho = orthogonalise(*space_, std::span<const Vector* const>(against), {}, w);
      for (std::size_t i = 0; i <= j; ++i) {
        const Scalar h = ortho.coefficients[locked_.size() + i];
        t_[j * size_ + i] = h;
        t_[i * size_ + j] = std::conj(h);
      }
      diagonal_done_ = j + 1;
      beta_ = std::sqrt(std::max(ortho.norm2[0], 0.0));
      exhausted_ = !(ortho.norm2[0] > 1e-26 * std::max(ortho.before2[0], largest_ * largest_));
      if (exhausted_) {
        beta_ = 0.0;
      } else {
        normalise(w, ortho.norm2[0]);
        basis_.push_back(std::move(w));
      }
    }
    const std::size_t n = filled();
    std::vector<Scalar> small(n * n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) small[j * n + i] = t_[j * size_ + i];
    ritz_ = hermitian_eigen(n, small);
    for (const double value : ritz_.values) largest_ = std::max(largest_, std::abs(value));
  }

  /// Number of Ritz pairs.
  std::size_t filled() const noexcept { return diagonal_done_; }
  bool exhausted() const noexcept { return exhausted_; }
  /// Ritz value i, the largest first, and the norm of its residual.
  double value(std::size_t i) const { return ritz_.values[filled() - 1 - i]; }
  double estimate(std::size_t i) const { return beta_ * std::abs(coefficient(i, filled() - 1)); }

  /// Ritz vector i. Cost: filled() vector additions.
  Vector vector(std::size_t i) const {
    Vector out = space_->create();
    const std::size_t n = filled();
    std::vector<Scalars> c(n);
    for (std::size_t j = 0; j < n; ++j) c[j] = {coefficient(i, j)};
    std::vector<Update<Vector>> updates;
    for (std::size_t j = 0; j < n; ++j)
      updates.push_back(j == 0 ? assign(out, c[j], basis_[j]) : add(out, c[j], basis_[j]));
    update_and_reduce(*space_, std::span<const Update<Vector>>(updates), std::span<const Dot<Vector>>{}).wait();
    return out;
  }

  /// Keeps the `keep` largest Ritz pairs and the residual vector. Cost: keep * filled() vector additions.
  void restart(std::size_t keep) {
    std::vector<Vector> kept;
    kept.reserve(size_ + 1);
    for (std::size_t i = 0; i < keep; ++i) kept.push_back(vector(i));
    kept.push_back(std::move(basis_.back()));
    t_.assign(size_ * size_, Scalar(0.0));
    for (std::size_t i = 0; i < keep; ++i) t_[i * size_ + i] = value(i);
    basis_ = std::move(kept);
    diagonal_done_ = keep;
  }

private:
  Scalar coefficient(std::size_t i, std::size_t row) const {
    return ritz_.vectors[(filled() - 1 - i) * filled() + row];
  }
  void normalise(Vector& v, double norm2) {
    const Scalars inverse{1.0 / std::sqrt(norm2)};
    update(*space_, {scale(v, inverse)});
  }

  Space* space_;
  F* f_;
  std::size_t size_;
  std::vector<const Vector*> locked_;
  std::vector<Vector> basis_;  // filled() vectors, and the residual vector unless exhausted
  std::vector<Scalar> t_;      // (row, column) at [column * size_ + row]
  std::size_t diagonal_done_ = 0;
  double beta_ = 0.0;
  double largest_ = 0.0;
  bool exhausted_ = false;
  HermitianEigen ritz_;
};

}  // namespace halocline::solve::detail
