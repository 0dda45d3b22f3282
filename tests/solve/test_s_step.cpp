// SPDX-License-Identifier: Apache-2.0
// The s-step methods: the iterates of their common forms, with one reduction for each block.

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/gcr.hpp"
#include "halocline/solve/s_step_cg.hpp"
#include "halocline/solve/s_step_gcr.hpp"

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

TEST_CASE("s-step gcr: the residuals are those of gcr, within blocks and across restarts") {
  const int n = 50;
  const Matrix a = 30.0 * disc_matrix(n, 0.9, 6), b = random_matrix(n, 2, 1);
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  for (const int s : {1, 3, 4, 7, 12}) {
    CAPTURE(s);
    SolveOptions options;
    options.tolerance = 1e-9;
    options.restart_length = 12;
    auto x = space.create(), y = space.create();
    const SolveResult blocks = s_step_gcr(space, op, x, source, options, {.s = s});
    const SolveResult plain = gcr(space, op, y, source, options);
    CHECK(blocks.converged());
    CHECK(true_residual(a, x, b) < 1.01e-9);
    CHECK(std::abs(blocks.iterations - plain.iterations) <= 1);
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t i = 0; i < std::min(plain.history[c].size(), blocks.history[c].size()); ++i)
        CHECK(blocks.history[c][i] == doctest::Approx(plain.history[c][i]).epsilon(1e-5));
  }
}

TEST_CASE("s-step gcr: without restart each residual is the least over the Krylov space") {
  const int n = 30, steps = 11;
  const Matrix a = disc_matrix(n, 0.9, 6), b = random_matrix(n, 1, 1);
  Matrix image(n, steps);
  Column v = b;
  for (int i = 0; i < steps; ++i) {
    v = product(a, v);
    v /= v.norm();
    image.col(i) = v;
  }
  const Column best = b - projection(image, b);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.max_iterations = steps;
  CHECK(s_step_gcr(space, op, x, source, options).residual[0] == doctest::Approx(best.norm() / b.norm()).epsilon(1e-7));
}

TEST_CASE("s-step gcr: a block has one reduction and as many applications as iterations") {
  const int n = 60, s = 6, length = 16;
  FusedSpace<double> space(n);
  Op op(disc_matrix(n, 0.99, 2));
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-14;
  options.restart_length = length;
  options.max_iterations = 2 * length;
  CHECK(s_step_gcr(space, op, x, b, options, {.s = s}).iterations == 2 * length);
  CHECK(op.applications == 2 * length + 2);
  // Real numbers of a block of k after `done`: the products of k + 1 vectors among each other, and with the images.
  const auto sums = [](int k, int done) { return (k + 1) * (k + 1) + 2 * done * (k + 1); };
  // The first block of all has four iterations; the last of a cycle has what is left.
  const std::vector<int> expected{1, sums(4, 0), sums(6, 4), sums(6, 10), 1, sums(6, 0), sums(6, 6), sums(4, 12), 1};
  CHECK(space.groups == expected);
}

TEST_CASE("s-step gcr: long blocks in the Newton basis keep the iterations of gcr") {
  const int n = 150;
  Matrix a = Matrix::Zero(n, n);  // convection-diffusion, upwind, with a mass
  for (int i = 0; i < n; ++i) {
    a(i, i) = {3.0, 0.1};
    if (i > 0) a(i, i - 1) = -1.7;
    if (i + 1 < n) a(i, i + 1) = -0.9;
  }
  const Matrix b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.restart_length = 24;
  const int plain = gcr(space, op, x, source, options).iterations;
  for (const int s : {4, 8, 12}) {
    CAPTURE(s);
    const SolveResult result = s_step_gcr(space, op, x, source, options, {.s = s});
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.01e-10);
    CHECK(result.iterations <= 1.1 * plain);
  }
}

TEST_CASE("s-step gcr: a singular operator is never called solved") {
  const int n = 12;
  Eigen::VectorXd values = Eigen::VectorXd::Ones(n);
  values[4] = 0.0;
  Space space(n);
  Op op(Matrix(values.cast<Scalar>().asDiagonal()));  // singular exactly, without rounding
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  const SolveResult result = s_step_gcr(space, op, x, b);
  CHECK((result.reason == Reason::breakdown || result.reason == Reason::stagnation));
  CHECK(result.residual[0] > 1e-3);
  Op zero(Matrix::Zero(n, n));
  const SolveResult nothing = s_step_gcr(space, zero, x, b);
  CHECK(nothing.reason == Reason::breakdown);
  CHECK(nothing.residual[0] == 1.0);
}

TEST_CASE("leja order: a permutation, the largest first, neighbours far apart") {
  using halocline::solve::detail::leja_order;
  const std::vector<Scalar> ordered = leja_order({1.0, 2.0, 3.0, 4.0, 5.0});
  CHECK(ordered == std::vector<Scalar>{5.0, 1.0, 3.0, 4.0, 2.0});
}
