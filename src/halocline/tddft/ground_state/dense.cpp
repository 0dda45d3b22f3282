// SPDX-License-Identifier: Apache-2.0
/// @file
/// Small dense eigenvalue problems by LAPACK.

#include "halocline/tddft/ground_state/dense.hpp"

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ground_state/blas.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;
using blas::Op;

bool finite(const Matrix& a) {
  return std::all_of(a.data(), a.data() + a.size(),
                     [](const Complex& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); });
}

/// out = op(a) op(b)
Matrix product(const Matrix& a, Op op_a, const Matrix& b, Op op_b) {
  const int rows = op_a == Op::none ? a.rows() : a.columns();
  const int inner = op_a == Op::none ? a.columns() : a.rows();
  Matrix out(rows, op_b == Op::none ? b.columns() : b.rows());
  blas::product_in_parts(out.rows(), out.columns(), inner, {a.data(), a.rows()}, op_a, {b.data(), b.rows()}, op_b, 0,
                         out.data(), out.rows());
  return out;
}

/// d_i a_ij d_j, made exactly Hermitian.
Matrix scaled(const Matrix& a, const std::vector<double>& d) {
  Matrix out(a.rows(), a.columns());
  for (int j = 0; j < a.columns(); ++j)
    for (int i = 0; i < a.rows(); ++i) out(i, j) = 0.5 * (a(i, j) + std::conj(a(j, i))) * (d[size(i)] * d[size(j)]);
  return out;
}

void scale_rows(Matrix& a, const std::vector<double>& d) {
  for (int j = 0; j < a.columns(); ++j)
    for (int i = 0; i < a.rows(); ++i) a(i, j) *= d[size(i)];
}

/// By the Cholesky factor: S = L L^H, (L^-1 H L^-H) y = e y, c = L^-H y. Not found if L is too badly conditioned.
Eigenpairs by_cholesky(const Matrix& h, Matrix factor, int wanted) {
  constexpr double smallest_pivot = 1e-5;  // of S with a unit diagonal: orthogonality is lost as 1 / pivot^2
  const int n = h.rows();
  int info = 0;
  {
    const blas::OneThread one_thread;
    zpotrf_("L", &n, factor.data(), &n, &info, 1);
  }
  if (info != 0) return {};
  double pivot = 1;
  for (int i = 0; i < n; ++i) pivot = std::min(pivot, factor(i, i).real());
  if (!(pivot > smallest_pivot)) return {};

  Matrix reduced = h;
  blas::solve_lower('L', factor.data(), Op::none, n, n, reduced.data());
  blas::solve_lower('R', factor.data(), Op::adjoint, n, n, reduced.data());
  Eigenpairs all = eigenpairs(reduced);
  if (!all.found) return {};
  all.values.resize(size(wanted));
  all.vectors = all.vectors.part(0, 0, n, wanted);
  blas::solve_lower('L', factor.data(), Op::adjoint, n, wanted, all.vectors.data());
  all.condition = 1 / (pivot * pivot);
  return all;
}

/// By the eigenvectors of S with large enough weight: B = U s^(-1/2), (B^H H B) y = e y, c = B y.
Eigenpairs by_canonical_vectors(const Matrix& h, const Matrix& s, int wanted) {
  constexpr double smallest_weight = 1e-12;
  const int n = h.rows();
  const Eigenpairs overlap = eigenpairs(s);
  if (!overlap.found) return {};
  const double largest = overlap.values.back();
  int left_out = 0;
  while (left_out < n && !(overlap.values[size(left_out)] > smallest_weight * largest)) ++left_out;
  const int rank = n - left_out;
  if (rank < wanted) return {};
  Matrix basis = overlap.vectors.part(0, left_out, n, rank);
  for (int j = 0; j < rank; ++j) {
    const double factor = 1 / std::sqrt(overlap.values[size(left_out + j)]);
    for (int i = 0; i < n; ++i) basis(i, j) *= factor;
  }
  Eigenpairs all = eigenpairs(product(basis, Op::adjoint, product(h, Op::none, basis, Op::none), Op::none));
  if (!all.found) return {};
  all.values.resize(size(wanted));
  all.vectors = product(basis, Op::none, all.vectors.part(0, 0, rank, wanted), Op::none);
  all.condition = largest / overlap.values[size(left_out)];
  return all;
}

}  // namespace

Eigenpairs eigenpairs(const Matrix& h) {
  assert(h.rows() == h.columns());
  Eigenpairs pairs;
  if (!finite(h)) return pairs;
  const int n = h.rows();
  pairs.vectors = h;
  pairs.values.resize(size(n));
  int info = 0;
  Complex work_size = 0;
  double real_size = 0;
  int integer_size = 0;
  const int ask = -1;
  // OpenMP threads help only for large matrices.
  constexpr int large = 512;
  std::optional<blas::OneThread> one_thread;
  if (n < large || blas::library().threads != blas::ThreadModel::openmp) one_thread.emplace();
  zheevd_("V", "L", &n, pairs.vectors.data(), &n, pairs.values.data(), &work_size, &ask, &real_size, &ask,
          &integer_size, &ask, &info, 1, 1);
  const int lwork = std::max(1, static_cast<int>(work_size.real())), lrwork = std::max(1, static_cast<int>(real_size));
  const int liwork = std::max(1, integer_size);
  std::vector<Complex> work(size(lwork));
  std::vector<double> rwork(size(lrwork));
  std::vector<int> iwork(size(liwork));
  zheevd_("V", "L", &n, pairs.vectors.data(), &n, pairs.values.data(), work.data(), &lwork, rwork.data(), &lrwork,
          iwork.data(), &liwork, &info, 1, 1);
  if (info != 0) return {};
  pairs.found = true;
  return pairs;
}

Eigenpairs generalised_eigenpairs(const Matrix& h, const Matrix& s, int wanted) {
  assert(h.rows() == h.columns() && s.rows() == h.rows() && s.columns() == h.rows() && wanted <= h.rows());
  if (!finite(h) || !finite(s)) return {};
  std::vector<double> d(size(h.rows()));
  for (int i = 0; i < h.rows(); ++i) {
    const double norm = s(i, i).real();
    if (!(norm >= 0)) return {};
    d[size(i)] = norm > 0 ? 1 / std::sqrt(norm) : 0.0;  // a zero vector is left out
  }
  const Matrix unit_h = scaled(h, d), unit_s = scaled(s, d);
  Eigenpairs pairs = by_cholesky(unit_h, unit_s, wanted);
  if (!pairs.found) pairs = by_canonical_vectors(unit_h, unit_s, wanted);
  if (pairs.found) scale_rows(pairs.vectors, d);
  return pairs;
}

std::vector<double> least_squares(const std::vector<double>& a, const std::vector<double>& b, double cut) {
  const int n = static_cast<int>(b.size());
  if (n == 0) return {};
  Matrix matrix(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) matrix(i, j) = a[size(i) * size(n) + size(j)];
  const Eigenpairs pairs = eigenpairs(matrix);
  std::vector<double> x(size(n), 0.0);
  if (!pairs.found) return x;
  for (int k = 0; k < n; ++k) {
    const double value = pairs.values[size(k)];
    if (!(value > cut * pairs.values.back()) || !(value > 0)) continue;
    Complex projection = 0;
    for (int i = 0; i < n; ++i) projection += std::conj(pairs.vectors(i, k)) * b[size(i)];
    for (int i = 0; i < n; ++i) x[size(i)] += (pairs.vectors(i, k) * projection).real() / value;
  }
  return x;
}

}  // namespace halocline::tddft
