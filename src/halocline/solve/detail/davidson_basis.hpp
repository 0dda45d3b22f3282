// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The orthonormal basis V of Davidson's method, its image W = H V, and the best approximations in it.
///
/// Vectors are blocks of columns. A block that lost directions has columns of zeros, which stay outside every small
/// matrix. The small matrices V^dagger W and W^dagger W grow with the basis, and all decisions are made in them.

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/solve/detail/orthonormal_columns.hpp"
#include "halocline/solve/detail/small_matrix.hpp"
#include "halocline/solve/hermitian_eigen.hpp"
#include "halocline/solve/problem.hpp"

namespace halocline::solve::detail {

/// Approximate eigenpairs, by increasing modulus.
struct Ritz {
  std::vector<double> values;
  SmallMatrix coordinates;  ///< shape (columns of the basis, values)
};

/// The largest modulus of the eigenvalues of a Lanczos matrix, plus its distance to the next eigenvalue of the operator
/// at most. A vanishing beta ends the matrix.
inline double largest_ritz(std::span<const double> alpha, std::span<const double> beta) {
  std::size_t n = 1;
  while (n < alpha.size() && beta[n - 1] > 1e-10 * (std::abs(alpha[n - 1]) + beta[0])) ++n;
  std::vector<Scalar> t(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    t[i * n + i] = alpha[i];
    if (i + 1 < n) t[i * n + i + 1] = t[(i + 1) * n + i] = beta[i];
  }
  const HermitianEigen eigen = hermitian_eigen(n, t);
  double largest = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    largest = std::max(largest, std::abs(eigen.values[i]) + beta[n - 1] * std::abs(eigen.vectors[i * n + n - 1]));
  return largest;
}

template <BlockVectorSpace Space>
class DavidsonBasis {
public:
  using Vector = typename Space::Vector;

  /// @param most  columns that it will hold
  DavidsonBasis(Space& space, std::size_t most)
      : space_(&space), width_(static_cast<std::size_t>(space.columns())), work_(space.create()) {
    v_.reserve(most / width_);
    w_.reserve(most / width_);
  }

  /// Columns of all blocks, those of zeros included.
  std::size_t size() const noexcept { return v_.size() * width_; }
  /// Columns that are not zero.
  std::size_t active() const noexcept { return active_.size(); }

  /// Takes the part of a block outside the basis. @param apply  callable (image, block)
  /// Returns false if the block has no such part. Collective.
  template <class Apply>
  bool extend(Vector block, Apply&& apply) {
    normalise(block);
    std::size_t rank = 0;
    for (int round = 0; round < 2; ++round) {  // twice is enough
      project_out(block);
      const OrthonormalColumns q = orthonormalise(*space_, block, work_);
      if (!finite(q.factor)) throw core::NotFinite("davidson: a vector of the basis is not finite");
      rank = q.rank;
      if (rank == 0) return false;
    }
    Vector image = space_->create();
    apply(image, block);
    const std::size_t first = size();
    v_.push_back(std::move(block));
    w_.push_back(std::move(image));
    for (std::size_t i = 0; i < rank; ++i) active_.push_back(first + i);
    enlarge();
    measure(v_.size() - 1);
    return true;
  }

  /// The `count` best approximations, fewer if the basis is smaller. Cost: O(size^3).
  Ritz low(std::size_t count) const {
    const std::size_t n = active_.size(), k = std::min(count, n);
    SmallMatrix h = selected(vw_), h2 = selected(ww_);
    const HermitianEigen small = hermitian_eigen(n, h2.data());
    SmallMatrix y(n, k);
    for (std::size_t j = 0; j < k; ++j)
      for (std::size_t i = 0; i < n; ++i) y(i, j) = small.vectors[j * n + i];
    const SmallMatrix inside = adjoint_product(y, product(h, y));
    const HermitianEigen eigen = hermitian_eigen(k, inside.data());
    std::vector<std::size_t> order(k);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::abs(eigen.values[i]); });
    SmallMatrix z(k, k);
    Ritz out;
    for (std::size_t j = 0; j < k; ++j) {
      out.values.push_back(eigen.values[order[j]]);
      for (std::size_t i = 0; i < k; ++i) z(i, j) = eigen.vectors[order[j] * k + i];
    }
    const SmallMatrix inner = product(y, z);
    out.coordinates = SmallMatrix(size(), k);
    for (std::size_t j = 0; j < k; ++j)
      for (std::size_t i = 0; i < n; ++i) out.coordinates(active_[i], j) = inner(i, j);
    return out;
  }

  /// |H u - theta u| of each pair: from the small matrices where their rounding errors allow it, otherwise from the
  /// vectors. Collective.
  std::vector<double> residuals(const Ritz& pairs) {
    double largest = 0.0;
    for (const std::size_t i : active_) largest = std::max(largest, std::abs(ww_(i, i)));
    // A hundredth of what is trusted may be rounding error.
    const double trusted = 1e4 * space_->epsilon() * largest;
    const SmallMatrix wy = product(ww_, pairs.coordinates), vy = product(vw_, pairs.coordinates);
    std::vector<double> out;
    std::vector<std::size_t> doubtful;
    for (std::size_t j = 0; j < pairs.values.size(); ++j) {
      const double theta = pairs.values[j];
      double norm2 = theta * theta;
      for (std::size_t i = 0; i < size(); ++i)
        norm2 += (std::conj(pairs.coordinates(i, j)) * (wy(i, j) - 2.0 * theta * vy(i, j))).real();
      if (!(norm2 > trusted)) doubtful.push_back(j);
      out.push_back(std::sqrt(std::max(norm2, 0.0)));
    }
    for (std::size_t begin = 0; begin < doubtful.size(); begin += width_) {
      const auto some = std::span(doubtful).subspan(begin, std::min(width_, doubtful.size() - begin));
      const Vector r = residual(pairs, some);
      const auto norms2 = reduce(*space_, {{&r, &r}});
      for (std::size_t c = 0; c < some.size(); ++c) out[some[c]] = std::sqrt(norms2.wait()[c].real());
    }
    return out;
  }

  /// H u - theta u of at most as many pairs as a block has columns; the other columns are zero.
  Vector residual(const Ritz& pairs, std::span<const std::size_t> chosen) {
    Vector r = combination(w_, pairs.coordinates, chosen, {});
    Scalars minus;
    for (const std::size_t j : chosen) minus.emplace_back(-pairs.values[j]);
    add_combination(r, v_, pairs.coordinates, chosen, minus);
    return r;
  }

  /// The first n approximations, in blocks.
  std::vector<Vector> vectors(const Ritz& pairs, std::size_t n) { return blocks(v_, pairs.coordinates, n); }

  /// Keeps these approximations only.
  void restart(const Ritz& pairs) {
    const std::size_t n = pairs.values.size();
    auto v = blocks(v_, pairs.coordinates, n);
    auto w = blocks(w_, pairs.coordinates, n);
    const SmallMatrix squared = adjoint_product(pairs.coordinates, product(ww_, pairs.coordinates));
    v_ = std::move(v);
    w_ = std::move(w);
    vw_ = SmallMatrix(size(), size());
    ww_ = SmallMatrix(size(), size());
    active_.resize(n);
    std::iota(active_.begin(), active_.end(), std::size_t{0});
    for (std::size_t j = 0; j < n; ++j) {
      vw_(j, j) = pairs.values[j];
      for (std::size_t i = 0; i < n; ++i) ww_(i, j) = squared(i, j);
    }
  }

  /// Computes W and the small matrices from V again. Collective.
  template <class Apply>
  void renew(Apply&& apply) {
    for (std::size_t a = 0; a < v_.size(); ++a) apply(w_[a], v_[a]);
    for (std::size_t a = 0; a < v_.size(); ++a) measure(a);
  }

private:
  void normalise(Vector& block) {
    const std::vector<double> norms2 = real_parts(reduce(*space_, {{&block, &block}}).wait());
    Scalars inverse;
    for (const double norm2 : norms2) inverse.emplace_back(norm2 == 0.0 ? 0.0 : 1.0 / std::sqrt(norm2));
    update(*space_, {scale(block, inverse)});
  }

  void project_out(Vector& block) {
    for (const Vector& v : v_) {
      const BlockMatrix along = gram(*space_, v, block);
      space_->multiply_add(block, v, (-1.0 * along).entries());
    }
  }

  void enlarge() {
    SmallMatrix vw(size(), size()), ww(size(), size());
    for (std::size_t j = 0; j < vw_.columns(); ++j)
      for (std::size_t i = 0; i < vw_.rows(); ++i) {
        vw(i, j) = vw_(i, j);
        ww(i, j) = ww_(i, j);
      }
    vw_ = std::move(vw);
    ww_ = std::move(ww);
  }

  // The entries of the small matrices between block b and the blocks up to it.
  void measure(std::size_t b) {
    for (std::size_t a = 0; a <= b; ++a) {
      const BlockMatrix first = gram(*space_, v_[a], w_[b]), second = gram(*space_, w_[a], w_[b]);
      for (std::size_t i = 0; i < width_; ++i)
        for (std::size_t j = 0; j < width_; ++j) {
          const std::size_t row = a * width_ + i, column = b * width_ + j;
          vw_(row, column) = first(i, j);
          ww_(row, column) = second(i, j);
          if (a == b) continue;
          vw_(column, row) = std::conj(first(i, j));
          ww_(column, row) = std::conj(second(i, j));
        }
    }
  }

  SmallMatrix selected(const SmallMatrix& whole) const {
    SmallMatrix out(active_.size(), active_.size());
    for (std::size_t j = 0; j < active_.size(); ++j)
      for (std::size_t i = 0; i < active_.size(); ++i) out(i, j) = whole(active_[i], active_[j]);
    return out;
  }

  // y += sum_i x_i coordinates(i, chosen[j]) factor[j] in column j.
  void add_combination(Vector& y, const std::vector<Vector>& x, const SmallMatrix& coordinates,
                       std::span<const std::size_t> chosen, std::span<const Scalar> factor) {
    for (std::size_t a = 0; a < x.size(); ++a) {
      BlockMatrix m(width_);
      for (std::size_t j = 0; j < chosen.size(); ++j)
        for (std::size_t i = 0; i < width_; ++i)
          m(i, j) = coordinates(a * width_ + i, chosen[j]) * (factor.empty() ? Scalar(1.0) : factor[j]);
      space_->multiply_add(y, x[a], m.entries());
    }
  }
  Vector combination(const std::vector<Vector>& x, const SmallMatrix& coordinates, std::span<const std::size_t> chosen,
                     std::span<const Scalar> factor) {
    Vector y = space_->create();
    space_->set_zero(y);
    add_combination(y, x, coordinates, chosen, factor);
    return y;
  }
  std::vector<Vector> blocks(const std::vector<Vector>& x, const SmallMatrix& coordinates, std::size_t n) {
    std::vector<Vector> out;
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (std::size_t begin = 0; begin < n; begin += width_)
      out.push_back(combination(x, coordinates, std::span(all).subspan(begin, std::min(width_, n - begin)), {}));
    return out;
  }

  Space* space_;
  std::size_t width_;
  Vector work_;
  std::vector<Vector> v_, w_;
  std::vector<std::size_t> active_;
  SmallMatrix vw_, ww_;  // V^dagger W and W^dagger W
};

}  // namespace halocline::solve::detail
