// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Small vector spaces, operators and matrices for the solver tests.
///
/// `DenseSpace` offers only what a space of block solvers must; `FusedSpace` adds its own update_and_reduce, which
/// walks over short runs of rows as a lattice field would, and counts its passes. Both keep each column contiguous.

#include "halocline/core/error.hpp"
#include "halocline/solve/block_space.hpp"

// g++ 12 sees uninitialised registers in its own AVX-512 intrinsics when Eigen inlines them (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Dense>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace halocline::solve::test {

using Matrix = Eigen::MatrixXcd;
using Column = Eigen::VectorXcd;

template <class T>
struct DenseVector {
  std::vector<std::complex<T>> data;  // [column][row]
};

template <class T>
class DenseSpace {
public:
  using Vector = DenseVector<T>;
  DenseSpace(int rows, int columns = 1) : rows_(static_cast<std::size_t>(rows)), columns_(columns) {}

  // Contents are unspecified by contract: NaN finds whoever reads them.
  Vector create() const {
    return {
        std::vector<std::complex<T>>(rows_ * static_cast<std::size_t>(columns_), std::numeric_limits<T>::quiet_NaN())};
  }
  int columns() const { return columns_; }
  std::size_t rows() const { return rows_; }
  void copy(Vector& out, const Vector& in) const { out.data = in.data; }
  void set_zero(Vector& v) const { std::fill(v.data.begin(), v.data.end(), std::complex<T>(0)); }
  void axpy(std::span<const Scalar> alpha, const Vector& x, Vector& y) const {
    for (std::size_t c = 0; c < alpha.size(); ++c) {
      const std::complex<T> a(alpha[c]);
      for (std::size_t i = c * rows_; i < (c + 1) * rows_; ++i) y.data[i] += a * x.data[i];
    }
  }
  void dot(std::span<Scalar> out, const Vector& x, const Vector& y) const {
    for (std::size_t c = 0; c < out.size(); ++c) {
      out[c] = 0.0;
      for (std::size_t i = c * rows_; i < (c + 1) * rows_; ++i)
        out[c] += std::conj(Scalar(x.data[i])) * Scalar(y.data[i]);
    }
  }
  double epsilon() const { return std::numeric_limits<T>::epsilon(); }
  void gram(std::span<Scalar> out, const Vector& x, const Vector& y) const {
    const auto columns = static_cast<std::size_t>(columns_);
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        Scalar sum = 0.0;
        for (std::size_t k = 0; k < rows_; ++k)
          sum += std::conj(Scalar(x.data[i * rows_ + k])) * Scalar(y.data[j * rows_ + k]);
        out[i * columns + j] = sum;
      }
  }
  void multiply_add(Vector& y, const Vector& x, std::span<const Scalar> m) const {
    const auto columns = static_cast<std::size_t>(columns_);
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const std::complex<T> a(m[i * columns + j]);
        if (a == std::complex<T>(0)) continue;
        for (std::size_t k = 0; k < rows_; ++k) y.data[j * rows_ + k] += a * x.data[i * rows_ + k];
      }
  }

  // Vectors of one column with every column: [vector][column].
  FinishedSums shared_dots(std::span<const Vector* const> shared, const Vector& y) const {
    const auto columns = static_cast<std::size_t>(columns_);
    Scalars sums(shared.size() * columns);
    for (std::size_t v = 0; v < shared.size(); ++v)
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t i = 0; i < rows_; ++i)
          sums[v * columns + c] += std::conj(Scalar(shared[v]->data[i])) * Scalar(y.data[c * rows_ + i]);
    return FinishedSums(std::move(sums));
  }
  void shared_add(Vector& y, std::span<const Scalar> a, std::span<const Vector* const> shared) const {
    const auto columns = static_cast<std::size_t>(columns_);
    for (std::size_t v = 0; v < shared.size(); ++v)
      for (std::size_t c = 0; c < columns; ++c) {
        const std::complex<T> factor(a[v * columns + c]);
        for (std::size_t i = 0; i < rows_; ++i) y.data[c * rows_ + i] += factor * shared[v]->data[i];
      }
  }

protected:
  std::size_t rows_;
  int columns_;
};

template <class T>
class FusedSpace : public DenseSpace<T> {
public:
  using Vector = DenseVector<T>;
  using DenseSpace<T>::DenseSpace;

  FinishedSums update_and_reduce(std::span<const Update<Vector>> updates, std::span<const Dot<Vector>> dots) {
    ++passes;
    if (!dots.empty()) {
      groups.push_back(0);
      for (const auto& dot : dots) groups.back() += dot.is_norm() ? 1 : 2;
    }
    const auto columns = static_cast<std::size_t>(this->columns_);
    Scalars sums(columns * dots.size());
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t first = 0; first < this->rows_; first += 4) {
        const std::size_t begin = c * this->rows_ + first;
        const std::size_t end = c * this->rows_ + std::min(first + 4, this->rows_);
        for (const auto& u : updates) {
          for (std::size_t i = begin; i < end; ++i) {
            std::complex<T>& y = u.target->data[i];
            if (u.overwrite) y = 0;
            if (!u.scale.empty()) y = std::complex<T>(u.scale[c]) * y;
            for (const auto& term : u.terms())
              y += (term.coefficient.empty() ? std::complex<T>(1) : std::complex<T>(term.coefficient[c])) *
                   term.vector->data[i];
          }
        }
        for (std::size_t d = 0; d < dots.size(); ++d)
          for (std::size_t i = begin; i < end; ++i)
            sums[d * columns + c] += std::conj(Scalar(dots[d].left->data[i])) * Scalar(dots[d].right->data[i]);
      }
    }
    return FinishedSums(std::move(sums));
  }
  FinishedSums shared_dots(std::span<const Vector* const> shared, const Vector& y) {
    groups.push_back(2 * static_cast<int>(shared.size()));
    return DenseSpace<T>::shared_dots(shared, y);
  }

  int passes = 0;
  std::vector<int> groups;  ///< real sums a column of every reduction so far
};

/// An operator whose application fails, as a halo exchange does when another process has ended.
struct Failing {
  template <class Vector>
  void apply(Vector&, const Vector&) const {
    throw core::Error("no answer");
  }
};

template <class T>
class DenseOperator {
public:
  explicit DenseOperator(const Matrix& m) : matrix_(m.template cast<std::complex<T>>()), dagger_(matrix_.adjoint()) {}
  void apply(DenseVector<T>& out, const DenseVector<T>& in) { multiply(matrix_, out, in); }
  void apply_dagger(DenseVector<T>& out, const DenseVector<T>& in) { multiply(dagger_, out, in); }
  int applications = 0;

private:
  using M = Eigen::Matrix<std::complex<T>, Eigen::Dynamic, Eigen::Dynamic>;
  void multiply(const M& m, DenseVector<T>& out, const DenseVector<T>& in) {
    ++applications;
    const auto n = static_cast<std::size_t>(m.rows());
    for (std::size_t first = 0; first < in.data.size(); first += n) {
      std::fill_n(out.data.begin() + static_cast<std::ptrdiff_t>(first), n, std::complex<T>(0));
      for (std::size_t j = 0; j < n; ++j) {
        const std::complex<T> x = in.data[first + j];
        const std::complex<T>* a = m.data() + j * n;
        for (std::size_t i = 0; i < n; ++i) out.data[first + i] += a[i] * x;
      }
    }
  }
  M matrix_, dagger_;
};

inline Matrix random_matrix(int rows, int columns, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Matrix m(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const double re = normal(engine);
      m(i, j) = {re, normal(engine)};
    }
  return m;
}

/// @name Dense algebra by Eigen, compiled once: test_dense_matrices.cpp.
/// @{
Matrix product(const Matrix& a, const Matrix& b);
/// A^-1 B for a square matrix, the least-squares solution for a tall one.
Matrix solution(const Matrix& a, const Matrix& b);
/// The vector of the columns' span that is nearest to b.
Column projection(const Matrix& columns, const Column& b);
Matrix random_unitary(int n, unsigned seed);
/// Hermitian with the given spectrum.
Matrix with_spectrum(const Eigen::VectorXd& values, unsigned seed);
/// Hermitian positive of the given condition number, spectrum spread evenly in its logarithm.
Matrix positive_matrix(int n, double condition, unsigned seed);
/// Non-hermitian, eigenvalues around 1 within a disc of the given radius, not normal.
Matrix disc_matrix(int n, double radius, unsigned seed);
/// @}

template <class T>
DenseVector<T> from_eigen(const Matrix& m) {
  DenseVector<T> v;
  for (Eigen::Index i = 0; i < m.size(); ++i) v.data.emplace_back(m.data()[i]);
  return v;
}

template <class T>
Matrix to_eigen(const DenseVector<T>& v, int rows) {
  Matrix m(rows, static_cast<Eigen::Index>(v.data.size()) / rows);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = Scalar(v.data[static_cast<std::size_t>(i)]);
  return m;
}

/// Largest |b - A x| / |b| over the columns, by Eigen in double.
template <class T>
double true_residual(const Matrix& a, const DenseVector<T>& x, const Matrix& b) {
  const Matrix r = b - product(a, to_eigen(x, static_cast<int>(a.rows())));
  double worst = 0.0;
  for (Eigen::Index c = 0; c < b.cols(); ++c) worst = std::max(worst, r.col(c).norm() / b.col(c).norm());
  return worst;
}

}  // namespace halocline::solve::test
