// SPDX-License-Identifier: Apache-2.0
// Mixed precision by composition: an inner solver in float, a solution in double.

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/defect_correction.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/reliable_update.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
constexpr int n = 50;
const auto convert = [](auto& out, const auto& in) {
  using To = typename std::remove_reference_t<decltype(out.data)>::value_type;
  out.data.clear();
  for (const auto& value : in.data) out.data.push_back(To(value));
};

struct Mixed {
  Mixed(const Matrix& m, const Matrix& source)
      : a(m),
        b(source),
        outer(n, static_cast<int>(source.cols())),
        inner(n, static_cast<int>(source.cols())),
        outer_op(m),
        inner_op(m) {}
  Matrix a, b;
  DenseSpace<double> outer;
  DenseSpace<float> inner;
  DenseOperator<double> outer_op;
  DenseOperator<float> inner_op;

  SolveResult defect(DenseVector<double>& x, const SolveOptions& options) {
    const auto source = from_eigen<double>(b);
    SolveOptions rough;
    rough.tolerance = options.inner_tolerance;
    return defect_correction(
        outer, outer_op, x, source, inner,
        [&](DenseVector<float>& e, const DenseVector<float>& r) { return bicgstab(inner, inner_op, e, r, rough); },
        convert, convert, options);
  }
  template <class Solver>
  SolveResult reliable(DenseVector<double>& x, const SolveOptions& options, Solver&& solver) {
    const auto source = from_eigen<double>(b);
    ReliableProblem problem(inner, inner_op, outer, outer_op, x, source, convert, convert);
    auto e = inner.create();
    return solver(problem, e, options);
  }
};
const auto with_bicgstab = [](auto& problem, auto& e, const SolveOptions& options) {
  const NoPreconditioner none;
  return bicgstab_on(problem, e, options, none);
};
const auto with_cg = [](auto& problem, auto& e, const SolveOptions& options) { return cg_on(problem, e, options); };
const auto with_cg_normal = [](auto& problem, auto& e, const SolveOptions& options) {
  return cg_normal_on(problem, e, options);
};
}  // namespace

TEST_CASE("mixed precision: float inside reaches 1e-14 outside") {
  SolveOptions options;
  options.tolerance = 1e-14;
  Mixed general(disc_matrix(n, 0.6, 3), random_matrix(n, 3, 4));
  auto x = general.outer.create();
  SolveResult result = general.defect(x, options);
  CHECK(result.converged());
  CHECK(true_residual(general.a, x, general.b) < 2e-14);
  CHECK(general.outer_op.applications < 8);  // the work is inside
  CHECK(result.timings.precondition > 0.0);

  options.replacement = 0.1;
  general.outer_op.applications = general.inner_op.applications = 0;
  result = general.reliable(x, options, with_bicgstab);
  CHECK(result.converged());
  CHECK(true_residual(general.a, x, general.b) < 2e-14);
  CHECK(general.inner_op.applications > general.outer_op.applications);

  general.outer_op.applications = general.inner_op.applications = 0;
  result = general.reliable(x = general.outer.create(), options, with_cg_normal);
  CHECK(result.converged());
  CHECK(true_residual(general.a, x, general.b) < 2e-14);
  CHECK(general.inner_op.applications > general.outer_op.applications);

  Mixed positive(positive_matrix(n, 300.0, 3), random_matrix(n, 2, 4));
  options.tolerance = 3e-14;
  result = positive.reliable(x = positive.outer.create(), options, with_cg);
  CHECK(result.converged());
  CHECK(true_residual(positive.a, x, positive.b) < 4e-14);
}

TEST_CASE("mixed precision: reliable updates cost about the iterations of double") {
  Mixed system(positive_matrix(n, 300.0, 3), random_matrix(n, 1, 4));
  SolveOptions options;
  options.tolerance = 1e-12;
  auto x = system.outer.create();
  const auto source = from_eigen<double>(system.b);
  const int exact = cg(system.outer, system.outer_op, x, source, options).iterations;
  options.replacement = 0.1;
  const SolveResult mixed = system.reliable(x, options, with_cg);
  CHECK(mixed.converged());
  CHECK(mixed.iterations < 2 * exact);

  Mixed general(disc_matrix(n, 0.6, 3), random_matrix(n, 1, 4));
  options.replacement = 0;
  const auto b = from_eigen<double>(general.b);
  const int normal = cg_normal(general.outer, general.outer_op, x, b, options).iterations;
  options.replacement = 0.1;
  const SolveResult replaced = general.reliable(x, options, with_cg_normal);
  CHECK(replaced.converged());
  CHECK(replaced.iterations < 1.2 * normal);
}

TEST_CASE("mixed precision: a column of a batch has the bits of the column alone") {
  const Matrix a = disc_matrix(n, 0.6, 3);
  Matrix b = random_matrix(n, 3, 4);
  b.col(1) = a * Column::Unit(n, 1);
  b.col(2) *= 1e-20;  // squares still fit double; float holds the scaled residual
  SolveOptions options;
  options.tolerance = 1e-13;
  options.replacement = 0.1;
  Mixed batch(a, b);
  auto x = batch.outer.create(), z = batch.outer.create(), w = batch.outer.create();
  CHECK(batch.defect(x, options).converged());
  CHECK(batch.reliable(z, options, with_bicgstab).converged());
  CHECK(batch.reliable(w, options, with_cg_normal).converged());
  for (int c = 0; c < 3; ++c) {
    Mixed single(a, b.col(c));
    auto y = single.outer.create();
    single.defect(y, options);
    CHECK(to_eigen(x, n).col(c) == to_eigen(y, n));
    single.reliable(y, options, with_bicgstab);
    CHECK(to_eigen(z, n).col(c) == to_eigen(y, n));
    single.reliable(y, options, with_cg_normal);
    CHECK(to_eigen(w, n).col(c) == to_eigen(y, n));
  }
}

TEST_CASE("mixed precision: the columns of a batch share their reliable updates") {
  const Matrix b = random_matrix(n, 8, 4);
  const Matrix positive = positive_matrix(n, 300.0, 3), general = disc_matrix(n, 0.85, 3);
  SolveOptions options;
  options.tolerance = 1e-12;
  options.replacement = 0.1;
  const auto run = [&](int interval, const Matrix& a, const auto& solver) {
    options.replacement_interval = interval;
    Mixed batch(a, b);
    auto x = batch.outer.create();
    const SolveResult result = batch.reliable(x, options, solver);
    CHECK(result.converged());
    for (int c = 0; c < 8; ++c) {
      Mixed single(a, b.col(c));
      auto y = single.outer.create();
      CHECK(single.reliable(y, options, solver).replacements <= result.replacements);
      CHECK(to_eigen(x, n).col(c) == to_eigen(y, n));
    }
    return result;
  };
  const auto laws = [&](const Matrix& a, const auto& solver, int in_between) {
    const SolveResult apart = run(1, a, solver), together = run(8, a, solver);
    CAPTURE(apart.iterations);
    CAPTURE(apart.replacements);
    CAPTURE(together.iterations);
    CHECK(together.replacements <= together.iterations / 8 + in_between);
    CHECK(together.replacements < 0.6 * apart.replacements);
    CHECK(together.iterations <= 1.2 * apart.iterations);
  };
  laws(positive, with_cg, 0);
  laws(general, with_cg_normal, 0);
  laws(general, with_bicgstab, 4);  // its residual falls by more than 1000 in the last intervals
}

TEST_CASE("mixed precision: a fast column does not wait for the others to be replaced") {
  // A well conditioned system gains three digits within the interval, more than float holds in two such intervals.
  Mixed system(positive_matrix(n, 1.5, 3), random_matrix(n, 2, 4));
  SolveOptions options;
  options.tolerance = 1e-14;
  options.replacement = 0.1;
  options.replacement_interval = 1000;
  auto x = system.outer.create();
  const SolveResult result = system.reliable(x, options, with_cg);
  CHECK(result.converged());
  CHECK(result.replacements >= 2);
  options.replacement_interval = 0;
  CHECK_THROWS_WITH_AS(system.reliable(x, options, with_cg), doctest::Contains("replacement_interval"),
                       halocline::core::InvalidArgument);
}

TEST_CASE("mixed precision: guess, zero source, limits, NaN and cancellation are the outer solver's") {
  Mixed system(disc_matrix(n, 0.6, 3), random_matrix(n, 1, 4));
  SolveOptions options;
  options.use_initial_guess = true;
  auto x = from_eigen<double>(solution(system.a, system.b));
  CHECK(system.defect(x, options).iterations == 0);
  CHECK(system.reliable(x, options, with_bicgstab).iterations == 0);
  options = {};
  options.max_iterations = 3;
  CHECK(system.reliable(x, options, with_bicgstab).reason == Reason::iteration_limit);
  CHECK(system.defect(x, options).reason == Reason::iteration_limit);
  options = {};
  options.progress = [](int, double) { return false; };
  CHECK(system.defect(x, options).reason == Reason::cancelled);
  CHECK(system.reliable(x, options, with_bicgstab).reason == Reason::cancelled);
  options = {};
  system.b.setZero();
  CHECK(system.defect(x, options).converged());
  CHECK(to_eigen(x, n).norm() == 0.0);
  system.b(3, 0) = std::nan("");
  CHECK(system.defect(x, options).reason == Reason::not_finite);
  CHECK(system.reliable(x, options, with_bicgstab).reason == Reason::not_finite);
}

TEST_CASE("mixed precision: an inner solver that fails is reported, not hidden") {
  Mixed system(disc_matrix(n, 0.6, 3), random_matrix(n, 1, 4));
  system.inner_op = DenseOperator<float>(Matrix(std::nan("") * system.a));
  auto x = system.outer.create();
  CHECK(system.defect(x, {}).reason == Reason::not_finite);
  system.inner_op = DenseOperator<float>(Matrix(-1.0 * system.a));  // corrects the wrong way
  CHECK(system.defect(x, {}).reason == Reason::stagnation);
  SolveOptions impossible;
  impossible.tolerance = 1e-18;
  system.inner_op = DenseOperator<float>(system.a);
  const SolveResult result = system.defect(x, impossible);
  CHECK(result.reason == Reason::stagnation);
  CHECK(result.worst_residual() < 1e-14);
}
