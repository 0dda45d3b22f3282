// SPDX-License-Identifier: Apache-2.0
/// @file
/// Householder reflections and back substitution.

#include "halocline/solve/detail/dense_least_squares.hpp"

#include <algorithm>
#include <cmath>

#include "halocline/solve/detail/least_squares.hpp"

namespace halocline::solve::detail {

void DenseLeastSquares::Reflector::apply(std::vector<Scalar>& v) const {
  Scalar dot = 0.0;
  for (std::size_t i = 0; i < w.size(); ++i) dot += std::conj(w[i]) * v[first + i];
  for (std::size_t i = 0; i < w.size(); ++i) v[first + i] -= 2.0 * dot * w[i];
}

double DenseLeastSquares::append(std::vector<Scalar> column) {
  const std::size_t j = size();
  g_.resize(std::max(g_.size(), column.size()));
  column.resize(g_.size());
  double whole2 = 0.0;
  for (const Scalar& entry : column) whole2 += std::norm(entry);
  for (const Reflector& reflector : reflectors_) reflector.apply(column);

  // The reflection maps the entries from j on to (-phase * length, 0, ...): no cancellation.
  Reflector reflector{j, {column.begin() + static_cast<std::ptrdiff_t>(j), column.end()}};
  double norm2 = 0.0;
  for (const Scalar& entry : reflector.w) norm2 += std::norm(entry);
  const Scalar first = reflector.w.front();
  if (norm2 > 1e-30 * whole2) {
    const double length = std::sqrt(norm2);
    const Scalar phase = std::abs(first) > 0.0 ? first / std::abs(first) : Scalar(1.0);
    reflector.w.front() += phase * length;
    const double w_length = std::sqrt(2.0 * length * (length + std::abs(first)));
    for (Scalar& entry : reflector.w) entry /= w_length;
    column[j] = -phase * length;
  } else {
    reflector.w.clear();
    column[j] = 0.0;
  }
  reflector.apply(g_);
  reflectors_.push_back(std::move(reflector));
  column.resize(j + 1);
  triangle_.push_back(std::move(column));

  double residual2 = 0.0;
  for (std::size_t i = 0; i < g_.size(); ++i)
    if (i > j || triangle_[i][i] == 0.0) residual2 += std::norm(g_[i]);
  return residual2;
}

std::vector<DenseLeastSquares::Scalar> DenseLeastSquares::solve() const { return solve_triangle(triangle_, g_); }

std::vector<DenseLeastSquares::Scalar> DenseLeastSquares::complement() const {
  std::vector<Scalar> out(g_.size());
  out[size()] = 1.0;
  for (std::size_t j = size(); j-- > 0;) reflectors_[j].apply(out);
  return out;
}

}  // namespace halocline::solve::detail
