// SPDX-License-Identifier: Apache-2.0
/// @file
/// Textbook factorizations; the matrices are so small that their cost does not matter.

#include "halocline/solve/detail/block_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halocline::solve::detail {

namespace {
using Complex = std::complex<double>;

// A pivot below this fraction of its column is rounding error.
constexpr double vanishing_pivot = 1e-14;
// After elimination, a column's squared norm from a Gram matrix has an absolute error of 1e-16 times its squared norm
// before. It is trusted as a pivot above this fraction.
constexpr double trusted_pivot = 1e-8;
// If all pivots are above this fraction, one round gives columns that are orthonormal up to rounding errors.
constexpr double accurate_pivot = 0.1;

bool finite_number(Complex value) noexcept { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

/// Pivots, and the rows of the triangular factor: rows(k, j) = <q_k, w_j> for all columns j not taken before k.
struct PivotedCholesky {
  BlockMatrix rows;
  std::vector<std::size_t> pivots;
  std::vector<double> left;  ///< squared norm of each column after the elimination
  std::vector<bool> taken;
  double worst = 1.0;  ///< least pivot, as a fraction of its column

  explicit PivotedCholesky(const BlockMatrix& gram) : rows(gram.size()), taken(gram.size(), false) {
    for (std::size_t j = 0; j < gram.size(); ++j) left.push_back(gram(j, j).real());
  }

  /// The best next pivot among the columns [begin, end), or `end`.
  std::size_t best(const BlockMatrix& gram, std::size_t begin, std::size_t end, double least2) const {
    std::size_t found = end;
    for (std::size_t j = begin; j < end; ++j) {
      if (taken[j] || left[j] <= least2 || left[j] <= trusted_pivot * gram(j, j).real()) continue;
      if (found == end || left[j] > left[found]) found = j;
    }
    return found;
  }

  void take(const BlockMatrix& gram, std::size_t pivot) {
    const std::size_t k = pivots.size();
    const double root = std::sqrt(left[pivot]);
    worst = std::min(worst, left[pivot] / gram(pivot, pivot).real());
    taken[pivot] = true;
    rows(k, pivot) = root;
    for (std::size_t j = 0; j < gram.size(); ++j) {
      if (taken[j]) continue;
      Complex sum = gram(pivot, j);
      for (std::size_t i = 0; i < k; ++i) sum -= std::conj(rows(i, pivot)) * rows(i, j);
      rows(k, j) = sum / root;
      left[j] -= std::norm(rows(k, j));
    }
    pivots.push_back(pivot);
  }
};
}  // namespace

BlockMatrix BlockMatrix::identity(std::size_t n, std::size_t rank) {
  BlockMatrix one(n);
  for (std::size_t i = 0; i < rank; ++i) one(i, i) = 1.0;
  return one;
}

BlockMatrix operator*(const BlockMatrix& a, const BlockMatrix& b) {
  const std::size_t n = a.size();
  BlockMatrix out(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) out(i, j) += a(i, k) * b(k, j);
  return out;
}

BlockMatrix operator*(std::complex<double> factor, const BlockMatrix& a) {
  BlockMatrix out = a;
  for (Complex& entry : out.entries()) entry *= factor;
  return out;
}

BlockMatrix adjoint(const BlockMatrix& a) {
  BlockMatrix out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) out(j, i) = std::conj(a(i, j));
  return out;
}

bool finite(const BlockMatrix& a) noexcept {
  return std::all_of(a.entries().begin(), a.entries().end(), finite_number);
}

std::vector<std::complex<double>> column_norms2(const BlockMatrix& a) {
  std::vector<Complex> out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) out[j] += std::norm(a(i, j));
  return out;
}

std::optional<BlockMatrix> inverse_of_positive(const BlockMatrix& a, std::size_t rank) {
  if (!finite(a)) return std::nullopt;
  BlockMatrix inverse_factor(a.size()), lower(a.size());  // a = L L^dagger
  for (std::size_t j = 0; j < rank; ++j) {
    double pivot = a(j, j).real();
    for (std::size_t k = 0; k < j; ++k) pivot -= std::norm(lower(j, k));
    if (!(pivot > vanishing_pivot * a(j, j).real())) return std::nullopt;
    lower(j, j) = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < rank; ++i) {
      // The hermitian part: rounding errors make the two triangles of a computed matrix differ.
      Complex sum = 0.5 * (a(i, j) + std::conj(a(j, i)));
      for (std::size_t k = 0; k < j; ++k) sum -= lower(i, k) * std::conj(lower(j, k));
      lower(i, j) = sum / lower(j, j);
    }
  }
  for (std::size_t j = 0; j < rank; ++j) {
    for (std::size_t i = j; i < rank; ++i) {
      Complex sum = i == j ? 1.0 : 0.0;
      for (std::size_t k = j; k < i; ++k) sum -= lower(i, k) * inverse_factor(k, j);
      inverse_factor(i, j) = sum / lower(i, i);
    }
  }
  BlockMatrix out = adjoint(inverse_factor) * inverse_factor;
  if (!finite(out)) return std::nullopt;
  return out;
}

std::optional<BlockMatrix> solve_small(const BlockMatrix& a, const BlockMatrix& b, std::size_t rank) {
  if (!finite(a) || !finite(b)) return std::nullopt;
  BlockMatrix left = a, out = b;
  const std::vector<Complex> norms2 = column_norms2(a);
  const std::size_t n = a.size();
  for (std::size_t k = 0; k < rank; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < rank; ++i)
      if (std::abs(left(i, k)) > std::abs(left(pivot, k))) pivot = i;
    if (!(std::abs(left(pivot, k)) > vanishing_pivot * std::sqrt(norms2[k].real()))) return std::nullopt;
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(left(k, j), left(pivot, j));
      std::swap(out(k, j), out(pivot, j));
    }
    for (std::size_t i = k + 1; i < rank; ++i) {
      const Complex factor = left(i, k) / left(k, k);
      for (std::size_t j = 0; j < n; ++j) {
        left(i, j) -= factor * left(k, j);
        out(i, j) -= factor * out(k, j);
      }
    }
  }
  for (std::size_t k = rank; k-- > 0;)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = k + 1; i < rank; ++i) out(k, j) -= left(k, i) * out(i, j);
      out(k, j) /= left(k, k);
    }
  for (std::size_t i = rank; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) out(i, j) = 0.0;
  if (!finite(out)) return std::nullopt;
  return out;
}

double least_singular_value(const BlockMatrix& a, std::size_t rank) {
  const auto inverse = solve_small(a, BlockMatrix::identity(a.size(), rank), rank);
  if (!inverse) return 0.0;
  double norm2 = 0.0;
  for (const Complex& entry : inverse->entries()) norm2 += std::norm(entry);
  return 1.0 / std::sqrt(norm2);
}

OrthonormalRound orthonormal_round(const BlockMatrix& gram, std::size_t settled, double least) {
  const std::size_t n = gram.size();
  const double least2 = least * least;
  PivotedCholesky cholesky(gram);
  for (std::size_t j = 0; (j = cholesky.best(gram, 0, settled, least2)) < settled;) cholesky.take(gram, j);
  for (std::size_t j = 0; (j = cholesky.best(gram, 0, n, least2)) < n;) cholesky.take(gram, j);

  const BlockMatrix& rows = cholesky.rows;
  const std::vector<std::size_t>& pivots = cholesky.pivots;
  const std::size_t rank = pivots.size();
  OrthonormalRound round{BlockMatrix(n), BlockMatrix(n), rank, 0, cholesky.worst >= accurate_pivot};
  // Column k of q = w R^-1, with R upper triangular in the order of the pivots.
  for (std::size_t k = 0; k < rank; ++k) {
    round.transform(pivots[k], k) = 1.0;
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < n; ++j) round.transform(j, k) -= round.transform(j, i) * rows(i, pivots[k]);
    for (std::size_t j = 0; j < n; ++j) round.transform(j, k) /= rows(k, pivots[k]);
  }
  // The columns that are left: in the span of q up to a fraction 1e-4 of their norm. If q is accurate, their components
  // along q are subtracted; otherwise they wait for a round with an accurate q.
  for (std::size_t j = 0; j < n; ++j) {
    const bool open = !cholesky.taken[j] && trusted_pivot * gram(j, j).real() > least2;
    const std::size_t place = rank + round.open;
    if (open) {
      round.transform(j, place) = 1.0;
      round.factor(place, j) = 1.0;
      ++round.open;
    }
    if (open && !round.accurate) continue;
    for (std::size_t k = 0; k < rank; ++k) {
      round.factor(k, j) = rows(k, j);
      if (open)
        for (std::size_t i = 0; i < n; ++i) round.transform(i, place) -= round.transform(i, k) * rows(k, j);
    }
  }
  return round;
}

}  // namespace halocline::solve::detail
