// SPDX-License-Identifier: Apache-2.0
//
// The dense algebra that the solvers are held against, in one file: Eigen's templates take long to compile.

#include <doctest/doctest.h>

#include "dense_space.hpp"

namespace halocline::solve::test {

Matrix product(const Matrix& a, const Matrix& b) { return a * b; }
Matrix solution(const Matrix& a, const Matrix& b) { return Eigen::HouseholderQR<Matrix>(a).solve(b); }
Column projection(const Matrix& columns, const Column& b) { return columns * solution(columns, b); }
Matrix random_unitary(int n, unsigned seed) {
  return Eigen::HouseholderQR<Matrix>(random_matrix(n, n, seed)).householderQ();
}

Matrix with_spectrum(const Eigen::VectorXd& values, unsigned seed) {
  const Matrix q = random_unitary(static_cast<int>(values.size()), seed);
  const Matrix m = q * values.cast<Scalar>().asDiagonal() * q.adjoint();
  return 0.5 * (m + m.adjoint());
}

Matrix positive_matrix(int n, double condition, unsigned seed) {
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = std::pow(condition, static_cast<double>(i) / (n - 1));
  return with_spectrum(values, seed);
}

Matrix disc_matrix(int n, double radius, unsigned seed) {
  return Matrix::Identity(n, n) + radius / std::sqrt(2.0 * n) * random_matrix(n, n, seed);
}

TEST_CASE("dense matrices: a unitary matrix, a spectrum and a solution are what they are called") {
  // Products of some ten numbers of order one, and rotations of as many columns: 1e-13 is 450 roundings.
  const int n = 9;
  const Matrix u = random_unitary(n, 1);
  CHECK((product(u.adjoint(), u) - Matrix::Identity(n, n)).norm() < 1e-13);
  const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(n, -1.0, 3.0);
  const Matrix h = with_spectrum(values, 2);
  CHECK((h - h.adjoint()).norm() == 0);
  Matrix power = Matrix::Identity(n, n);
  for (int k = 1; k <= n; ++k) {  // n moments are those of one spectrum only
    power = product(power, h);
    CHECK(std::abs(power.trace() - values.array().pow(k).sum()) < 1e-12 * std::pow(3.0, k));
  }
  const Matrix a = disc_matrix(n, 0.5, 3), b = random_matrix(n, 2, 4);
  CHECK((product(a, solution(a, b)) - b).norm() < 1e-13 * b.norm());
  const Column left = b.col(0) - projection(a.leftCols(4), b.col(0));
  CHECK((a.leftCols(4).adjoint() * left).norm() < 1e-13 * b.norm());
}

}  // namespace halocline::solve::test
