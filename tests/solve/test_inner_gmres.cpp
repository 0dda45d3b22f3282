// SPDX-License-Identifier: Apache-2.0
// GMRES inside a preconditioner: least residuals by one sum an iteration, with directions deflated.

#include "dense_space.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/inner_gmres.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {

constexpr int n = 40;

/// A space of one process, whose sums with others it can make.
struct Space : FusedSpace<double> {
  using FusedSpace<double>::FusedSpace;
  FinishedSums reduce_with(std::span<const Dot<Vector>> dots, std::span<Scalar>) {
    ++together;
    return update_and_reduce({}, dots);
  }
  int together = 0;
};

/// The columns of an orthonormal matrix.
struct Directions {
  Matrix c;
  Scalars products(const DenseVector<double>& v) const {
    const Matrix all = c.adjoint() * to_eigen(v, n);
    Scalars out;
    for (Eigen::Index i = 0; i < all.rows(); ++i)
      for (Eigen::Index column = 0; column < all.cols(); ++column) out.push_back(all(i, column));
    return out;
  }
  void remove(DenseVector<double>& w, std::span<const Scalar> a) const {
    const auto columns = static_cast<Eigen::Index>(w.data.size()) / n;
    Matrix taken(c.cols(), columns);
    for (Eigen::Index i = 0; i < c.cols(); ++i)
      for (Eigen::Index column = 0; column < columns; ++column)
        taken(i, column) = a[static_cast<std::size_t>(i * columns + column)];
    w = from_eigen<double>(to_eigen(w, n) - c * taken);
  }
};

double residual(const Matrix& a, const DenseVector<double>& x, const Matrix& b, int column) {
  return (b - product(a, to_eigen(x, n))).col(column).norm();
}

}  // namespace

TEST_CASE("inner gmres: the iterations and the solution of gmres, by one sum an iteration") {
  const Matrix a = disc_matrix(n, 0.8, 3), b = random_matrix(n, 2, 4);
  Space space(n, 2);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create(), expected = space.create();
  SolveOptions options;
  options.tolerance = 1e-3;
  options.restart_length = 30;
  const auto known = fgmres(space, op, expected, source, options);
  InnerGmres inner(space, {.tolerance = 1e-3, .max_iterations = 100, .restart_length = 30});
  const NoPreconditioner none;
  for (int again = 0; again < 2; ++again) {
    space.groups.clear();
    op.applications = 0;
    const auto found = inner.solve(op, x, source, none);
    CHECK(found.iterations == known.iterations);
    CHECK(op.applications == found.iterations);
    CHECK(found.along.empty());
    CHECK(space.groups.size() == static_cast<std::size_t>(found.iterations) + 1);
    CHECK((to_eigen(x, n) - to_eigen(expected, n)).norm() < 1e-10 * to_eigen(expected, n).norm());
  }
}

TEST_CASE("inner gmres: restarts go on from the true residual, and the number of iterations is kept to") {
  const Matrix a = disc_matrix(n, 0.8, 3), b = random_matrix(n, 2, 4);
  Space space(n, 2);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const NoPreconditioner none;
  InnerGmres(space, {.tolerance = 1e-6, .max_iterations = 500, .restart_length = 4}).solve(op, x, source, none);
  for (int column : {0, 1}) CHECK(residual(a, x, b, column) <= 1.01e-6 * b.col(column).norm());
  CHECK(InnerGmres(space, {.tolerance = 1e-6, .max_iterations = 7, .restart_length = 4})
            .solve(op, x, source, none)
            .iterations == 7);
}

TEST_CASE("inner gmres: with a preconditioner that changes from call to call") {
  const Matrix a = disc_matrix(n, 0.8, 3), b = random_matrix(n, 1, 4);
  Space space(n, 1);
  DenseOperator<double> op(a);
  struct Changing {
    void apply(DenseVector<double>& out, const DenseVector<double>& in) {
      out = in;
      ++calls;
      for (std::size_t i = 0; i < out.data.size(); ++i) out.data[i] *= 1.0 + 0.5 * std::sin(double(i) * calls);
    }
    int calls = 0;
  } changing;
  auto x = space.create();
  InnerGmres(space, {.tolerance = 1e-8, .max_iterations = 60, .restart_length = 60})
      .solve(op, x, from_eigen<double>(b), changing);
  CHECK(residual(a, x, b, 0) <= 1.01e-8 * b.norm());
}

TEST_CASE("inner gmres: deflated directions complete the solution, and save iterations") {
  // Four small singular values, whose directions are deflated.
  const Matrix left = random_unitary(n, 7), right = random_unitary(n, 8);
  Eigen::VectorXcd values(n);
  for (int i = 0; i < n; ++i) values(i) = i < 4 ? 1e-4 * (i + 1) : 1.0 + 0.01 * i;
  const Matrix a = left * values.asDiagonal() * left.adjoint() * (Matrix::Identity(n, n) + 0.05 * right);
  const Matrix u = solution(a, left.leftCols(4)), b = random_matrix(n, 2, 9);
  const Directions c{left.leftCols(4)};
  Space space(n, 2);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const NoPreconditioner none;
  for (int restart : {30, 3}) {
    InnerGmres inner(space, {.tolerance = 1e-5, .max_iterations = 60, .restart_length = restart});
    space.together = 0;
    const auto found = inner.solve(op, x, source, none, c);
    CHECK(found.iterations < 30);
    // A u is near the span already, so that a second round may be needed.
    if (restart == 30) CHECK(space.together <= 2 * found.iterations + 1);
    Matrix whole = to_eigen(x, n);
    for (int i = 0; i < 4; ++i)
      for (int column = 0; column < 2; ++column)
        whole.col(column) += u.col(i) * found.along[static_cast<std::size_t>(2 * i + column)];
    for (int column : {0, 1}) CHECK((b - a * whole).col(column).norm() < 1.01e-5 * b.col(column).norm());
  }
}

TEST_CASE("inner gmres: columns are independent of one that is zero or NaN, and an eigenvector takes one step") {
  Matrix a = Matrix::Identity(n, n) * 2.0;
  Space space(n, 3);
  DenseOperator<double> op(a);
  auto source = from_eigen<double>(random_matrix(n, 3, 4));
  std::fill_n(source.data.begin(), n, 0.0);
  source.data[n] = std::nan("");
  auto x = space.create();
  const NoPreconditioner none;
  InnerGmres inner(space, {.tolerance = 1e-12});
  CHECK(inner.solve(op, x, source, none).iterations == 1);
  for (int i = 0; i < n; ++i) CHECK(x.data[static_cast<std::size_t>(i)] == 0.0);
  for (int i = 2 * n; i < 3 * n; ++i)
    CHECK(std::abs(x.data[static_cast<std::size_t>(i)] - 0.5 * source.data[static_cast<std::size_t>(i)]) < 1e-15);
}
