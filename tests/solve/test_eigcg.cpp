// SPDX-License-Identifier: Apache-2.0
// EigCG: CG unchanged, Ritz vectors against dense references, and right-hand sides that become cheaper.

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/eigcg.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
using Space = DenseSpace<double>;
using Op = DenseOperator<double>;

/// Twelve eigenvalues from 1e-3 to 0.1, the others from 1 to 10.
Eigen::VectorXd spectrum(int n, int low = 12) {
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i)
    values[i] = i < low ? 1e-3 * std::pow(100.0, i / (low - 1.0)) : 1.0 + 9.0 * (i - low) / (n - low - 1.0);
  return values;
}

Matrix matrix_of(const std::vector<DenseVector<double>>& vectors, int n) {
  Matrix out(n, static_cast<Eigen::Index>(vectors.size()));
  for (std::size_t i = 0; i < vectors.size(); ++i) out.col(static_cast<Eigen::Index>(i)) = to_eigen(vectors[i], n);
  return out;
}
}  // namespace

TEST_CASE("eigcg: the solve is that of cg") {
  const int n = 120;
  const Matrix a = with_spectrum(spectrum(n), 3), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create(), y = space.create();
  SolveOptions options;
  options.tolerance = 1e-9;
  for (const double replacement : {0.0, 0.01}) {
    options.replacement = replacement;
    const SolveResult plain = cg(space, op, y, source, options);
    op.applications = 0;
    const auto result = eigcg(space, op, x, source, options, {.vectors = 4, .window = 12});
    CHECK(result.solve.converged());
    CHECK(op.applications >= result.solve.iterations + 1);
    if (replacement == 0.0) CHECK(op.applications == result.solve.iterations + 1);
    CHECK(true_residual(a, x, b) < 1.01e-9);
    CHECK((to_eigen(x, n) - solution(a, b)).norm() < 2e-9 * 1e4 * b.norm());
    CHECK(result.solve.history[0] == plain.history[0]);
    CHECK(to_eigen(x, n) == to_eigen(y, n));
  }
}

TEST_CASE("eigcg: without restart of the window its Ritz values are those of the Krylov space") {
  const int n = 60, steps = 14, wanted = 3;
  const Matrix a = with_spectrum(spectrum(n), 3), b = random_matrix(n, 1, 1);
  Matrix krylov(n, steps);
  Column v = b;
  for (int i = 0; i < steps; ++i) {
    for (int round = 0; round < 2; ++round)
      for (int j = 0; j < i; ++j) v -= krylov.col(j).dot(v) * krylov.col(j);
    krylov.col(i) = v / v.norm();
    v = product(a, krylov.col(i));
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> ritz(product(krylov.adjoint(), product(a, krylov)));
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.max_iterations = steps;
  const auto result = eigcg(space, op, x, source, options, {.vectors = wanted, .window = 40});
  REQUIRE(result.values.size() == wanted);
  const Matrix found = matrix_of(result.vectors, n);
  for (int i = 0; i < wanted; ++i) {
    CHECK(result.values[static_cast<std::size_t>(i)] == doctest::Approx(ritz.eigenvalues()[i]).epsilon(1e-8));
    const Column expected = krylov * ritz.eigenvectors().col(i);
    CHECK(std::abs(expected.dot(found.col(i))) == doctest::Approx(1.0).epsilon(1e-8));
  }
}

TEST_CASE("eigcg: a restarted window keeps T the matrix of A, and the low eigenvectors converge") {
  const int n = 150, wanted = 4;
  const Eigen::VectorXd values = spectrum(n, 6);
  const Matrix a = with_spectrum(values, 3), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-10;
  const auto result = eigcg(space, op, x, source, options, {.vectors = wanted, .window = 24});
  CHECK(result.solve.converged());
  CHECK(result.solve.iterations > 3 * 24);  // the window was restarted
  REQUIRE(result.vectors.size() == wanted);
  const Matrix v = matrix_of(result.vectors, n), modes = random_unitary(n, 3).leftCols(6);
  const Matrix gram = product(v.adjoint(), v), rayleigh = product(v.adjoint(), product(a, v));
  for (int i = 0; i < wanted; ++i) {
    const double value = result.values[static_cast<std::size_t>(i)];
    CHECK(std::abs(rayleigh(i, i) - value) < 1e-5 * value);
    CHECK(value == doctest::Approx(values[i]).epsilon(1e-3));
    CHECK(std::abs(modes.col(i).dot(v.col(i))) > 0.99);
  }
  CHECK((gram - Matrix::Identity(wanted, wanted)).norm() < 1e-5);
}

TEST_CASE("incremental eigcg: later right-hand sides take the iterations of the deflated spectrum") {
  const int n = 200, low = 12;
  const Eigen::VectorXd values = spectrum(n, low);
  const Matrix a = with_spectrum(values, 3);
  Space space(n);
  Op op(a);
  SolveOptions options;
  options.tolerance = 1e-9;
  IncrementalEigCg<Space, Op> solver(space, op, {.vectors = 6, .window = 40, .capacity = 20});
  std::vector<int> iterations;
  for (unsigned i = 0; i < 10; ++i) {
    const Matrix b = random_matrix(n, 1, 50 + i);
    const auto source = from_eigen<double>(b);
    auto x = space.create();
    const SolveResult result = solver.solve(x, source, options);
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.01e-9);
    CHECK((to_eigen(x, n) - solution(a, b)).norm() < 2e-9 * 1e3 * b.norm());
    iterations.push_back(result.iterations);
    CHECK(solver.size() <= 20);
  }
  CHECK(solver.size() == 20);
  CHECK(!solver.collecting());
  // 2 ((sqrt(10) - 1) / (sqrt(10) + 1))^k sqrt(10) <= 1e-9 holds from k = 35 on.
  CHECK(iterations.front() > 100);
  CHECK(iterations.back() <= 40);
  CHECK(iterations[2] < iterations[0] / 2);
  // The vectors are those of the twelve low modes, and deflate a batch.
  const Matrix modes = random_unitary(n, 3).leftCols(low), v = matrix_of(solver.deflation().vectors(), n);
  for (int i = 0; i < low; ++i) CHECK(product(v.adjoint(), modes.col(i)).norm() > 0.99);
  const Matrix b = random_matrix(n, 3, 90);
  Space batch(n, 3);
  const auto source = from_eigen<double>(b);
  auto x = batch.create();
  const SolveResult result = deflated_cg(batch, op, solver.deflation(), x, source, options);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 1.01e-9);
  CHECK(result.iterations <= 40);
}

TEST_CASE("incremental eigcg: single precision") {
  const int n = 120;
  const Matrix a = with_spectrum(spectrum(n, 6), 3);
  DenseSpace<float> space(n);
  DenseOperator<float> op(a);
  SolveOptions options;
  options.tolerance = 1e-3;  // the condition 1e4 times the roundings 6e-8 is the least that it can reach
  IncrementalEigCg<DenseSpace<float>, DenseOperator<float>> solver(space, op,
                                                                   {.vectors = 4, .window = 24, .capacity = 8});
  std::vector<int> iterations;
  for (unsigned i = 0; i < 5; ++i) {
    const Matrix b = random_matrix(n, 1, 50 + i);
    const auto source = from_eigen<float>(b);
    auto x = space.create();
    const SolveResult result = solver.solve(x, source, options);
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 2e-3);
    iterations.push_back(result.iterations);
  }
  CHECK(iterations.back() < iterations.front() / 2);
}

TEST_CASE("eigcg: zero, NaN, cancellation, limits and impossible options") {
  const int n = 40;
  const Matrix a = positive_matrix(n, 1e3, 3), b = random_matrix(n, 1, 1);
  Space space(n), batch(n, 2);
  Op op(a), negative(-a);
  const auto source = from_eigen<double>(b), zero = from_eigen<double>(Matrix::Zero(n, 1));
  auto x = from_eigen<double>(b);
  const auto nothing = eigcg(space, op, x, zero);
  CHECK(nothing.solve.converged());
  CHECK(nothing.vectors.empty());
  CHECK(to_eigen(x, n).norm() == 0.0);
  Matrix poisoned = b;
  poisoned(3, 0) = std::nan("");
  const auto bad = from_eigen<double>(poisoned);
  CHECK(eigcg(space, op, x, bad).solve.reason == Reason::not_finite);
  Matrix broken = a;
  broken(2, 2) = std::numeric_limits<double>::infinity();
  Op infinite(broken);
  CHECK(eigcg(space, infinite, x, source).solve.reason == Reason::not_finite);
  CHECK(eigcg(space, negative, x, source).solve.reason == Reason::breakdown);
  SolveOptions options;
  options.max_iterations = 5;
  const auto limited = eigcg(space, op, x, source, options);
  CHECK(limited.solve.reason == Reason::iteration_limit);
  CHECK(limited.solve.iterations == 5);
  CHECK(limited.vectors.size() == 5);
  options = {};
  options.progress = [](int iteration, double) { return iteration < 3; };
  const auto cancelled = eigcg(space, op, x, source, options);
  CHECK(cancelled.solve.reason == Reason::cancelled);
  CHECK(cancelled.solve.worst_residual() == doctest::Approx(true_residual(a, x, b)));
  options = {};
  options.tolerance = 1e-30;
  CHECK(eigcg(space, op, x, source, options).solve.reason == Reason::stagnation);
  auto y = batch.create();
  const auto two = from_eigen<double>(random_matrix(n, 2, 1));
  CHECK_THROWS_AS(eigcg(batch, op, y, two), halocline::core::InvalidArgument);
  CHECK_THROWS_AS(eigcg(space, op, x, source, {}, {.vectors = 0}), halocline::core::InvalidArgument);
  CHECK_THROWS_AS(eigcg(space, op, x, source, {}, {.vectors = 5, .window = 10}), halocline::core::InvalidArgument);
}
