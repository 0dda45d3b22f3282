// SPDX-License-Identifier: Apache-2.0
// Deflation: the projectors, the first guess, and how many iterations it saves each solver.

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/deflation.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/reliable_update.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
using Space = DenseSpace<double>;
using Op = DenseOperator<double>;
constexpr int n = 80, low = 6;

/// A space that offers only what it must: no products with shared vectors.
class PlainSpace {
public:
  using Vector = DenseVector<double>;
  explicit PlainSpace(int rows, int columns = 1) : space_(rows, columns) {}
  Vector create() const { return space_.create(); }
  int columns() const { return space_.columns(); }
  void copy(Vector& out, const Vector& in) const { space_.copy(out, in); }
  void set_zero(Vector& v) const { space_.set_zero(v); }
  void axpy(std::span<const Scalar> a, const Vector& x, Vector& y) const { space_.axpy(a, x, y); }
  void dot(std::span<Scalar> out, const Vector& x, const Vector& y) const { space_.dot(out, x, y); }

private:
  Space space_;
};

/// Six eigenvalues from 1e-5 to 1e-3, the others from 1 to 10.
Eigen::VectorXd spectrum() {
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i)
    values[i] = i < low ? 1e-5 * std::pow(100.0, i / (low - 1.0)) : 1.0 + 9.0 * (i - low) / (n - low - 1.0);
  return values;
}
/// The eigenvectors that with_spectrum(spectrum(), seed) has in its first columns.
Matrix low_modes(unsigned seed) { return random_unitary(n, seed).leftCols(low); }

std::vector<DenseVector<double>> columns_of(const Matrix& m) {
  std::vector<DenseVector<double>> out;
  for (Eigen::Index i = 0; i < m.cols(); ++i) out.push_back(from_eigen<double>(m.col(i)));
  return out;
}

/// Singular values `spectrum()`, singular vectors unrelated to each other on the two sides.
Matrix with_singular_values(unsigned left, unsigned right) {
  return product(random_unitary(n, left) * spectrum().cast<Scalar>().asDiagonal(), random_unitary(n, right).adjoint());
}

/// Non-normal with six small eigenvalues, A S = S T with T upper triangular; the first columns of S are low modes.
struct Skewed {
  Matrix a, modes;
};
Skewed skewed(unsigned seed) {
  Matrix t = 0.1 / std::sqrt(static_cast<double>(n)) * random_matrix(n, n, seed);
  t = Matrix(t.triangularView<Eigen::StrictlyUpper>());
  const Eigen::VectorXd values = spectrum();
  t.topRows(low) *= values[0];  // else the inverse of the low corner has entries of 1e-5 to the power -6
  for (int i = 0; i < n; ++i) t(i, i) = values[i] * std::polar(1.0, 0.3 * std::sin(1.0 * i));
  const Matrix q = random_unitary(n, seed + 1);
  return {product(q, product(t, q.adjoint())), q.leftCols(low)};
}
}  // namespace

TEST_CASE_TEMPLATE("deflation: P and Q are the matrices of their definition", Kind, Space, PlainSpace) {
  const Matrix a = disc_matrix(n, 0.6, 3), v = random_matrix(n, 4, 8), b = random_matrix(n, 1, 9);
  const Matrix one = Matrix::Identity(n, n), u = product(a, v);
  Kind space(n);
  Op op(a);
  for (const Projection kind : {Projection::galerkin, Projection::minimal_residual}) {
    const Matrix l = kind == Projection::galerkin ? v : u;
    const Matrix q = product(v, solution(product(l.adjoint(), u), l.adjoint())), p = one - product(a, q);
    const Deflation<Kind> deflation(space, op, columns_of(v), kind);
    CHECK(deflation.size() == 4);
    auto x = space.create();
    const auto source = from_eigen<double>(b);
    deflation.guess(space, x, source);
    // The condition of a few random vectors and their images is some ten: 1e-12 is some hundred roundings of that.
    CHECK((to_eigen(x, n) - product(q, b)).norm() < 1e-12 * b.norm());
    space.copy(x, source);
    deflation.project(space, x);
    CHECK((to_eigen(x, n) - product(p, b)).norm() < 1e-12 * b.norm());
    space.copy(x, source);
    deflation.project_dagger(space, x);
    CHECK((to_eigen(x, n) - product(p.adjoint(), b)).norm() < 1e-12 * b.norm());
  }
}

TEST_CASE("deflation: a first guess solves the system within the span of the vectors") {
  const Matrix a = with_spectrum(spectrum(), 5), v = low_modes(5) + 1e-3 * random_matrix(n, low, 6);
  Space single(n), space(n, 3);
  Op op(a);
  const Deflation<Space> deflation(single, op, columns_of(v));
  const Matrix b = random_matrix(n, 3, 1);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  deflation.guess(space, x, source);
  // The inverse of the small matrix, of condition 1e5, magnifies roundings of its entries.
  CHECK(product(v.adjoint(), b - product(a, to_eigen(x, n))).norm() < 1e-9 * b.norm());
  // The guess of a system whose solution lies in the span is the solution.
  const Matrix inside = product(v, random_matrix(low, 3, 2));
  const auto image = from_eigen<double>(product(a, inside));
  deflation.guess(space, x, image);
  CHECK((to_eigen(x, n) - inside).norm() < 1e-9 * inside.norm());
}

TEST_CASE("deflation: dependent vectors and vectors that are not finite are dropped") {
  const Matrix a = with_spectrum(spectrum(), 5), good = low_modes(5);
  Matrix v(n, 7);
  v.leftCols(3) = good.leftCols(3);
  v.col(3) = good.col(0) - Scalar(0.0, 2.0) * good.col(2);  // in the span of the others
  v.col(4).setZero();
  v.col(5) = good.col(4);
  v(11, 5) = std::nan("");
  v.col(6) = good.col(3);
  Space space(n);
  Op op(a);
  const Matrix b = random_matrix(n, 1, 1);
  const auto source = from_eigen<double>(b);
  for (const Projection kind : {Projection::galerkin, Projection::minimal_residual}) {
    const Deflation<Space> some(space, op, columns_of(v), kind);
    CHECK(some.size() == 4);
    auto x = space.create(), y = space.create();
    some.guess(space, x, source);
    const Deflation<Space> same(space, op, columns_of(good.leftCols(4)), kind);
    same.guess(space, y, source);
    CHECK((to_eigen(x, n) - to_eigen(y, n)).norm() < 1e-8 * to_eigen(y, n).norm());
  }
}

TEST_CASE("deflated cg: as many iterations as the spectrum without the deflated part needs") {
  const Matrix a = with_spectrum(spectrum(), 5), modes = low_modes(5), b = random_matrix(n, 2, 1);
  Space single(n), space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create(), y = space.create();
  SolveOptions options;
  options.tolerance = 1e-10;
  const int plain = cg(space, op, x, source, options).iterations;
  const Deflation<Space> deflation(single, op, columns_of(modes));
  op.applications = 0;
  const SolveResult result = deflated_cg(space, op, deflation, x, source, options);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
  CHECK((to_eigen(x, n) - solution(a, b)).norm() < 1e-10 * 1e5 * b.norm());
  CHECK(op.applications == result.iterations + 2);  // two to verify: before and after the correction
  // The same source without its low part, on the matrix without its low part.
  const Matrix high = b - product(modes, product(modes.adjoint(), b));
  SolveOptions inner = options;
  inner.tolerance = options.tolerance * b.norm() / high.norm();
  const auto cut = from_eigen<double>(high);
  const int reduced = cg(space, op, y, cut, inner).iterations;
  CHECK(std::abs(result.iterations - reduced) <= 2);
  // 2 ((sqrt(10) - 1) / (sqrt(10) + 1))^k sqrt(10) <= 1e-10 holds from k = 38 on.
  CHECK(result.iterations <= 38);
  CHECK(plain > 60);
}

TEST_CASE("deflated cg: the iterates are those of Saad, Yeung, Erhel and Guyomarc'h") {
  const Matrix a = with_spectrum(spectrum(), 5), b = random_matrix(n, 1, 1);
  const Matrix w = low_modes(5) + 0.1 / std::sqrt(static_cast<double>(n)) * random_matrix(n, low, 6);
  const Matrix small = product(w.adjoint(), product(a, w));
  Space space(n);
  Op op(a);
  const Deflation<Space> deflation(space, op, columns_of(w));
  const auto source = from_eigen<double>(b);
  const auto project = [&](const Column& r) -> Column {
    return r - product(w, solution(small, product(w.adjoint(), product(a, r))));
  };
  Column x = product(w, solution(small, product(w.adjoint(), b))), r = b - product(a, x), p = project(r);
  for (int steps = 1; steps <= 12; ++steps) {
    const Column q = product(a, p);
    const double rho = r.squaredNorm();
    const Scalar alpha = rho / p.dot(q);
    x += alpha * p;
    r -= alpha * q;
    p = r.squaredNorm() / rho * p + r;
    p = project(r) + (p - r);
    auto y = space.create();
    SolveOptions options;
    options.max_iterations = steps;
    const SolveResult result = deflated_cg(space, op, deflation, y, source, options);
    CHECK(result.residual[0] == doctest::Approx(r.norm() / b.norm()).epsilon(1e-6));
    CHECK((to_eigen(y, n) - x).norm() < 1e-7 * x.norm());
  }
}

TEST_CASE("deflated cg: inexact vectors give the right solution and save fewer iterations") {
  const Matrix a = with_spectrum(spectrum(), 5), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-9;
  int last = cg(space, op, x, source, options).iterations;
  for (const double error : {3e-1, 1e-2, 1e-4}) {
    CAPTURE(error);
    const Matrix v = low_modes(5) + error / std::sqrt(static_cast<double>(n)) * random_matrix(n, low, 6);
    const Deflation<Space> deflation(space, op, columns_of(v));
    const SolveResult result = deflated_cg(space, op, deflation, x, source, options);
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.01e-9);
    CHECK(result.iterations < last);
    last = result.iterations;
  }
}

TEST_CASE("deflated cg: residual replacement and a more precise outer space keep the deflation") {
  const Matrix a = with_spectrum(spectrum(), 5), b = random_matrix(n, 1, 1);
  DenseSpace<float> inner(n);
  DenseOperator<float> inner_op(a);
  std::vector<DenseVector<float>> modes;
  for (int i = 0; i < low; ++i) modes.push_back(from_eigen<float>(low_modes(5).col(i)));
  const Deflation<DenseSpace<float>> deflation(inner, inner_op, std::move(modes));
  Space outer(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = outer.create();
  auto e = inner.create();
  const auto to_inner = [](DenseVector<float>& out, const DenseVector<double>& in) {
    for (std::size_t i = 0; i < in.data.size(); ++i) out.data[i] = std::complex<float>(in.data[i]);
  };
  const auto to_outer = [](DenseVector<double>& out, const DenseVector<float>& in) {
    for (std::size_t i = 0; i < in.data.size(); ++i) out.data[i] = in.data[i];
  };
  ReliableProblem problem(inner, inner_op, outer, op, x, source, to_inner, to_outer);
  DeflatedProblem deflated(problem, deflation);
  SolveOptions options;
  options.tolerance = 1e-8;
  options.replacement = 0.1;
  const SolveResult result = cg_on(deflated, e, options);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 1.01e-8);
  CHECK(result.worst_residual() == doctest::Approx(true_residual(a, x, b)).epsilon(0.05));
}

TEST_CASE("deflated cg on the normal equations: the low singular vectors are taken out") {
  const Matrix d = with_singular_values(1, 2), b = random_matrix(n, 2, 3);
  const Matrix modes = random_unitary(n, 2).leftCols(low);
  Space single(n), space(n, 2);
  Op op(d);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-8;
  options.max_iterations = 4000;
  const int plain = cg_normal(space, op, x, source, options).iterations;
  const Deflation<Space> deflation(single, op, columns_of(modes), Projection::minimal_residual);
  CHECK(deflation.size() == low);
  const SolveResult result = deflated_cg_normal(space, op, deflation, x, source, options);
  CHECK(result.converged());
  CHECK(true_residual(d, x, b) < 1.01e-8);
  // n different singular values: no more than n steps, however well or ill conditioned, but for roundings.
  CHECK(result.iterations <= n);
  CHECK(result.iterations < plain);
  CHECK_THROWS_AS(deflated_cg(space, op, deflation, x, source), halocline::core::InvalidArgument);
  const Deflation<Space> other;
  CHECK_THROWS_AS(deflated_cg_normal(space, op, other, x, source), halocline::core::InvalidArgument);
}

TEST_CASE("deflated bicgstab and fgmres: an operator that is not hermitian") {
  const auto [a, modes] = skewed(4);
  const Matrix b = random_matrix(n, 2, 3);
  Space single(n), space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-9;
  options.max_iterations = 2000;
  const SolveResult plain = bicgstab(space, op, x, source, options);
  for (const Projection kind : {Projection::galerkin, Projection::minimal_residual}) {
    const Deflation<Space> deflation(single, op, columns_of(modes), kind);
    const SolveResult result = deflated_bicgstab(space, op, deflation, x, source, options);
    CHECK(result.converged());
    CHECK(true_residual(a, x, b) < 1.01e-9);
    CHECK(2 * result.iterations < plain.iterations);
    CHECK(result.iterations <= 40);
    LinearProblem<Space, Op> problem(space, op, source);
    DeflatedProblem deflated(problem, deflation);
    const NoPreconditioner none;
    const SolveResult minimal = fgmres_on(deflated, x, options, none);
    CHECK(minimal.converged());
    CHECK(true_residual(a, x, b) < 1.01e-9);
    CHECK(minimal.iterations <= 60);
  }
}

TEST_CASE("deflated bicgstab: preconditioned from the right") {
  const auto [a, modes] = skewed(4);
  const Matrix b = random_matrix(n, 1, 3);
  Space space(n);
  Op op(a), inverse(a.inverse());
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-8;
  const Deflation<Space> deflation(space, op, columns_of(modes), Projection::minimal_residual);
  const SolveResult result = deflated_bicgstab(space, op, deflation, x, source, options, inverse);
  CHECK(result.converged());
  CHECK(result.iterations == 1);
}

TEST_CASE("deflated cg: columns that finish early keep the solution that was judged") {
  const Matrix a = with_spectrum(spectrum(), 5), v = low_modes(5) + 1e-2 * random_matrix(n, low, 6);
  Matrix b = random_matrix(n, 3, 1);
  b.col(1) = a * v.col(2);  // solved by the first guess
  Space single(n), space(n, 3);
  Op op(a);
  const Deflation<Space> deflation(single, op, columns_of(v));
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.column_tolerance = {1e-2, 1e-8, 1e-10};
  const SolveResult result = deflated_cg(space, op, deflation, x, source, options);
  CHECK(result.converged());
  CHECK(result.column_iterations[1] == 1);  // nothing is left to iterate on
  for (int c = 0; c < 3; ++c) {
    const auto column = from_eigen<double>(b.col(c));
    auto y = single.create();
    options.column_tolerance = {std::vector<double>{1e-2, 1e-8, 1e-10}[static_cast<std::size_t>(c)]};
    const SolveResult alone = deflated_cg(single, op, deflation, y, column, options);
    CHECK(alone.residual[0] == result.residual[static_cast<std::size_t>(c)]);
    CHECK(to_eigen(x, n).col(c) == to_eigen(y, n));
  }
}

TEST_CASE("deflated fgmres: a column that finished is not corrected again while its neighbours take more cycles") {
  const Matrix a = with_spectrum(spectrum(), 5), v = low_modes(5) + 1e-7 * random_matrix(n, low, 6);
  const Matrix b = random_matrix(n, 2, 1);
  Space single(n), space(n, 2);
  Op op(a);
  const Deflation<Space> deflation(single, op, columns_of(v));
  SolveOptions options;
  options.restart_length = 8;
  const NoPreconditioner none;
  const auto solve = [&](Space& own, const Matrix& sources, std::vector<double> tolerances) {
    const auto source = from_eigen<double>(sources);
    LinearProblem<Space, Op> problem(own, op, source);
    DeflatedProblem deflated(problem, deflation);
    options.column_tolerance = std::move(tolerances);
    auto x = own.create();
    const SolveResult result = fgmres_on(deflated, x, options, none);
    CHECK(result.converged());
    return std::pair(to_eigen(x, n), result);
  };
  const auto [both, result] = solve(space, b, {1e-2, 1e-8});
  CHECK(result.column_iterations[0] + 12 < result.column_iterations[1]);  // two cycles at least
  const auto [first, alone] = solve(single, b.col(0), {1e-2});
  CHECK(both.col(0) == first);
  CHECK(result.residual[0] == alone.residual[0]);
  CHECK(result.residual[0] == doctest::Approx((b.col(0) - product(a, first)).norm() / b.col(0).norm()));
}

TEST_CASE("deflated cg: a batch needs products with shared vectors, a single column does not") {
  const Matrix a = with_spectrum(spectrum(), 5), b = random_matrix(n, 2, 1);
  PlainSpace single(n), batch(n, 2);
  Op op(a);
  const Deflation<PlainSpace> deflation(single, op, columns_of(low_modes(5)));
  auto x = single.create();
  const auto source = from_eigen<double>(b.col(0));
  CHECK(deflated_cg(single, op, deflation, x, source).converged());
  auto y = batch.create();
  const auto sources = from_eigen<double>(b);
  CHECK_THROWS_AS(deflated_cg(batch, op, deflation, y, sources), halocline::core::InvalidArgument);
  CHECK_THROWS_AS(Deflation<PlainSpace>(batch, op, {}), halocline::core::InvalidArgument);
}
