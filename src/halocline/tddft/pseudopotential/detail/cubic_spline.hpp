// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Natural cubic spline through a table: second derivatives vanish at both ends.
///
/// Nodes may have any increasing positions. For equally spaced nodes (KY files) the interval is found by a division,
/// otherwise (logarithmic meshes of UPF files) by bisection.

#include <vector>

namespace halocline::tddft::detail {

class CubicSpline {
public:
  CubicSpline() = default;
  /// @param x  at least two, increasing
  /// @param y  of the same length
  /// Cost: one tridiagonal solution, 8 operations for each node.
  CubicSpline(std::vector<double> x, std::vector<double> y);

  /// Beyond the table the first and the last cubic polynomial continue.
  double value(double x) const;
  double slope(double x) const;
  double first() const noexcept { return x_.front(); }
  double last() const noexcept { return x_.back(); }
  bool empty() const noexcept { return x_.empty(); }

private:
  std::size_t interval(double x) const noexcept;

  std::vector<double> x_, y_, curvature_;
  double step_ = 0;  ///< distance of equally spaced nodes; otherwise 0
};

}  // namespace halocline::tddft::detail
