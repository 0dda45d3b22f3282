// SPDX-License-Identifier: Apache-2.0
// The s-step methods: the iterates of their common forms, with one reduction for each block.

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/s_step_cg.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
using Space = DenseSpace<double>;
using Op = DenseOperator<double>;
}  // namespace

TEST_CASE("s-step cg: the iterates are those of cg, within blocks too") {
  const int n = 50;
  const Matrix a = positive_matrix(n, 100.0, 5), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  for (const int s : {1, 3, 5, 8}) {
    for (const int iterations : {1, 4, 7, 12, 15, 18}) {
      CAPTURE(s);
      CAPTURE(iterations);
      SolveOptions options;
      options.tolerance = 1e-13;
      options.max_iterations = iterations;
      auto x = space.create(), y = space.create();
      const SolveResult blocks = s_step_cg(space, op, x, source, options, {.s = s, .warm_up = 4});
      const SolveResult plain = cg(space, op, y, source, options);
      CHECK(blocks.iterations == iterations);
      CHECK((to_eigen(x, n) - to_eigen(y, n)).norm() < 1e-7 * to_eigen(y, n).norm());
      for (std::size_t i = 0; i < plain.history[0].size(); ++i)
        CHECK(blocks.history[0][i] == doctest::Approx(plain.history[0][i]).epsilon(1e-6));
    }
  }
}

TEST_CASE("s-step cg: a block of s has one reduction and 2 s - 1 applications") {
  const int n = 60, s = 5, warm_up = 6, blocks = 4, steps = warm_up + blocks * s;
  FusedSpace<double> space(n);
  Op op(positive_matrix(n, 1e4, 2));
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-14;
  options.max_iterations = steps;
  CHECK(s_step_cg(space, op, x, b, options, {.s = s, .warm_up = warm_up}).iterations == steps);
  CHECK(op.applications == warm_up + blocks * (2 * s - 1) + 1);
  // |b|^2 first and the true residual last. The products of 2 k + 1 vectors: real numbers of a block of k.
  const auto sums = [](int k) { return (2 * k + 1) * (2 * k + 1); };
  std::vector<int> expected{1};
  for (int i = 0; i < warm_up; ++i) expected.push_back(sums(1));
  for (int i = 0; i < blocks; ++i) expected.push_back(sums(s));
  expected.push_back(1);
  CHECK(space.groups == expected);
}

TEST_CASE("s-step cg: long blocks need the iterations of cg where cg keeps its orthogonality") {
  const int n = 150;
  const Matrix a = 50.0 * with_spectrum(Eigen::VectorXd::LinSpaced(n, 1.0, 100.0), 2), b = random_matrix(n, 2, 1);
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-10;
  const int plain = cg(space, op, x, source, options).iterations;
  for (const int s : {4, 8, 16}) {
    CAPTURE(s);
    const SolveResult result = s_step_cg(space, op, x, source, options, {.s = s});
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.01e-10);
    CHECK(result.iterations <= plain + 2);
  }
  options.replacement = 0.01;
  const SolveResult replaced = s_step_cg(space, op, x, source, options, {.s = 8});
  CHECK(replaced.converged());
  CHECK(replaced.iterations <= plain + 2);
}

TEST_CASE("s-step cg: where cg takes four times the dimension, long blocks take more but arrive") {
  const int n = 120;
  const Matrix a = 50.0 * positive_matrix(n, 1e4, 2), b = random_matrix(n, 2, 1);
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-9;
  const int plain = cg(space, op, x, source, options).iterations;
  CHECK(plain > 3 * n);
  for (const int s : {2, 4, 8}) {
    CAPTURE(s);
    const SolveResult result = s_step_cg(space, op, x, source, options, {.s = s});
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.01e-9);
    CHECK(result.iterations <= (s <= 4 ? 1.5 : 2.0) * plain);
  }
}

TEST_CASE("s-step cg: ends when the Krylov space does, within a block") {
  const int n = 30;
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = 1.0 + i % 7;
  const Matrix a = with_spectrum(values, 3), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-12;
  for (const int warm_up : {1, 2, 10}) {
    CAPTURE(warm_up);
    const SolveResult result = s_step_cg(space, op, x, source, options, {.s = 6, .warm_up = warm_up});
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.01e-12);
    CHECK(result.iterations <= 16);  // 7 and, if the block could not resolve the residual, as many again
  }
}

TEST_CASE("s-step cg: an operator that is not positive is a breakdown, impossible options are refused") {
  const int n = 20;
  Space space(n);
  Op op(-positive_matrix(n, 10.0, 2)), good(positive_matrix(n, 10.0, 2));
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  const SolveResult result = s_step_cg(space, op, x, b);
  CHECK(result.reason == Reason::breakdown);
  CHECK(result.worst_residual() == 1.0);
  CHECK_THROWS_AS(s_step_cg(space, good, x, b, {}, {.s = 0}), halocline::core::InvalidArgument);
  CHECK_THROWS_AS(s_step_cg(space, good, x, b, {}, {.warm_up = 0}), halocline::core::InvalidArgument);
}
