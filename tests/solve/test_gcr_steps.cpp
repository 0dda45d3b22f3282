// SPDX-License-Identifier: Apache-2.0
// A fixed number of GCR steps: the minimal residual of the Krylov space, in as many applications.

#include "dense_space.hpp"
#include "halocline/solve/gcr_steps.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace halocline::solve;
using namespace halocline::solve::test;

TEST_CASE("gcr steps: the residual is the least of the Krylov space, column by column") {
  const int n = 20, steps = 4;
  const Matrix a = disc_matrix(n, 0.7, 3), b = random_matrix(n, 3, 4);
  FusedSpace<double> space(n, 3);
  DenseOperator<double> op(a);
  auto source = from_eigen<double>(b);
  std::fill_n(source.data.begin() + n, n, 0.0);  // the second column is zero
  auto x = space.create();
  GcrSteps smoother(space, steps);
  for (int again = 0; again < 2; ++again) {
    op.applications = 0;
    smoother.apply(op, x, source);
    CHECK(op.applications == steps);
    for (int column : {0, 2}) {
      Matrix images(n, steps);
      Column v = b.col(column);
      for (int j = 0; j < steps; ++j) images.col(j) = v = product(a, v);
      const Column found = product(a, Eigen::Map<const Matrix>(x.data.data() + column * n, n, 1));
      // Some hundred epsilon: the Krylov vectors of the reference are not orthogonal.
      CHECK((found - projection(images, b.col(column))).norm() < 1e-12 * b.col(column).norm());
    }
    for (int i = 0; i < n; ++i) CHECK(x.data[static_cast<std::size_t>(n + i)] == 0.0);
  }
}

TEST_CASE("gcr steps: more steps than the space has dimensions solve the system, and a NaN stays one") {
  const int n = 3;
  const Matrix a = disc_matrix(n, 0.5, 5), b = random_matrix(n, 2, 6);
  DenseSpace<double> space(n, 2);
  DenseOperator<double> op(a);
  auto source = from_eigen<double>(b);
  auto x = space.create();
  GcrSteps smoother(space, 6);
  smoother.apply(op, x, source);
  CHECK((product(a, Eigen::Map<const Matrix>(x.data.data(), n, 2)) - b).norm() < 1e-12 * b.norm());
  source.data[1] = std::nan("");
  smoother.apply(op, x, source);
  CHECK(std::isnan(std::abs(x.data[0])));
  CHECK(std::isfinite(std::abs(x.data[n])));
}
