// SPDX-License-Identifier: Apache-2.0
/// @file
/// Givens rotations and back substitution.

#include "halocline/solve/detail/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace halocline::solve::detail {

double HessenbergLeastSquares::append(std::span<const Scalar> upper, double subdiagonal) {
  const std::size_t j = size();
  std::vector<Scalar> column(upper.begin(), upper.end());
  for (std::size_t i = 0; i < j; ++i) {
    const Scalar a = column[i], b = column[i + 1];
    column[i] = cosine_[i] * a + sine_[i] * b;
    column[i + 1] = -std::conj(sine_[i]) * a + cosine_[i] * b;
  }
  // The rotation maps (d, h), with h real, to (length * phase of d, 0).
  const Scalar d = column[j];
  const double length = std::hypot(std::abs(d), subdiagonal);
  if (length == 0.0) {
    cosine_.push_back(1.0);
    sine_.emplace_back(0.0);
  } else if (std::abs(d) == 0.0) {
    cosine_.push_back(0.0);
    sine_.emplace_back(1.0);
    column[j] = subdiagonal;
  } else {
    const Scalar phase = d / std::abs(d);
    cosine_.push_back(std::abs(d) / length);
    sine_.push_back(phase * (subdiagonal / length));
    column[j] = phase * length;
  }
  rhs_.push_back(-std::conj(sine_[j]) * rhs_[j]);
  rhs_[j] *= cosine_[j];
  triangle_.push_back(std::move(column));
  return std::norm(rhs_[j + 1]);
}

std::vector<HessenbergLeastSquares::Scalar> HessenbergLeastSquares::solve() const {
  return solve_triangle(triangle_, rhs_);
}

std::vector<std::complex<double>> solve_triangle(const std::vector<std::vector<std::complex<double>>>& columns,
                                                 const std::vector<std::complex<double>>& g) {
  const auto length2 = [](std::span<const std::complex<double>> v) {
    double sum = 0.0;
    for (const auto& entry : v) sum += std::norm(entry);
    return sum;
  };
  const std::size_t size = columns.size();
  double longest2 = 0.0;
  for (const auto& column : columns) longest2 = std::max(longest2, length2(column));
  for (std::size_t n = size; n > 0; --n) {
    std::vector<std::complex<double>> y(g.begin(), g.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t j = n; j-- > 0;) {
      const std::complex<double> pivot = columns[j][j];
      y[j] = pivot == 0.0 ? std::complex<double>(0.0) : y[j] / pivot;
      for (std::size_t i = 0; i < j; ++i) y[i] -= columns[j][i] * y[j];
    }
    y.resize(size);
    // NaN is passed on: it must reach the residual.
    if (!(longest2 * length2(y) > 1e24 * length2(g))) return y;
  }
  return std::vector<std::complex<double>>(size);
}

std::vector<std::complex<double>> solve_unit_triangle(const std::vector<std::vector<std::complex<double>>>& columns,
                                                      std::vector<std::complex<double>> g) {
  for (std::size_t j = g.size(); j-- > 0;) {
    for (std::size_t i = 0; i < j; ++i) g[i] -= columns[j][i] * g[j];
  }
  return g;
}

}  // namespace halocline::solve::detail
