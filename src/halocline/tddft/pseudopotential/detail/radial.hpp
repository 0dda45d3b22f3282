// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Integrals of a radial function of finite support, by Simpson's rule.

#include <functional>
#include <vector>

namespace halocline::tddft::detail {

/// Spherical Bessel function j_l(x) for l = 0 ... 3, x >= 0; by its power series where the closed form loses digits.
double spherical_bessel(int l, double x);

/// A function f(r) on [0, radius], sampled once.
class RadialFunction {
public:
  /// @param intervals  of Simpson's rule, even
  template <class Function>
  RadialFunction(Function&& f, double radius, int intervals = 400) : step_(radius / intervals) {
    for (int i = 0; i <= intervals; ++i) {
      // Functions are zero from the radius on; the end of the integral must count as inside.
      const double r = i == intervals ? radius * (1 - 1e-12) : step_ * i;
      const double weight = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
      r_.push_back(r);
      f_.push_back(f(r));
      weight_.push_back(weight * step_ / 3);
    }
  }

  /// integral of r^2 f(r)^2 dr.
  double norm2() const;
  /// integral of r^2 f(r) g(r) dr. @param g  of the same radius and number of intervals
  double overlap(const RadialFunction& g) const;
  /// sqrt(2/pi) integral of r^2 j_l(q r) f(r) dr: its square integrated with q^2 dq gives norm2 again.
  double bessel_transform(int l, double q) const;

private:
  double step_;
  std::vector<double> r_, f_, weight_;
};

}  // namespace halocline::tddft::detail
