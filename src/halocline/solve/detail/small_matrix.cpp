// SPDX-License-Identifier: Apache-2.0
/// @file
/// Uses Eigen for the decompositions, so that no header includes it.

#include "halocline/solve/detail/small_matrix.hpp"

// g++ 12 sees uninitialised registers in its own AVX-512 intrinsics when Eigen inlines them (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "halocline/core/error.hpp"

namespace halocline::solve::detail {

namespace {
using Map = Eigen::Map<const Eigen::MatrixXcd>;

Map finite(std::size_t rows, std::size_t columns, std::span<const std::complex<double>> matrix, const char* who) {
  const Map map(matrix.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  if (!map.allFinite())
    throw core::NotFinite(std::string(who) + ": a matrix with NaN or infinity given, finite entries expected");
  return map;
}
}  // namespace

bool SmallMatrix::finite() const noexcept {
  return std::ranges::all_of(data_, [](const Scalar& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); });
}

SmallMatrix SmallMatrix::corner(std::size_t rows, std::size_t columns) const {
  SmallMatrix out(rows, columns);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i) out(i, j) = (*this)(i, j);
  return out;
}

SmallMatrix product(const SmallMatrix& a, const SmallMatrix& b) {
  SmallMatrix out(a.rows(), b.columns());
  for (std::size_t j = 0; j < b.columns(); ++j)
    for (std::size_t k = 0; k < a.columns(); ++k)
      for (std::size_t i = 0; i < a.rows(); ++i) out(i, j) += a(i, k) * b(k, j);
  return out;
}

SmallMatrix adjoint_product(const SmallMatrix& a, const SmallMatrix& b) {
  SmallMatrix out(a.columns(), b.columns());
  for (std::size_t j = 0; j < b.columns(); ++j)
    for (std::size_t i = 0; i < a.columns(); ++i)
      for (std::size_t k = 0; k < a.rows(); ++k) out(i, j) += std::conj(a(k, i)) * b(k, j);
  return out;
}

SmallMatrix sum(SmallMatrix a, const SmallMatrix& b, double factor) {
  for (std::size_t j = 0; j < a.columns(); ++j)
    for (std::size_t i = 0; i < a.rows(); ++i) a(i, j) += factor * b(i, j);
  return a;
}

bool orthonormalise(const std::vector<std::vector<std::complex<double>>>& basis, std::vector<std::complex<double>>& v) {
  for (int round = 0; round < 2; ++round) {
    for (const auto& u : basis) {
      std::complex<double> dot = 0.0;
      for (std::size_t i = 0; i < v.size(); ++i) dot += std::conj(u[i]) * v[i];
      for (std::size_t i = 0; i < v.size(); ++i) v[i] -= dot * u[i];
    }
  }
  double norm2 = 0.0;
  for (const auto& z : v) norm2 += std::norm(z);
  if (!(norm2 > 1e-16)) return false;
  for (auto& z : v) z /= std::sqrt(norm2);
  return true;
}

Cholesky::Cholesky(const SmallMatrix& g, double floor) : l_(g.rows(), g.rows()) {
  for (std::size_t j = 0; j < g.rows(); ++j, ++size_) {
    double pivot = g(j, j).real();
    for (std::size_t k = 0; k < j; ++k) pivot -= std::norm(l_(j, k));
    if (!(pivot > floor * g(j, j).real()) || !std::isfinite(pivot) || !(pivot > 0.0)) return;
    l_(j, j) = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < g.rows(); ++i) {
      Scalar entry = g(i, j);
      for (std::size_t k = 0; k < j; ++k) entry -= l_(i, k) * std::conj(l_(j, k));
      l_(i, j) = entry / l_(j, j);
    }
  }
}

std::vector<Cholesky::Scalar> Cholesky::forward(std::vector<Scalar> f) const {
  for (std::size_t i = 0; i < f.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) f[i] -= l_(i, k) * f[k];
    f[i] /= l_(i, i);
  }
  return f;
}

std::vector<Cholesky::Scalar> Cholesky::backward(std::vector<Scalar> f) const {
  for (std::size_t i = f.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < f.size(); ++k) f[i] -= std::conj(l_(k, i)) * f[k];
    f[i] /= l_(i, i);
  }
  return f;
}

std::vector<std::complex<double>> inverse(std::size_t n, std::span<const std::complex<double>> matrix) {
  if (n == 0) return {};
  const Eigen::MatrixXcd out =
      Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXcd>(finite(n, n, matrix, "inverse")).pseudoInverse();
  return {out.data(), out.data() + out.size()};
}

std::vector<std::complex<double>> eigenvalues(const SmallMatrix& a, const SmallMatrix& b) {
  const std::size_t n = a.rows();
  if (n == 0) return {};
  const Eigen::MatrixXcd quotient =
      Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXcd>(finite(n, n, a.data(), "eigenvalues"))
          .solve(finite(n, n, b.data(), "eigenvalues"));
  const Eigen::VectorXcd values = Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(quotient, false).eigenvalues();
  std::vector<std::complex<double>> out(values.data(), values.data() + n);
  std::ranges::stable_sort(out, [](const auto& x, const auto& y) { return std::abs(x) > std::abs(y); });
  return out;
}

SmallMatrix harmonic_ritz(const SmallMatrix& h, std::size_t count) {
  const std::size_t n = h.columns();
  const auto rows = static_cast<Eigen::Index>(h.rows()), size = static_cast<Eigen::Index>(n);
  const Eigen::MatrixXcd inverse =
      Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXcd>(finite(h.rows(), n, h.data(), "harmonic_ritz"))
          .solve(Eigen::MatrixXcd::Identity(rows, size));
  const Eigen::ComplexEigenSolver<Eigen::MatrixXcd> solver(inverse);
  std::vector<Eigen::Index> order(n);
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::ranges::stable_sort(order, [&](Eigen::Index a, Eigen::Index b) {
    return std::abs(solver.eigenvalues()[a]) > std::abs(solver.eigenvalues()[b]);
  });
  SmallMatrix out(n, count);
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t i = 0; i < n; ++i) out(i, j) = solver.eigenvectors()(static_cast<Eigen::Index>(i), order[j]);
  return out;
}

}  // namespace halocline::solve::detail
