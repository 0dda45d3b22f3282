// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/radial.hpp"

#include <cmath>
#include <numbers>

namespace halocline::tddft::detail {

double spherical_bessel(int l, double x) {
  if (x < 0.5 + 0.5 * l) {
    // x^l / (2l+1)!! sum_k (-x^2/2)^k / (k! (2l+3)(2l+5)...(2l+2k+1)); 12 terms reach 1e-17 for x < 2.
    double term = 1;
    for (int k = 1; k <= l; ++k) term *= x / (2 * k + 1);
    double sum = term;
    for (int k = 1; k < 12; ++k) {
      term *= -0.5 * x * x / (k * (2 * l + 2 * k + 1));
      sum += term;
    }
    return sum;
  }
  double before = std::sin(x) / x;
  if (l == 0) return before;
  double now = (before - std::cos(x)) / x;
  for (int k = 1; k < l; ++k) {
    const double next = (2 * k + 1) / x * now - before;
    before = now;
    now = next;
  }
  return now;
}

double RadialFunction::norm2() const { return overlap(*this); }

double RadialFunction::overlap(const RadialFunction& g) const {
  double sum = 0;
  for (std::size_t i = 0; i < r_.size(); ++i) sum += weight_[i] * r_[i] * r_[i] * f_[i] * g.f_[i];
  return sum;
}

double RadialFunction::bessel_transform(int l, double q) const {
  double sum = 0;
  for (std::size_t i = 0; i < r_.size(); ++i)
    sum += weight_[i] * r_[i] * r_[i] * f_[i] * spherical_bessel(l, q * r_[i]);
  return std::sqrt(2 / std::numbers::pi) * sum;
}

}  // namespace halocline::tddft::detail
