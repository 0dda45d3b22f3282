// SPDX-License-Identifier: Apache-2.0
// GMRES with deflated restarts: its spaces, what it keeps, and its small matrices.

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/gmres_dr.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
using Space = DenseSpace<double>;
using Op = DenseOperator<double>;

/// Around one, but for `low` eigenvalues of some 1e-3; triangular in a random basis, not normal.
Matrix with_low_modes(int n, int low, unsigned seed) {
  Matrix t = 0.3 / std::sqrt(static_cast<double>(n)) * random_matrix(n, n, seed);
  t = Matrix(t.triangularView<Eigen::StrictlyUpper>());
  t.topRows(low) *= 1e-2;
  for (int i = 0; i < n; ++i) t(i, i) = i < low ? Scalar(1e-3 * (i + 1), 5e-4) : 1.0 + 0.3 * std::polar(1.0, 2.4 * i);
  const Matrix q = random_unitary(n, seed + 1);
  return product(q, product(t, q.adjoint()));
}

Matrix orthonormal(const Matrix& m) {
  return Matrix(Eigen::HouseholderQR<Matrix>(m).householderQ()).leftCols(m.cols());
}
}  // namespace

TEST_CASE("dense least squares: the minimiser, its residual and the complement of a growing matrix") {
  using halocline::solve::detail::DenseLeastSquares;
  const int n = 7, full = 3;
  Matrix h = random_matrix(n + 1, n, 3);
  for (int j = 0; j < n; ++j)
    for (int i = std::max(full, j + 1) + 1; i <= n; ++i) h(i, j) = 0.0;
  const Matrix g = random_matrix(full + 1, 1, 4);
  DenseLeastSquares small(std::vector<Scalar>(g.data(), g.data() + full + 1));
  for (int j = 0; j < n; ++j) {
    const int rows = std::max(full, j + 1) + 1;
    std::vector<Scalar> column;
    for (int i = 0; i < rows; ++i) column.push_back(h(i, j));
    const double residual2 = small.append(column);
    Matrix padded = Matrix::Zero(rows, 1);
    padded.topRows(full + 1) = g;
    const Matrix corner = h.topLeftCorner(rows, j + 1), y = solution(corner, padded);
    CHECK(residual2 == doctest::Approx((padded - product(corner, y)).squaredNorm()).epsilon(1e-10));
    const std::vector<Scalar> got = small.solve();
    REQUIRE(got.size() == static_cast<std::size_t>(j + 1));
    for (int i = 0; i <= j; ++i) CHECK(std::abs(got[static_cast<std::size_t>(i)] - y(i, 0)) < 1e-11 * y.norm());
  }
  const std::vector<Scalar> complement = small.complement();
  const Matrix c = Eigen::Map<const Column>(complement.data(), n + 1);
  CHECK(c.norm() == doctest::Approx(1.0));
  CHECK(product(h.adjoint(), c).norm() < 1e-13 * h.norm());
}

TEST_CASE("dense least squares: dependent columns get no weight, their part of the residual stays") {
  using halocline::solve::detail::DenseLeastSquares;
  DenseLeastSquares small({1.0, 2.0, 2.0});
  CHECK(small.append({0.0, 0.0, 0.0}) == doctest::Approx(9.0));
  CHECK(small.append({0.0, 1.0, 0.0}) == doctest::Approx(5.0));
  CHECK(small.append({0.0, 2.0, 0.0}) == doctest::Approx(5.0));
  CHECK(small.solve() == std::vector<Scalar>{0.0, 2.0, 0.0});
}

TEST_CASE("least squares: a column of rounding errors gets no weight") {
  using halocline::solve::detail::DenseLeastSquares;
  using halocline::solve::detail::HessenbergLeastSquares;
  const double error = 3e-14;
  DenseLeastSquares dense({1.0, 2.0, 2.0});
  dense.append({0.0, 1.0, 0.0});
  dense.append({0.0, 2.0, error});
  HessenbergLeastSquares hessenberg(3.0);
  const std::vector<Scalar> first{4.0}, second{8.0, 6.0 + error};
  hessenberg.append(first, 3.0);
  hessenberg.append(second, 0.0);
  for (const auto& [y, expected] : {std::pair{dense.solve(), 2.0}, {hessenberg.solve(), 0.48}}) {
    CHECK(y[0].real() == doctest::Approx(expected));
    CHECK(y[1] == 0.0);
  }
}

TEST_CASE("harmonic ritz vectors: those of Morgan's matrix, and of a singular one") {
  using halocline::solve::detail::SmallMatrix;
  const int n = 6;
  Matrix h = random_matrix(n + 1, n, 5);
  for (int j = 0; j < n; ++j)
    for (int i = j + 2; i <= n; ++i) h(i, j) = 0.0;
  SmallMatrix small(n + 1, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= n; ++i) small(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = h(i, j);
  const SmallMatrix found = halocline::solve::detail::harmonic_ritz(small, 2);
  const Matrix square = h.topRows(n);
  Matrix morgan = square;
  morgan.col(n - 1) += std::norm(h(n, n - 1)) * solution(square.adjoint(), Column::Unit(n, n - 1));
  double last = 0.0;
  for (std::size_t k = 0; k < 2; ++k) {
    const Column g = Eigen::Map<const Column>(found.column(k).data(), n);
    const Scalar theta = g.dot(morgan * g) / g.squaredNorm();
    CHECK((morgan * g - theta * g).norm() < 1e-11 * morgan.norm() * g.norm());
    CHECK(std::abs(theta) > last);
    last = std::abs(theta);
  }
  const Eigen::VectorXcd all = morgan.eigenvalues();
  CHECK(std::ranges::count_if(all, [&](const Scalar& z) { return std::abs(z) < last * (1 + 1e-9); }) == 2);
  SmallMatrix shift(3, 2);  // H_n is nilpotent
  shift(1, 0) = shift(2, 1) = 1.0;
  const SmallMatrix fine = halocline::solve::detail::harmonic_ritz(shift, 1);
  CHECK(fine.finite());
}

TEST_CASE("gmres-dr: the second cycle is optimal over the harmonic Ritz vectors and the Krylov space of r") {
  const int n = 40, m = 10, k = 3;
  const Matrix a = with_low_modes(n, 3, 6), b = random_matrix(n, 1, 1);
  // One cycle of GMRES(m), in exact terms.
  Matrix krylov(n, m);
  Column v = b;
  for (int i = 0; i < m; ++i) {
    krylov.col(i) = v / v.norm();
    for (int j = 0; j < i; ++j) krylov.col(i) -= krylov.col(j).dot(krylov.col(i)) * krylov.col(j);
    krylov.col(i) /= krylov.col(i).norm();
    v = a * krylov.col(i);
  }
  krylov = orthonormal(krylov);
  const Matrix image = product(a, krylov);
  const Column r = b - projection(image, b);
  // (A V)^dagger A V g = theta (A V)^dagger V g, smallest theta.
  const Matrix quotient = solution(product(image.adjoint(), krylov), product(image.adjoint(), image));
  const Eigen::ComplexEigenSolver<Matrix> eigen(quotient);
  std::vector<int> order(m);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order,
                    [&](int i, int j) { return std::abs(eigen.eigenvalues()[i]) < std::abs(eigen.eigenvalues()[j]); });
  Matrix space_of_two(n, k + m - k);
  for (int i = 0; i < k; ++i)
    space_of_two.col(i) = krylov * eigen.eigenvectors().col(order[static_cast<std::size_t>(i)]);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  v = r;
  for (int steps = 1; steps <= m - k; ++steps) {
    space_of_two.col(k + steps - 1) = v / v.norm();
    v = a * v;
    const Matrix images = product(a, orthonormal(space_of_two.leftCols(k + steps)));
    const double best = (r - projection(images, r)).norm() / b.norm();
    SolveOptions options;
    options.tolerance = 1e-13;
    options.restart_length = m;
    options.max_iterations = m + steps;
    auto x = space.create();
    const SolveResult result = gmres_dr(space, op, x, source, options, k);
    CHECK(result.iterations == m + steps);
    CHECK(result.residual[0] == doctest::Approx(best).epsilon(1e-5));
    CHECK(result.history[0].back() == doctest::Approx(best).epsilon(1e-5));
  }
}

TEST_CASE("gmres-dr: low modes that a restart forgets are kept") {
  const int n = 100, low = 4;
  const Matrix a = with_low_modes(n, low, 6), b = random_matrix(n, 2, 1);
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.tolerance = 1e-9;
  options.max_iterations = 600;
  options.restart_length = n;
  const int full = fgmres(space, op, x, source, options).iterations;
  options.restart_length = 16;
  const SolveResult forgetful = fgmres(space, op, x, source, options);
  const SolveResult kept = gmres_dr(space, op, x, source, options, 6);
  CHECK(kept.converged());
  CHECK(true_residual(a, x, b) < 1.01e-9);
  CHECK(kept.iterations <= 2 * full);
  CHECK((!forgetful.converged() || forgetful.iterations > 3 * kept.iterations));
}

TEST_CASE("gmres-dr: keeping nothing is fgmres, and the first cycle always is") {
  const int n = 40;
  const Matrix a = disc_matrix(n, 0.95, 6), b = random_matrix(n, 1, 1);
  Space space(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.restart_length = 8;
  const SolveResult plain = fgmres(space, op, x, source, options), none = gmres_dr(space, op, x, source, options, 0),
                    some = gmres_dr(space, op, x, source, options, 3);
  CHECK(none.iterations == plain.iterations);
  for (std::size_t i = 0; i < plain.history[0].size(); ++i)
    CHECK(none.history[0][i] == doctest::Approx(plain.history[0][i]).epsilon(1e-6));
  for (std::size_t i = 0; i <= 8; ++i) CHECK(some.history[0][i] == doctest::Approx(plain.history[0][i]).epsilon(1e-9));
  CHECK(some.converged());
  CHECK_THROWS_AS(gmres_dr(space, op, x, source, options, 8), halocline::core::InvalidArgument);
  CHECK_THROWS_AS(gmres_dr(space, op, x, source, options, -2), halocline::core::InvalidArgument);
}

TEST_CASE("gmres-dr: a preconditioner that changes at every call") {
  struct Richardson {
    Op* op;
    Space* space;
    int calls = 0;
    void apply(DenseVector<double>& out, const DenseVector<double>& in) {
      auto r = space->create();
      space->copy(out, in);
      const Scalars minus(static_cast<std::size_t>(space->columns()), Scalar(-1.0));
      for (int i = 0; i < 1 + calls % 3; ++i) {
        op->apply(r, out);
        update(*space, {add(out, {}, in, minus, r)});
      }
      ++calls;
    }
  };
  const int n = 80;
  const Matrix a = with_low_modes(n, 3, 8), b = random_matrix(n, 2, 1);
  Space space(n, 2);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.restart_length = 12;
  const int plain = gmres_dr(space, op, x, source, options, 4).iterations;
  Richardson m{&op, &space};
  const SolveResult result = gmres_dr(space, op, x, source, options, m, 4);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
  CHECK(result.iterations < plain);
  CHECK(result.timings.precondition > 0.0);
}

TEST_CASE("gmres-dr: a column whose cycles end early starts again from its residual, beside one that does not") {
  const int n = 40;
  const Matrix a = with_low_modes(n, 3, 6);
  Matrix b = random_matrix(n, 3, 1);
  const Matrix invariant = product(a, random_matrix(n, 1, 2));
  b.col(1) = invariant;
  Space batch(n, 3), single(n);
  Op op(a);
  const auto source = from_eigen<double>(b);
  auto x = batch.create();
  SolveOptions options;
  options.restart_length = 9;
  options.column_tolerance = {1e-11, 1e-2, 1e-8};
  const SolveResult result = gmres_dr(batch, op, x, source, options, 4);
  CHECK(result.converged());
  for (int c = 0; c < 3; ++c) {
    SolveOptions own = options;
    own.column_tolerance = {options.column_tolerance[static_cast<std::size_t>(c)]};
    const auto column = from_eigen<double>(b.col(c));
    auto y = single.create();
    const SolveResult alone = gmres_dr(single, op, y, column, own, 4);
    CHECK(alone.iterations == result.column_iterations[static_cast<std::size_t>(c)]);
    CHECK(to_eigen(x, n).col(c) == to_eigen(y, n));
  }
}

TEST_CASE("gmres-dr: singular operators and stagnation are named") {
  const int n = 16;
  Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(n, 1.0, 2.0);
  values[4] = 0.0;
  Space space(n);
  Op op(Matrix(values.cast<Scalar>().asDiagonal()));  // singular exactly, without rounding
  auto x = space.create();
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const auto b = from_eigen<double>(random_matrix(n, 1, seed));
    const SolveResult singular = gmres_dr(space, op, x, b);
    CHECK((singular.reason == Reason::breakdown || singular.reason == Reason::stagnation));
    CHECK(singular.residual[0] > 1e-3);
    CHECK(singular.residual[0] <= 1.0 + 1e-3);
  }
  Matrix shift = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i) shift((i + 1) % n, i) = 1.0;
  Op cyclic(shift);
  const auto unit = from_eigen<double>(Matrix(Column::Unit(n, 0)));
  SolveOptions options;
  options.restart_length = 6;
  const SolveResult stuck = gmres_dr(space, cyclic, x, unit, options, 2);
  CHECK(!stuck.converged());
  CHECK(stuck.residual[0] == doctest::Approx(1.0));
  options.restart_length = n;
  CHECK(gmres_dr(space, cyclic, x, unit, options, 2).converged());
}
