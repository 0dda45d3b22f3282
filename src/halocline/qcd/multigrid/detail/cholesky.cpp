// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/detail/cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace halocline::qcd::multigrid {

Matrix inverse_factor(const Matrix& g, double& least) {
  const int n = g.size;
  Matrix l(n), x(n);
  for (int j = 0; j < n; ++j) {
    double pivot = g(j, j).real();
    for (int k = 0; k < j; ++k) pivot -= std::norm(l(j, k));
    const double ratio = pivot / g(j, j).real();
    // A NaN must not pass: it fails every comparison.
    least = ratio < least ? ratio : (ratio >= least ? least : 0.0);
    if (!(pivot > 0)) {
      least = std::min(least, 0.0);
      return x;
    }
    l(j, j) = std::sqrt(pivot);
    for (int i = j + 1; i < n; ++i) {
      std::complex<double> entry = g(i, j);
      for (int k = 0; k < j; ++k) entry -= l(i, k) * std::conj(l(j, k));
      l(i, j) = entry / l(j, j).real();
    }
  }
  // Row i of L^-1, conjugated, is column i of the result.
  for (int column = 0; column < n; ++column) {
    x(column, column) = 1 / l(column, column).real();
    for (int i = column + 1; i < n; ++i) {
      std::complex<double> entry = 0;
      for (int k = column; k < i; ++k) entry -= l(i, k) * std::conj(x(column, k));
      x(column, i) = std::conj(entry / l(i, i).real());
    }
  }
  return x;
}

}  // namespace halocline::qcd::multigrid
