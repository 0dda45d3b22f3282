// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/cubic_spline.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace halocline::tddft::detail {

CubicSpline::CubicSpline(std::vector<double> x, std::vector<double> y)
    : x_(std::move(x)), y_(std::move(y)), curvature_(x_.size(), 0.0) {
  const std::size_t n = x_.size();
  assert(n >= 2 && y_.size() == n);
  // Continuity of the slope at inner nodes, h_{i-1} c_{i-1} + 2 (h_{i-1} + h_i) c_i + h_i c_{i+1} = 6 (jump of the
  // difference quotients), solved by elimination downwards and substitution upwards.
  std::vector<double> above(n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double before = x_[i] - x_[i - 1], after = x_[i + 1] - x_[i];
    const double pivot = 2 * (before + after) - before * above[i - 1];
    above[i] = after / pivot;
    const double jump = (y_[i + 1] - y_[i]) / after - (y_[i] - y_[i - 1]) / before;
    curvature_[i] = (6 * jump - before * curvature_[i - 1]) / pivot;
  }
  for (std::size_t i = n - 1; i-- > 1;) curvature_[i] -= above[i] * curvature_[i + 1];

  const double step = (x_.back() - x_.front()) / static_cast<double>(n - 1);
  bool uniform = true;
  for (std::size_t i = 0; i < n; ++i)
    uniform = uniform && std::abs(x_[i] - (x_.front() + step * static_cast<double>(i))) < 1e-9 * step;
  if (uniform) step_ = step;
}

std::size_t CubicSpline::interval(double x) const noexcept {
  const std::size_t last = x_.size() - 2;
  if (!(x > x_.front())) return 0;
  if (x >= x_[last]) return last;
  if (step_ > 0) return std::min(static_cast<std::size_t>((x - x_.front()) / step_), last);
  return static_cast<std::size_t>(std::upper_bound(x_.begin(), x_.end(), x) - x_.begin()) - 1;
}

double CubicSpline::value(double x) const {
  const std::size_t i = interval(x);
  const double h = x_[i + 1] - x_[i], b = (x - x_[i]) / h, a = 1 - b;
  return a * y_[i] + b * y_[i + 1] +
         ((a * a * a - a) * curvature_[i] + (b * b * b - b) * curvature_[i + 1]) * (h * h / 6);
}

double CubicSpline::slope(double x) const {
  const std::size_t i = interval(x);
  const double h = x_[i + 1] - x_[i], b = (x - x_[i]) / h, a = 1 - b;
  return (y_[i + 1] - y_[i]) / h + ((3 * b * b - 1) * curvature_[i + 1] - (3 * a * a - 1) * curvature_[i]) * (h / 6);
}

}  // namespace halocline::tddft::detail
