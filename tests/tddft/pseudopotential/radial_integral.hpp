// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Integrals along a radius and derivatives, the plain way, for the tests of pseudopotentials.

#include <cmath>

namespace halocline::tddft::test {

/// integral of f from a to b by Simpson's rule.
template <class Function>
double integral(Function&& f, double a, double b, int intervals = 4000) {
  const double step = (b - a) / intervals;
  double sum = f(a) + f(b);
  for (int i = 1; i < intervals; ++i) sum += (i % 2 == 1 ? 4 : 2) * f(a + i * step);
  return sum * step / 3;
}

/// f'(x) by a central difference of sixth order.
template <class Function>
double derivative(Function&& f, double x, double h = 1e-3) {
  return (45 * (f(x + h) - f(x - h)) - 9 * (f(x + 2 * h) - f(x - 2 * h)) + f(x + 3 * h) - f(x - 3 * h)) / (60 * h);
}

}  // namespace halocline::tddft::test
