// SPDX-License-Identifier: Apache-2.0
// What is special to block solvers: columns that depend on each other, the shared Krylov space, the small matrices. The
// laws of all solvers are in test_linear_solvers.cpp.

#include <doctest/doctest.h>

#include "dense_space.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/block_bicgstab.hpp"
#include "halocline/solve/block_cg.hpp"
#include "halocline/solve/block_cg_normal.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/detail/block_matrix.hpp"
#include "halocline/solve/detail/orthonormal_columns.hpp"

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
struct BlockCg {
  static constexpr bool hermitian = true;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return block_cg(a...);
  }
  template <class... A>
  SolveResult single(A&... a) const {
    return cg(a...);
  }
};
struct BlockCgNormal {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return block_cg_normal(a...);
  }
  template <class... A>
  SolveResult single(A&... a) const {
    return cg_normal(a...);
  }
};
struct BlockBicgstab {
  static constexpr bool hermitian = false;
  template <class... A>
  SolveResult operator()(A&... a) const {
    return block_bicgstab(a...);
  }
  template <class... A>
  SolveResult single(A&... a) const {
    return bicgstab(a...);
  }
};
#define BLOCK_SOLVERS BlockCg, BlockCgNormal, BlockBicgstab

/// Condition about 50 for the hermitian one.
template <class Solver>
Matrix matrix_for(int n) {
  return Solver::hermitian ? positive_matrix(n, 50.0, 7) : disc_matrix(n, 0.7, 7);
}

/// |b - A x| / |b| of one column, by Eigen in double.
template <class T>
double residual_of(const Matrix& a, const DenseVector<T>& x, const Matrix& b, int column) {
  const int n = static_cast<int>(a.rows());
  return (product(a, to_eigen(x, n).col(column)) - b.col(column)).norm() / b.col(column).norm();
}

detail::BlockMatrix small(const Matrix& m) {
  detail::BlockMatrix out(static_cast<std::size_t>(m.rows()));
  for (Eigen::Index i = 0; i < m.rows(); ++i)
    for (Eigen::Index j = 0; j < m.cols(); ++j) out(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = m(i, j);
  return out;
}
Matrix to_eigen(const detail::BlockMatrix& m) {
  const auto n = static_cast<Eigen::Index>(m.size());
  Matrix out(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) out(i, j) = m(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  return out;
}
}  // namespace

TEST_CASE("small matrices: inverse and solution are those of Eigen, on the leading part") {
  const Matrix a = random_matrix(6, 6, 1), b = random_matrix(6, 6, 2), positive = positive_matrix(6, 100.0, 3);
  CHECK((to_eigen(small(a) * small(b)) - a * b).norm() < 1e-14 * a.norm() * b.norm());
  CHECK(to_eigen(adjoint(small(a))) == a.adjoint());
  for (const Eigen::Index rank : {1, 4, 6}) {
    const auto k = static_cast<std::size_t>(rank);
    Matrix inverse = Matrix::Zero(6, 6), y = Matrix::Zero(6, 6);
    inverse.topLeftCorner(rank, rank) = positive.topLeftCorner(rank, rank).inverse();
    y.topRows(rank) = a.topLeftCorner(rank, rank).inverse() * b.topRows(rank);
    // Condition 100, and some 30 for the random matrix.
    CHECK((to_eigen(*detail::inverse_of_positive(small(positive), k)) - inverse).norm() < 1e-13 * inverse.norm());
    CHECK((to_eigen(*detail::solve_small(small(a), small(b), k)) - y).norm() < 1e-13 * y.norm());
    const double least = a.topLeftCorner(rank, rank).jacobiSvd().singularValues()(rank - 1);
    CHECK(detail::least_singular_value(small(a), k) <= least * (1.0 + 1e-12));
    CHECK(detail::least_singular_value(small(a), k) >= least / std::sqrt(rank) * (1.0 - 1e-12));
  }
}

TEST_CASE("small matrices: what has no inverse is refused") {
  Matrix a = random_matrix(4, 4, 1);
  a.col(2) = a.col(0) - a.col(1);
  CHECK_FALSE(detail::solve_small(small(a), small(a), 4));
  CHECK(detail::solve_small(small(a), small(a), 2));
  CHECK(detail::least_singular_value(small(a), 4) == 0.0);
  CHECK_FALSE(detail::inverse_of_positive(small(Matrix(a.adjoint() * a)), 4));
  CHECK_FALSE(detail::inverse_of_positive(small(Matrix(-positive_matrix(4, 10.0, 2))), 4));
  a(1, 1) = std::nan("");
  CHECK_FALSE(detail::solve_small(small(a), small(a), 4));
  CHECK_FALSE(detail::inverse_of_positive(small(a), 4));
}

TEST_CASE_TEMPLATE("block space: gram and multiply are matrix products", T, float, double) {
  const int n = 11, columns = 3;
  const Matrix x = random_matrix(n, columns, 1), y = random_matrix(n, columns, 2), m = random_matrix(3, 3, 3);
  DenseSpace<T> space(n, columns);
  static_assert(BlockVectorSpace<DenseSpace<T>> && BlockVectorSpace<FusedSpace<T>>);
  const auto vx = from_eigen<T>(x);
  auto vy = from_eigen<T>(y), vz = space.create();
  const double tolerance = 10.0 * space.epsilon() * x.norm() * (y.norm() + m.norm());
  CHECK((to_eigen(detail::gram(space, vx, vy)) - x.adjoint() * y).norm() < tolerance);
  multiply(space, vz, vx, small(m).entries());
  CHECK((to_eigen(vz, n) - x * m).norm() < tolerance);
  space.multiply_add(vy, vx, small(m).entries());
  CHECK((to_eigen(vy, n) - y - x * m).norm() < tolerance);
}

TEST_CASE_TEMPLATE("block space: a column whose coefficients are zero is not read", T, float, double) {
  const int n = 5;
  Matrix x = random_matrix(n, 2, 1), m = Matrix::Zero(2, 2);
  x.col(1).setConstant(std::nan(""));
  m(0, 0) = m(0, 1) = 2.0;
  DenseSpace<T> space(n, 2);
  const auto vx = from_eigen<T>(x);
  auto out = space.create();
  multiply(space, out, vx, small(m).entries());
  for (int c = 0; c < 2; ++c)
    CHECK((to_eigen(out, n).col(c) - 2.0 * x.col(0)).norm() <= 2.0 * space.epsilon() * x.col(0).norm());
}

TEST_CASE_TEMPLATE("orthonormal columns: w = q c, whatever the columns of w are", T, float, double) {
  const int n = 60;
  struct Block {
    const char* what;
    Matrix w;
    std::size_t rank;
  };
  const Matrix random = random_matrix(n, 6, 1) / std::sqrt(2.0 * n);
  std::vector<Block> blocks{{"random", random, 6}, {"zero", Matrix::Zero(n, 6), 0}};
  blocks.push_back({"with zeros", random, 4});
  blocks.back().w.col(0).setZero();
  blocks.back().w.col(3).setZero();
  blocks.push_back({"equal", random.col(2).replicate(1, 6), 1});
  blocks.push_back({"two combinations", random, 4});
  blocks.back().w.col(1) = random.col(0) - random.col(5);
  blocks.back().w.col(4) = random.col(2) * Scalar(0.3, 0.4);
  // Epsilon and the drop at 100 epsilon are 1e-7 and 1e-5 in single precision: these directions are above.
  blocks.push_back({"nearly equal", random.col(2).replicate(1, 6) + 1e-3 * random, 6});
  blocks.push_back({"small", random, 6});
  for (int c = 0; c < 6; ++c) blocks.back().w.col(c) *= std::pow(5.0, -c);
  blocks.push_back({"monomials", Matrix(n, 6), 6});  // condition 5e3
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 6; ++c) blocks.back().w(i, c) = std::pow(2.0 * i / n - 0.9, c) / std::sqrt(n);
  for (const Block& block : blocks) {
    CAPTURE(block.what);
    DenseSpace<T> space(n, 6);
    auto w = from_eigen<T>(block.w), work = space.create();
    const Matrix before = to_eigen(w, n);
    const auto [factor, rank] = detail::orthonormalise(space, w, work);
    CHECK(rank == block.rank);
    const Matrix q = to_eigen(w, n);
    const auto k = static_cast<Eigen::Index>(rank);
    CHECK(q.rightCols(6 - k).norm() == 0.0);
    // Ten roundings, amplified by pivots of 0.1 at the least.
    CHECK((q.adjoint() * q - Matrix(Matrix::Identity(6, 6).leftCols(k) * Matrix::Identity(k, 6))).norm() <
          100.0 * space.epsilon());
    CHECK((q * to_eigen(factor) - before).norm() < 100.0 * space.epsilon());
  }
}

TEST_CASE("orthonormal columns: in double, directions of 1e-12 are found") {
  const int n = 40;
  const Matrix random = random_matrix(n, 4, 1) / std::sqrt(2.0 * n);
  const Matrix before = random.col(0).replicate(1, 4) + 1e-12 * random;
  DenseSpace<double> space(n, 4);
  auto w = from_eigen<double>(before), work = space.create();
  const auto [factor, rank] = detail::orthonormalise(space, w, work);
  CHECK(rank == 4);
  const Matrix q = to_eigen(w, n);
  CHECK((q.adjoint() * q - Matrix::Identity(4, 4)).norm() < 1e-14);
  CHECK((q * to_eigen(factor) - before).norm() < 1e-14);
}

TEST_CASE_TEMPLATE("block solvers: the solution is that of a direct method, for any number of columns", Solver,
                   BLOCK_SOLVERS) {
  const int n = 60;
  const Matrix a = matrix_for<Solver>(n);
  const double condition = a.jacobiSvd().singularValues()(0) / a.jacobiSvd().singularValues()(n - 1);
  const auto check = [&](auto space, auto zero, double tolerance) {
    using T = decltype(zero);
    const Matrix b = random_matrix(n, space.columns(), 3), exact = solution(a, b);
    DenseOperator<T> op(a);
    const auto source = from_eigen<T>(b);
    auto x = space.create();
    SolveOptions options;
    options.tolerance = tolerance;
    const SolveResult result = Solver()(space, op, x, source, options);
    CAPTURE(space.columns());
    CAPTURE(result.describe());
    CHECK(result.converged());
    CHECK((to_eigen(x, n) - exact).norm() <= 2.0 * condition * tolerance * exact.norm());
    CHECK(true_residual(a, x, b) <= 2.0 * tolerance);
  };
  for (const int columns : {1, 3, 8}) {
    check(DenseSpace<double>(n, columns), 0.0, 1e-12);
    check(FusedSpace<double>(n, columns), 0.0, 1e-12);
    check(DenseSpace<float>(n, columns), 0.0F, 2e-5);
  }
}

TEST_CASE_TEMPLATE("block solvers: right-hand sides may depend on each other", Solver, BLOCK_SOLVERS) {
  const int n = 60;
  const Matrix a = matrix_for<Solver>(n), random = random_matrix(n, 8, 3);
  Matrix b = random;
  b.col(1) = random.col(0);                                              // equal
  b.col(2) = Scalar(0.0, 3e5) * random.col(0);                           // parallel, of another size
  b.col(3) = random.col(0) - 2.0 * random.col(4) + 0.5 * random.col(5);  // a combination
  b.col(6) = random.col(5) + 1e-9 * random.col(6);                       // nearly equal
  b.col(7).setZero();
  const auto check = [&](auto zero, double tolerance) {
    using T = decltype(zero);
    DenseSpace<T> space(n, 8);
    DenseOperator<T> op(a);
    const auto source = from_eigen<T>(b);
    auto x = space.create();
    SolveOptions options;
    options.tolerance = tolerance;
    const SolveResult result = Solver()(space, op, x, source, options);
    CAPTURE(result.describe());
    CHECK(result.converged());
    for (int c = 0; c < 7; ++c) {
      CHECK(result.residual[static_cast<std::size_t>(c)] <= tolerance);
      CHECK(residual_of(a, x, b, c) <= 2.0 * tolerance);
    }
    CHECK(to_eigen(x, n).col(7).norm() == 0.0);
    CHECK(result.column_iterations[7] == 0);
  };
  check(0.0, 1e-12);
  check(0.0F, 2e-5);
}

TEST_CASE_TEMPLATE("block solvers: columns of very different sizes are solved alike", Solver, BLOCK_SOLVERS) {
  const int n = 60;
  const Matrix a = matrix_for<Solver>(n);
  Matrix b = random_matrix(n, 3, 3);
  b.col(0) *= 1e-100;
  b.col(2) *= 1e100;
  DenseSpace<double> space(n, 3);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const SolveOptions options;
  CHECK(Solver()(space, op, x, source, options).converged());
  for (int c = 0; c < 3; ++c) CHECK(residual_of(a, x, b, c) <= 1.01e-10);
}

TEST_CASE_TEMPLATE("block solvers: a column that has converged is left alone, and still counts as converged", Solver,
                   BLOCK_SOLVERS) {
  const int n = 80;
  const Matrix a = matrix_for<Solver>(n), b = random_matrix(n, 4, 3);
  DenseSpace<double> space(n, 4);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.column_tolerance = {1e-11, 1e-2, 1e-5, 1e-11};
  const SolveResult result = Solver()(space, op, x, source, options);
  CHECK(result.converged());
  for (std::size_t c = 0; c < 4; ++c) CHECK(result.residual[c] <= options.column_tolerance[c]);
  CHECK(result.residual[1] > 1e-5);  // it did not go on with the others
  CHECK(result.residual[2] > 1e-9);
  CHECK(result.column_iterations[1] < result.column_iterations[2]);
  CHECK(result.column_iterations[2] < result.column_iterations[0]);
  CHECK(result.history[1].size() == static_cast<std::size_t>(result.column_iterations[1]) + 1);
}

TEST_CASE_TEMPLATE("block solvers: NaN in a column or its guess leaves the others alone", Solver, BLOCK_SOLVERS) {
  const int n = 40;
  const Matrix a = matrix_for<Solver>(n), good = random_matrix(n, 3, 4);
  DenseSpace<double> space(n, 3);
  DenseOperator<double> op(a);
  for (const bool in_guess : {false, true}) {
    Matrix b = good, guess = random_matrix(n, 3, 5);
    (in_guess ? guess : b)(7, 1) = std::numeric_limits<double>::infinity();
    const auto source = from_eigen<double>(b);
    auto x = from_eigen<double>(guess);
    SolveOptions options;
    options.use_initial_guess = in_guess;
    const SolveResult result = Solver()(space, op, x, source, options);
    CHECK(result.reasons == std::vector<Reason>{Reason::converged, Reason::not_finite, Reason::converged});
    for (const int c : {0, 2}) CHECK(residual_of(a, x, good, c) <= 1.01e-10);
  }
}

TEST_CASE_TEMPLATE("block solvers: an operator that returns NaN on the way ends all columns", Solver, BLOCK_SOLVERS) {
  const int n = 60;
  struct Failing {
    DenseOperator<double> op;
    int last;
    int calls = 0;
    void apply(DenseVector<double>& out, const DenseVector<double>& in) {
      op.apply(out, in);
      spoil(out);
    }
    void apply_dagger(DenseVector<double>& out, const DenseVector<double>& in) {
      op.apply_dagger(out, in);
      spoil(out);
    }
    void spoil(DenseVector<double>& out) {
      if (++calls == last) out.data[3] = std::nan("");
    }
  };
  const Matrix a = matrix_for<Solver>(n), b = random_matrix(n, 2, 4);
  DenseSpace<double> space(n, 2);
  const auto source = from_eigen<double>(b);
  for (const int last : {1, 2, 3, 4, 5, 6}) {
    CAPTURE(last);
    Failing op{DenseOperator<double>(a), last};
    auto x = space.create();
    const SolveOptions options;
    const SolveResult result = Solver()(space, op, x, source, options);
    CHECK(result.reason == Reason::not_finite);
    // The solution is the one before the failure, and its residual the true one.
    REQUIRE(to_eigen(x, n).allFinite());
    for (int c = 0; c < 2; ++c)
      CHECK(result.residual[static_cast<std::size_t>(c)] == doctest::Approx(residual_of(a, x, b, c)));
  }
}

TEST_CASE_TEMPLATE("block solvers: cancelling keeps what was reached", Solver, BLOCK_SOLVERS) {
  const int n = 80;
  const Matrix a = matrix_for<Solver>(n), b = random_matrix(n, 3, 4);
  DenseSpace<double> space(n, 3);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  SolveOptions options;
  options.progress = [](int iteration, double) { return iteration < 5; };
  const SolveResult result = Solver()(space, op, x, source, options);
  CHECK(result.reasons == std::vector<Reason>(3, Reason::cancelled));
  CHECK(result.iterations == 5);
  for (int c = 0; c < 3; ++c) {
    CHECK(result.residual[static_cast<std::size_t>(c)] == doctest::Approx(residual_of(a, x, b, c)));
    CHECK(result.residual[static_cast<std::size_t>(c)] < 1.0);
  }
}

TEST_CASE_TEMPLATE("block solvers: one column takes the iterations of the single-column solver", Solver,
                   BLOCK_SOLVERS) {
  const int n = 60;
  const Matrix a = matrix_for<Solver>(n), b = random_matrix(n, 1, 3);
  DenseSpace<double> space(n);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const SolveOptions options;
  const SolveResult block = Solver()(space, op, x, source, options);
  const SolveResult single = Solver().single(space, op, x, source, options);
  CHECK(std::abs(block.iterations - single.iterations) <= 1);
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(block.history[0][i] == doctest::Approx(single.history[0][i]).epsilon(1e-6));
}

TEST_CASE("block cg: each iterate has the least error in the A norm over the block Krylov space") {
  const int n = 60, columns = 3, steps = 6;
  const Matrix a = positive_matrix(n, 100.0, 5), b = random_matrix(n, columns, 1), exact = solution(a, b);
  Matrix basis(n, 0), block = b;
  for (int k = 1; k <= steps; ++k) {
    // Orthonormal by Gram-Schmidt, twice: powers of A on b are nearly dependent.
    for (int pass = 0; pass < 2; ++pass) {
      for (int c = 0; c < columns; ++c) {
        if (basis.cols() > 0) block.col(c) -= basis * (basis.adjoint() * block.col(c));
        for (int d = 0; d < c; ++d) block.col(c) -= block.col(d) * block.col(d).dot(block.col(c));
        block.col(c).normalize();
      }
    }
    basis.conservativeResize(n, k * columns);
    basis.rightCols(columns) = block;
    const Matrix best = product(basis, solution(basis.adjoint() * a * basis, basis.adjoint() * b));
    block = product(a, block);
    DenseSpace<double> space(n, columns);
    DenseOperator<double> op(a);
    const auto source = from_eigen<double>(b);
    auto x = space.create();
    SolveOptions options;
    options.max_iterations = k;
    block_cg(space, op, x, source, options);
    CHECK((to_eigen(x, n) - best).norm() < 1e-11 * exact.norm());
  }
}

TEST_CASE("block cg: ends in n over k steps, k the rank of the right-hand sides") {
  const int n = 48;
  const Matrix a = positive_matrix(n, 10.0, 5), random = random_matrix(n, 8, 1);
  DenseSpace<double> space(n, 8);
  DenseOperator<double> op(a);
  for (const int rank : {8, 4}) {
    Matrix b = random;
    for (int c = rank; c < 8; ++c) b.col(c) = random.col(c - rank) + random.col(0);
    const auto source = from_eigen<double>(b);
    auto x = space.create();
    SolveOptions options;
    options.tolerance = 1e-11;
    const SolveResult result = block_cg(space, op, x, source, options);
    CHECK(result.converged());
    CHECK(result.iterations <= n / rank);
  }
}

TEST_CASE("block cg: a few tiny eigenvalues do not slow it down") {
  const int n = 200, tiny = 6;
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = i < tiny ? 1e-4 * (1.0 + i) : 1.0 + 9.0 * (i - tiny) / (n - tiny - 1.0);
  const Matrix a = with_spectrum(values, 3), b = random_matrix(n, 8, 1);
  DenseSpace<double> space(n, 8);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create(), y = space.create();
  const SolveResult block = block_cg(space, op, x, source), single = cg(space, op, y, source);
  CHECK(block.converged());
  CHECK(single.converged());
  CHECK(true_residual(a, x, b) <= 1.01e-10);
  // O'Leary (1980): the error in the A norm falls by a factor of 2 rate^k with the condition number
  // values[199] / values[7]. A residual of 1e-10 is an error in the A norm of at least 1e-10 sqrt(values[0] /
  // values[199]); the theorem's constant, which depends on b, is taken as 10.
  const double root = std::sqrt(values[n - 1] / values[7]), rate = (root - 1.0) / (root + 1.0);
  const double bound = std::log(2.0 * 10.0 / (1e-10 * std::sqrt(values[0] / values[n - 1]))) / -std::log(rate);
  CHECK(block.iterations <= bound);
  CHECK(block.iterations <= single.iterations / 2);
}

TEST_CASE_TEMPLATE("block solvers: a few tiny eigenvalues cost less than half of the single-column iterations", Solver,
                   BlockCgNormal, BlockBicgstab) {
  const int n = 160, tiny = 6;
  Matrix values = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i)
    values(i, i) = i < tiny ? Scalar(2e-3 * (1.0 + i)) : 1.0 + 0.5 * std::polar(1.0, 0.7 * i) * (i / (n - 1.0));
  const Matrix similar = disc_matrix(n, 0.3, 4);
  const Matrix a = product(product(similar, values), Matrix(similar.inverse())), b = random_matrix(n, 8, 1);
  DenseSpace<double> space(n, 8);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create(), y = space.create();
  const SolveOptions options;
  const SolveResult block = Solver()(space, op, x, source, options);
  const SolveResult single = Solver().single(space, op, y, source, options);
  CHECK(block.converged());
  CHECK(single.converged());
  CHECK(true_residual(a, x, b) <= 1.01e-10);
  CHECK(2 * block.iterations <= single.iterations);
}

TEST_CASE("block cg: an operator that is not positive is a breakdown") {
  const int n = 20;
  DenseSpace<double> space(n, 3);
  DenseOperator<double> op(-positive_matrix(n, 10.0, 2));
  const auto b = from_eigen<double>(random_matrix(n, 3, 1));
  auto x = space.create();
  const SolveResult result = block_cg(space, op, x, b);
  CHECK(result.reasons == std::vector<Reason>(3, Reason::breakdown));
  CHECK(result.residual == std::vector<double>(3, 1.0));
}

TEST_CASE_TEMPLATE("block solvers: a singular operator is never called solved", Solver, BLOCK_SOLVERS) {
  const int n = 20;
  Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(n, 1.0, 2.0);
  values[4] = 0.0;
  DenseSpace<double> space(n, 3);
  DenseOperator<double> op(Matrix(values.cast<Scalar>().asDiagonal()));  // singular exactly, without rounding
  const auto b = from_eigen<double>(random_matrix(n, 3, 1));
  auto x = space.create();
  SolveOptions options;
  options.stagnation_window = 50;
  const SolveResult result = Solver()(space, op, x, b, options);
  CHECK((result.reason == Reason::breakdown || result.reason == Reason::stagnation));
  CHECK(result.iterations < 1000);  // 20 dimensions, and some cycles that stagnate
  CHECK(to_eigen(x, n).allFinite());
  for (const double residual : result.residual) CHECK(residual > 1e-3);
}

TEST_CASE("block bicgstab: a real skew matrix is not solved, and that is said") {
  const int n = 20;
  const Eigen::MatrixXd m = random_matrix(n, n, 4).real();
  for (const int columns : {1, 2, 3}) {
    DenseSpace<double> space(n, columns);
    DenseOperator<double> op(Matrix((m - m.transpose()).cast<Scalar>()));
    const auto b = from_eigen<double>(Matrix(random_matrix(n, columns, 1).real().cast<Scalar>()));
    auto x = space.create();
    const SolveResult result = block_bicgstab(space, op, x, b);
    CHECK((result.reason == Reason::breakdown || result.reason == Reason::stagnation));
    CHECK(to_eigen(x, n).allFinite());
    if (columns == 1) CHECK(result.worst_residual() <= 1.0 + 1e-12);  // noise did not reach x
  }
}

TEST_CASE("block bicgstab: rounding errors of single precision do not make the residual grow") {
  const int n = 150;
  const Matrix a = product(0.3 * random_unitary(n, 3) + Matrix::Identity(n, n), positive_matrix(n, 1e3, 7));
  for (const int columns : {3, 8}) {
    const Matrix b = random_matrix(n, columns, 3);
    DenseSpace<float> space(n, columns);
    DenseOperator<float> op(a);
    const auto source = from_eigen<float>(b);
    auto x = space.create();
    SolveOptions options;
    options.tolerance = 1e-13;
    const SolveResult result = block_bicgstab(space, op, x, source, options);
    CHECK_FALSE(result.converged());
    CHECK(result.worst_residual() < 1e-3);  // rounding errors of 6e-8, condition 2e3
    CHECK(result.worst_residual() == doctest::Approx(true_residual(a, x, b)).epsilon(0.5));
  }
}

TEST_CASE("block bicgstab: an exact preconditioner ends it at once, a crude one makes it faster") {
  const int n = 60;
  const Matrix a = disc_matrix(n, 0.9, 9), b = random_matrix(n, 3, 1);
  DenseSpace<double> space(n, 3);
  DenseOperator<double> op(a), inverse(a.inverse()), crude(Matrix(2.0 * Matrix::Identity(n, n) - a));
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const SolveResult exact = block_bicgstab(space, op, x, source, {}, inverse);
  CHECK(exact.converged());
  CHECK(exact.iterations == 1);
  const int plain = block_bicgstab(space, op, x, source).iterations;
  const SolveResult helped = block_bicgstab(space, op, x, source, {}, crude);
  CHECK(helped.converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
  CHECK(helped.iterations < plain);
  CHECK(helped.timings.precondition > 0.0);
}

TEST_CASE("block cg on the normal equations: condition 1e4 reaches the residual of the single-column solver") {
  const int n = 60;
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = std::pow(1e4, i / (n - 1.0));
  const Matrix a = product(random_unitary(n, 1) * values.cast<Scalar>().asDiagonal(), random_unitary(n, 2));
  const Matrix b = random_matrix(n, 4, 3);
  DenseSpace<double> space(n, 4);
  DenseOperator<double> op(a);
  const auto source = from_eigen<double>(b);
  auto x = space.create();
  const SolveResult result = block_cg_normal(space, op, x, source);
  CHECK(result.converged());
  CHECK(true_residual(a, x, b) < 1.01e-10);
}
