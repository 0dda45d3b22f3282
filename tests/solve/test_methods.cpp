// SPDX-License-Identifier: Apache-2.0
// What is special to each linear solver: termination, optimality, breakdowns, preconditioners, hard matrices.

#include "dense_space.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/gcr.hpp"
#include "halocline/solve/multishift_cg.hpp"

#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
using Space = DenseSpace<double>;
using Op = DenseOperator<double>;

/// A few steps of Richardson with a varying damping: crude, and different at each call.
struct VaryingPreconditioner {
  Op* op;
  Space* space;
  int calls = 0;
  void apply(DenseVector<double>& out, const DenseVector<double>& in) {
    auto r = space->create();
    space->copy(out, in);
    const Scalars one(static_cast<std::size_t>(space->columns()), Scalar(1.0));
    const Scalars minus(one.size(), Scalar(-1.0));
    for (int i = 0; i < 1 + calls % 3; ++i) {
      op->apply(r, out);
      update(*space, {add(out, one, in, minus, r)});
    }
    ++calls;
  }
};
}  // namespace

TEST_CASE("cg: ends in as many steps as the operator has different eigenvalues") {
  const int n = 30;
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = 1.0 + i % 5;
  Space space(n);
  Op op(with_spectrum(values, 3));
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-12;
  CHECK(cg(space, op, x, b, options).iterations == 5);
}

TEST_CASE("cg: ends in n steps") {
  const int n = 12;
  const Matrix a = positive_matrix(n, 10.0, 5), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-11;
  const SolveResult result = cg(space, op, x, source, options);
  CHECK(result.converged());
  CHECK(result.iterations <= n);
}

TEST_CASE("cg: the error in the A norm falls at every step") {
  const int n = 30;
  const Matrix a = positive_matrix(n, 1e3, 5), b = random_matrix(n, 1, 1);
  const Column exact = solution(a, b);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  double last = std::sqrt(std::abs(exact.dot(a * exact)));
  for (int steps = 1; steps <= 25; ++steps) {
    auto x = space.create();
    SolveOptions options;
    options.max_iterations = steps;
    cg(space, op, x, source, options);
    const Column error = to_eigen(x, n) - exact;
    const double now = std::sqrt(std::abs(error.dot(a * error)));
    CHECK(now < last);
    last = now;
  }
}

TEST_CASE("cg: an operator that is not positive is a breakdown") {
  const int n = 20;
  Space space(n);
  Op op(-positive_matrix(n, 10.0, 2));
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  const SolveResult result = cg(space, op, x, b);
  CHECK(result.reason == Reason::breakdown);
  CHECK(result.worst_residual() == 1.0);
  CHECK(result.describe().find("broke down") != std::string::npos);
}

TEST_CASE("cg: residual replacement gives the same solution") {
  const int n = 40;
  const Matrix a = positive_matrix(n, 1e4, 5), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.replacement = 0.1;
  options.tolerance = 1e-11;
  const SolveResult result = cg(space, op, x, source, options);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 1.01e-11);
}

TEST_CASE("cg on the normal equations: condition 1e4, far from hermitian") {
  const int n = 40;
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = std::pow(1e4, i / (n - 1.0));
  const Matrix a = product(random_unitary(n, 1) * values.cast<Scalar>().asDiagonal(), random_unitary(n, 2));
  const Matrix b = random_matrix(n, 1, 3);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-10;
  const SolveResult result = cg_normal(space, op, x, source, options);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
  // The same system by the normal operator: what it solves is D^dagger D x = D^dagger b.
  NormalOperator<Space, Op> normal(space, op);
  auto projected = space.create(), y = space.create();
  op.apply_dagger(projected, source);
  const SolveResult squared = cg(space, normal, y, projected, options);
  CHECK(squared.converged());
  CHECK(product(a.adjoint(), product(a, to_eigen(y, n)) - b).norm() <= 1.01e-10 * product(a.adjoint(), b).norm());
}

TEST_CASE("bicgstab: a real skew matrix is a breakdown, and is named") {
  const int n = 20;
  const Eigen::MatrixXd m = random_matrix(n, n, 4).real();
  Space space(n);
  Op op(Matrix((m - m.transpose()).cast<Scalar>()));
  const auto b = from_eigen<double>(Matrix(random_matrix(n, 1, 1).real().cast<Scalar>()));
  auto x = space.create();
  const SolveResult result = bicgstab(space, op, x, b);
  CHECK(result.reason == Reason::breakdown);
  CHECK(result.worst_residual() <= 1.0 + 1e-12);
  // FGMRES has no such trouble.
  SolveOptions options;
  options.restart_length = n;
  CHECK(fgmres(space, op, x, b, options).converged());
}

TEST_CASE("bicgstab: ill-conditioned and not normal") {
  const int n = 60;
  Matrix a = Matrix::Zero(n, n);  // convection-diffusion, upwind, with a small mass
  for (int i = 0; i < n; ++i) {
    a(i, i) = {3.0, 0.1};
    if (i > 0) a(i, i - 1) = -1.9;
    if (i + 1 < n) a(i, i + 1) = -1.0;
  }
  const Matrix b = random_matrix(n, 2, 1);
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const SolveResult result = bicgstab(space, op, x, source);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
}

TEST_CASE("fgmres and gcr: without restart end in n steps and minimise the residual alike") {
  const int n = 24;
  const Matrix a = disc_matrix(n, 0.9, 6), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  SolveOptions options;
  options.restart_length = n;
  options.tolerance = 1e-11;
  auto x = space.create(), y = space.create();
  const SolveResult g = fgmres(space, op, x, source, options), c = gcr(space, op, y, source, options);
  CHECK(g.converged());
  CHECK(c.converged());
  CHECK(g.iterations <= n);
  CHECK(c.iterations <= n);
  for (std::size_t i = 1; i + 1 < g.history[0].size(); ++i) {
    CHECK(g.history[0][i] <= g.history[0][i - 1]);
    CHECK(g.history[0][i] == doctest::Approx(c.history[0][i]).epsilon(1e-3));
  }
}

TEST_CASE("fgmres: each residual is the least over the Krylov space") {
  const int n = 20, steps = 6;
  const Matrix a = disc_matrix(n, 0.9, 6), b = random_matrix(n, 1, 1);
  Matrix image(n, steps);
  Column v = b;
  for (int i = 0; i < steps; ++i) {
    v = a * v;
    image.col(i) = v;
  }
  const Column best = b - projection(image, b);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.max_iterations = steps;
  CHECK(fgmres(space, op, x, source, options).residual[0] == doctest::Approx(best.norm() / b.norm()).epsilon(1e-8));
  CHECK(gcr(space, op, x, source, options).residual[0] == doctest::Approx(best.norm() / b.norm()).epsilon(1e-8));
}

TEST_CASE("fgmres: a cyclic shift stagnates when restarted too early, and is named") {
  const int n = 16;
  Matrix a = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i) a((i + 1) % n, i) = 1.0;
  Space space(n);
  Op op(a);
  const auto b = from_eigen<double>(Matrix(Column::Unit(n, 0)));
  auto x = space.create();
  SolveOptions options;
  options.restart_length = 8;
  const SolveResult result = fgmres(space, op, x, b, options);
  CHECK(result.reason == Reason::stagnation);
  CHECK(result.residual[0] == doctest::Approx(1.0));
  options.restart_length = n;
  CHECK(fgmres(space, op, x, b, options).converged());
}

TEST_CASE("fgmres: a singular operator is never called solved") {
  const int n = 12;
  Eigen::VectorXd values = Eigen::VectorXd::Ones(n);
  values[4] = 0.0;
  Eigen::VectorXd many_values = Eigen::VectorXd::LinSpaced(n, 1.0, 2.0);
  many_values[4] = 0.0;
  Space space(n);
  for (const Eigen::VectorXd& spectrum : {values, many_values}) {
    Op op(Matrix(spectrum.cast<Scalar>().asDiagonal()));  // singular exactly, without rounding
    for (unsigned seed = 1; seed <= 8; ++seed) {
      const auto b = from_eigen<double>(random_matrix(n, 1, seed));
      for (const bool flexible : {true, false}) {
        auto x = space.create();
        const SolveResult result = flexible ? fgmres(space, op, x, b) : gcr(space, op, x, b);
        CHECK((result.reason == Reason::breakdown || result.reason == Reason::stagnation));
        CHECK(result.residual[0] > 1e-3);
        INFO("fgmres ", flexible, ", seed ", seed, ", iterations ", result.iterations);
        CHECK(result.residual[0] <= 1.0 + 1e-3);
      }
    }
  }
}

TEST_CASE("flexible solvers: a preconditioner that changes at every call helps") {
  const int n = 60;
  const Matrix a = disc_matrix(n, 0.8, 9), b = random_matrix(n, 2, 1);
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  SolveOptions options;
  options.restart_length = 10;
  auto x = space.create();
  VaryingPreconditioner m{&op, &space};
  const int plain = fgmres(space, op, x, source, options).iterations;
  const SolveResult g = fgmres(space, op, x, source, options, m);
  CHECK(g.converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
  CHECK(g.iterations < plain);
  CHECK(g.timings.precondition > 0.0);
  const SolveResult c = gcr(space, op, x, source, options, m);
  CHECK(c.converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
  CHECK(c.iterations < plain);
}

TEST_CASE("bicgstab: an exact preconditioner ends it at once") {
  const int n = 30;
  const Matrix a = disc_matrix(n, 0.9, 9), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a), inverse(a.inverse());
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const SolveResult result = bicgstab(space, op, x, source, {}, inverse);
  CHECK(result.converged());
  CHECK(result.iterations == 1);
}

TEST_CASE("fused passes: an iteration is a few walks over memory") {
  const int n = 30, steps = 10;
  FusedSpace<double> space(n);
  Op hermitian(positive_matrix(n, 1e4, 2)), general(disc_matrix(n, 0.9, 9));
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  const auto passes = [&](auto&& solver) {
    SolveOptions options;
    options.tolerance = 1e-14;
    options.max_iterations = steps;
    space.passes = 0;
    const SolveResult result = solver(options);
    CHECK(result.iterations == steps);
    return space.passes;
  };
  // Besides the iterations: |b|^2 first, the true residual last; BiCGStab sets its shadow up.
  CHECK(passes([&](const SolveOptions& o) { return cg(space, hermitian, x, b, o); }) == 3 * steps + 2);
  CHECK(passes([&](const SolveOptions& o) { return bicgstab(space, general, x, b, o); }) == 5 * steps + 3);
}

TEST_CASE("bicgstab: an iteration sums 2, 1, 3 and 3 real numbers") {
  const int n = 30, steps = 6;
  FusedSpace<double> space(n);
  Op op(disc_matrix(n, 0.9, 9));
  const auto b = from_eigen<double>(random_matrix(n, 1, 1));
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-14;
  options.max_iterations = steps;
  CHECK(bicgstab(space, op, x, b, options).iterations == steps);
  std::vector<int> expected{1};  // |b|^2
  for (int i = 0; i < steps; ++i) expected.insert(expected.end(), {2, 1, 3, 3});
  expected.push_back(1);  // the true residual
  CHECK(space.groups == expected);
}

TEST_CASE("bicgstab: a <r0, v> that vanishes on the way costs a restart, not the solution") {
  // r0 = e1, and the second search direction is led into the orthogonal complement of e1 but for rounding error.
  for (const double leak : {0.0, 1e-17, 1e-15}) {
    CAPTURE(leak);
    Matrix a = Matrix::Zero(4, 4);
    a.diagonal() << 1.0, 2.0, 3.0, 1.5;
    a(1, 0) = 1.0;
    a(2, 1) = 1.0;
    a(0, 2) = leak;
    a(0, 1) = -1.0;
    a(3, 1) = 0.5;
    const Matrix b = Column::Unit(4, 0);
    Space space(4);
    Op op(a);
    const auto source = from_eigen<double>(b);
    auto x = space.create();
    SolveOptions options;
    options.tolerance = 1e-12;
    const SolveResult result = bicgstab(space, op, x, source, options);
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.1e-12);
  }
  // A leak of rounding size in the first application already: named as before, x untouched.
  Matrix skew = Matrix::Zero(4, 4);
  skew(0, 1) = skew(2, 3) = 1.0;
  skew(1, 0) = skew(3, 2) = -1.0;
  skew(0, 0) = 1e-16;
  Space space(4);
  Op op(skew);
  const auto source = from_eigen<double>(Matrix(Column::Unit(4, 0)));
  auto x = space.create();
  const SolveResult result = bicgstab(space, op, x, source);
  CHECK(result.reason == Reason::breakdown);
  CHECK(result.worst_residual() == 1.0);
}

TEST_CASE("multi-shift cg: equals separate solves, every one verified") {
  const int n = 40;
  const Matrix a = positive_matrix(n, 1e3, 5), b = random_matrix(n, 2, 1);
  const std::vector<double> shifts{0.5, 0.0, 3.0, 1000.0};
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  std::vector<DenseVector<double>> x;
  for (std::size_t i = 0; i < shifts.size(); ++i) x.push_back(space.create());
  SolveOptions options;
  options.tolerance = 1e-10;
  const auto results = multishift_cg(space, op, std::span<const double>(shifts), std::span(x), source, options);
  const int applications = op.applications;
  int separate = 0;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const Matrix shifted = a + shifts[i] * Matrix::Identity(n, n);
    CHECK(results[i].converged());
    CHECK(true_residual(shifted, x[i], b) < 1.01e-10);
    CHECK((to_eigen(x[i], n) - solution(shifted, b)).norm() < 1e-7 * to_eigen(x[i], n).norm());
    Op alone(shifted);
    auto y = space.create();
    const SolveResult result = cg(space, alone, y, source, options);
    separate += alone.applications;
    CHECK(std::abs(result.iterations - results[i].iterations) <= 3);
  }
  CHECK(applications < separate);
  CHECK(results[3].iterations < results[1].iterations);
}

TEST_CASE("multi-shift cg: a batch has the bits of its columns") {
  const int n = 30;
  const std::vector<double> shifts{0.1, 2.0};
  Matrix b = random_matrix(n, 3, 1);
  b.col(2).setZero();
  Op op(positive_matrix(n, 100.0, 5));
  Space batch(n, 3), single(n);
  std::vector<DenseVector<double>> x{batch.create(), batch.create()};
  const auto source = from_eigen<double>(b);
  multishift_cg(batch, op, std::span<const double>(shifts), std::span(x), source);
  for (int c = 0; c < 3; ++c) {
    std::vector<DenseVector<double>> y{single.create(), single.create()};
    const auto column = from_eigen<double>(b.col(c));
    multishift_cg(single, op, std::span<const double>(shifts), std::span(y), column);
    for (std::size_t i = 0; i < 2; ++i) CHECK(to_eigen(x[i], n).col(c) == to_eigen(y[i], n));
  }
}

TEST_CASE("multi-shift cg: limits, cancellation and bad input") {
  const int n = 30;
  const Matrix a = positive_matrix(n, 1e4, 5), b = random_matrix(n, 1, 1);
  const std::vector<double> shifts{0.0, 1e-3};
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  std::vector<DenseVector<double>> x{space.create(), space.create()};
  SolveOptions options;
  options.max_iterations = 5;
  for (const auto& r : multishift_cg(space, op, std::span<const double>(shifts), std::span(x), source, options)) {
    CHECK(r.reason == Reason::iteration_limit);
    CHECK(r.iterations == 5);
  }
  options = {};
  options.progress = [](int iteration, double) { return iteration < 3; };
  for (const auto& r : multishift_cg(space, op, std::span<const double>(shifts), std::span(x), source, options)) {
    CHECK(r.reason == Reason::cancelled);
    CHECK(r.iterations == 3);
  }
  x.pop_back();
  CHECK_THROWS_AS(multishift_cg(space, op, std::span<const double>(shifts), std::span(x), source),
                  halocline::core::InvalidArgument);
}
