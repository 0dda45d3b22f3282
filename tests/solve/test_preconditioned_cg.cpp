// SPDX-License-Identifier: Apache-2.0
// Preconditioned CG: the recursion of a constant preconditioner, and preconditioners that vary or are bad.

#include "dense_space.hpp"
#include "halocline/solve/deflation.hpp"
#include "halocline/solve/preconditioned_cg.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
using Space = DenseSpace<double>;
using Op = DenseOperator<double>;

/// diag(A)^-1, a little different at every call.
struct Jacobi {
  std::vector<double> diagonal;
  double variation = 0.0;
  int calls = 0;
  void apply(DenseVector<double>& out, const DenseVector<double>& in) {
    const std::size_t rows = diagonal.size();
    ++calls;
    for (std::size_t i = 0; i < in.data.size(); ++i)
      out.data[i] =
          in.data[i] / diagonal[i % rows] * (1.0 + variation * std::sin(7.0 * calls + 3.0 * double(i % rows)));
  }
};

/// A badly scaled matrix: D C D with C of condition 10 and D from 1 to 100.
struct BadlyScaled {
  Matrix a;
  Jacobi jacobi;
};
BadlyScaled badly_scaled(int n) {
  Eigen::VectorXd d(n);
  for (int i = 0; i < n; ++i) d[i] = std::pow(100.0, ((7 * i) % n) / (n - 1.0));
  BadlyScaled out{d.cast<Scalar>().asDiagonal() * positive_matrix(n, 10.0, 2) * d.cast<Scalar>().asDiagonal(), {}};
  for (int i = 0; i < n; ++i) out.jacobi.diagonal.push_back(out.a(i, i).real());
  return out;
}
}  // namespace

TEST_CASE("preconditioned cg: a constant preconditioner gives the iterates of CG on the scaled system") {
  const int n = 40;
  const auto [a, jacobi] = badly_scaled(n);
  Column root(n);
  for (int i = 0; i < n; ++i) root[i] = 1.0 / std::sqrt(jacobi.diagonal[static_cast<std::size_t>(i)]);
  const Matrix b = random_matrix(n, 1, 1), scaled = root.asDiagonal() * a * root.asDiagonal();
  Space space(n);
  Op op(a), scaled_op(scaled);
  const auto source = from_eigen<double>(b), scaled_source = from_eigen<double>(root.asDiagonal() * b);
  for (int steps = 1; steps <= 12; ++steps) {
    SolveOptions options;
    options.max_iterations = steps;
    options.tolerance = 1e-13;
    auto x = space.create(), y = space.create();
    Jacobi m = jacobi;
    preconditioned_cg(space, op, x, source, options, m);
    cg(space, scaled_op, y, scaled_source, options);
    const Matrix expected = root.asDiagonal() * to_eigen(y, n);
    CHECK((to_eigen(x, n) - expected).norm() < 1e-9 * expected.norm());
  }
}

TEST_CASE("preconditioned cg: far fewer iterations, and a varying preconditioner costs few more") {
  const int n = 60;
  const auto [a, jacobi] = badly_scaled(n);
  const Matrix b = random_matrix(n, 2, 1);
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-9;
  const NoPreconditioner none;
  const SolveResult plain = preconditioned_cg(space, op, x, source, options, none);
  int constant = 0;
  for (const double variation : {0.0, 0.05}) {
    CAPTURE(variation);
    Jacobi m = jacobi;
    m.variation = variation;
    const SolveResult result = preconditioned_cg(space, op, x, source, options, m);
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.01e-9);
    CHECK(result.timings.precondition > 0.0);
    CHECK(3 * result.iterations < plain.iterations);
    CHECK(m.calls == result.iterations + 1);
    if (variation == 0.0) constant = result.iterations;
    CHECK(result.iterations <= 2 * constant);
  }
}

TEST_CASE("preconditioned cg: every direction is conjugate to the last one, however M varies") {
  const int n = 40;
  const auto [a, jacobi] = badly_scaled(n);
  const Matrix b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  Column last = b, direction;
  for (int steps = 1; steps <= 8; ++steps) {
    SolveOptions options;
    options.max_iterations = steps;
    options.tolerance = 1e-13;
    auto x = space.create(), y = space.create();
    Jacobi m = jacobi, again = jacobi;
    m.variation = again.variation = 0.3;
    preconditioned_cg(space, op, x, source, options, m);
    options.max_iterations = steps - 1;
    preconditioned_cg(space, op, y, source, options, again);
    direction = to_eigen(x, n) - to_eigen(y, n);  // alpha p
    const Column image = product(a, direction), last_image = product(a, last);
    const double size = std::sqrt(std::abs(direction.dot(image)) * std::abs(last.dot(last_image)));
    if (steps > 1) CHECK(std::abs(last.dot(image)) < 1e-8 * size);
    last = direction;
  }
}

TEST_CASE("preconditioned cg: an exact preconditioner ends it at once, a negative one is a breakdown") {
  const int n = 30;
  const Matrix a = positive_matrix(n, 1e3, 9), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a), inverse(a.inverse()), negative(-a.inverse()), indefinite(-a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const SolveOptions options;
  const SolveResult exact = preconditioned_cg(space, op, x, source, options, inverse);
  CHECK(exact.converged());
  CHECK(exact.iterations == 1);
  CHECK(preconditioned_cg(space, op, x, source, options, negative).reason == Reason::breakdown);
  CHECK(preconditioned_cg(space, indefinite, x, source, options, inverse).reason == Reason::breakdown);
}

TEST_CASE("preconditioned cg: on a deflated system") {
  const int n = 40;
  auto [a, jacobi] = badly_scaled(n);
  const Matrix b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  std::vector<DenseVector<double>> vectors{from_eigen<double>(random_matrix(n, 1, 3))};
  const Deflation<Space> deflation(space, op, std::move(vectors));
  LinearProblem<Space, Op> problem(space, op, source);
  DeflatedProblem deflated(problem, deflation);
  SolveOptions options;
  options.replacement = 0.1;
  CHECK(preconditioned_cg_on(deflated, x, options, jacobi).converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
}

TEST_CASE("preconditioned cg: an iteration sums 2, 1 and 4 real numbers") {
  const int n = 30, steps = 5;
  FusedSpace<double> space(n);
  auto [a, jacobi] = badly_scaled(n);
  Op op(a);
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-14;
  options.max_iterations = steps;
  CHECK(preconditioned_cg(space, op, x, b, options, jacobi).iterations == steps);
  std::vector<int> expected{1, 2};  // |b|^2, <z, r>
  for (int i = 0; i < steps; ++i) expected.insert(expected.end(), {2, 1, 4});
  expected.push_back(1);  // the true residual
  CHECK(space.groups == expected);
}
