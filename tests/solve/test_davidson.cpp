// SPDX-License-Identifier: Apache-2.0
// Davidson's method with a rough inverse: both signs, multiplicities, against spectra that are known by construction
// and against Lanczos.

#include "dense_space.hpp"
#include "halocline/solve/davidson.hpp"
#include "halocline/solve/lanczos.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
using Space = DenseSpace<double>;
using Op = DenseOperator<double>;

/// Eigenvalues of both signs from 0.02 on, up to 0.03 n.
Eigen::VectorXd spread(int n) {
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = (i % 2 ? -1.0 : 1.0) * (0.02 + 0.03 * i);
  return values;
}

/// The inverse, wrong by a random part of norm `error` relative to it.
Matrix rough_inverse(const Matrix& a, double error, unsigned seed) {
  const int n = static_cast<int>(a.rows());
  const Matrix wrong = random_matrix(n, n, seed);
  return solution(a, Matrix::Identity(n, n) + error / (2.0 * std::sqrt(static_cast<double>(n))) * wrong);
}

std::vector<DenseVector<double>> random_blocks(int n, int width, int count, unsigned seed) {
  std::vector<DenseVector<double>> out;
  for (int i = 0; i < count; ++i) out.push_back(from_eigen<double>(random_matrix(n, width, seed + unsigned(i))));
  return out;
}

std::vector<double> lowest(const Eigen::VectorXd& values, int count) {
  std::vector<double> sorted(values.data(), values.data() + values.size());
  std::stable_sort(sorted.begin(), sorted.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  sorted.resize(static_cast<std::size_t>(count));
  return sorted;
}

struct Run {
  int applications, preconditionings;
};

/// Runs and checks values, residuals and orthonormality.
Run check(const Eigen::VectorXd& values, const DavidsonOptions& options, int width, double error, bool signs = true) {
  const int n = static_cast<int>(values.size());
  const Matrix a = with_spectrum(values, 77);
  Space space(n, width);
  Op op(a), inverse(rough_inverse(a, error, 5));
  const auto result = davidson(space, op, inverse, random_blocks(n, width, 2 + options.count / width, 300), options);
  REQUIRE(result.converged());
  REQUIRE(result.values.size() == static_cast<std::size_t>(options.count));
  CHECK(result.applications == op.applications * width);
  CHECK(result.preconditionings == inverse.applications * width);
  const std::vector<double> expected = lowest(values, options.count);
  const double norm = values.cwiseAbs().maxCoeff();
  Matrix v(n, options.count);
  for (int i = 0; i < options.count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    // The error of an eigenvalue is below the residual, and of its square where its neighbours are far.
    CHECK(std::abs(std::abs(result.values[k]) - std::abs(expected[k])) < options.tolerance * result.norm);
    if (signs) CHECK(std::abs(result.values[k] - expected[k]) < options.tolerance * result.norm);
    const Matrix block = to_eigen(result.blocks[k / static_cast<std::size_t>(width)], n);
    v.col(i) = block.col(i % width);
    CHECK(result.residuals[k] <= options.tolerance * result.norm);
    // Rounding errors of H v are of the size of 1e-16 |H| sqrt(n).
    CHECK(std::abs((product(a, v.col(i)) - result.values[k] * v.col(i)).norm() - result.residuals[k]) < 1e-13 * norm);
  }
  CHECK((product(v.adjoint(), v) - Matrix::Identity(options.count, options.count)).norm() < 1e-12);
  // Eight Lanczos steps know the edge of a spectrum to a few per cent.
  CHECK(result.norm >= 0.85 * norm);
  CHECK(result.norm <= 1.2 * norm);
  return {result.applications, result.preconditionings};
}
}  // namespace

TEST_CASE("davidson: the smallest moduli of both signs, for every width of a block") {
  for (const int width : {1, 3, 8}) {
    CAPTURE(width);
    DavidsonOptions options;
    options.count = 6;
    check(spread(200), options, width, 0.3);
  }
}

TEST_CASE("davidson: pairs of opposite sign, cut in the middle of a pair, and degenerate eigenvalues") {
  Eigen::VectorXd values = spread(160);
  for (int i = 0; i < 80; ++i) values[2 * i + 1] = -values[2 * i];
  for (const int count : {6, 7}) {
    DavidsonOptions options;
    options.count = count;
    check(values, options, 4, 0.3, false);
  }
  values = spread(160);
  for (int i = 0; i < 4; ++i) values[i] = 0.01;
  values[5] = -0.01;
  DavidsonOptions options;
  options.count = 8;
  check(values, options, 4, 0.3, false);
}

TEST_CASE("davidson: large eigenvalues of both signs do not look like small ones") {
  // Start vectors of large eigenvalues alone: H has expectation zero in their sums.
  const int n = 120, width = 4;
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = (i % 2 ? -1.0 : 1.0) * (i < 6 ? 0.05 + 0.01 * i : 5.0 + 0.01 * i);
  const Matrix a = with_spectrum(values, 7);
  Space space(n, width);
  Op op(a), inverse(rough_inverse(a, 0.5, 5));
  const Matrix random = random_matrix(n, 2 * width, 9), high = product(a, product(a, product(a, random)));
  std::vector<DenseVector<double>> start{from_eigen<double>(high.leftCols(width)),
                                         from_eigen<double>(high.rightCols(width))};
  DavidsonOptions options;
  options.count = 4;
  const auto result = davidson(space, op, inverse, std::move(start), options);
  REQUIRE(result.converged());
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(result.values[i] - lowest(values, 4)[i]) < 1e-9);
}

TEST_CASE("davidson: a better inverse needs fewer steps, and both fewer applications than lanczos") {
  DavidsonOptions options;
  options.count = 8;
  const Eigen::VectorXd values = spread(400);
  const Run rough = check(values, options, 8, 0.8), good = check(values, options, 8, 0.1);
  CHECK(good.preconditionings < rough.preconditionings);
  const Matrix a = with_spectrum(values, 77);
  Space space(400);
  Op op(a);
  const auto start = [](DenseVector<double>& v, int draw) {
    v = from_eigen<double>(random_matrix(400, 1, 1000u + static_cast<unsigned>(draw)));
  };
  EigenOptions other;
  other.count = 8;
  const auto reference = lanczos(space, op, start, other);
  REQUIRE(reference.converged());
  CHECK(5 * rough.applications < reference.applications);
}

TEST_CASE("davidson: limits, cancellation, bad input and NaN are named") {
  const int n = 80, width = 2;
  const Matrix a = with_spectrum(spread(n), 1);
  Space space(n, width);
  Op op(a), inverse(rough_inverse(a, 0.5, 2));
  const auto start = [&] { return random_blocks(n, width, 3, 300); };
  DavidsonOptions options;
  options.count = 3;
  options.max_applications = 30;
  CHECK(davidson(space, op, inverse, start(), options).reason == Reason::iteration_limit);
  options = {};
  options.count = 3;
  options.progress = [](int, int) { return false; };
  CHECK(davidson(space, op, inverse, start(), options).reason == Reason::cancelled);
  options.progress = {};
  CHECK_THROWS_AS(davidson(space, op, inverse, {}, options), halocline::core::InvalidArgument);
  options.basis = 4;
  CHECK_THROWS_AS(davidson(space, op, inverse, start(), options), halocline::core::InvalidArgument);
  options = {};
  options.count = 0;
  CHECK_THROWS_AS(davidson(space, op, inverse, start(), options), halocline::core::InvalidArgument);
  options.count = 20;  // more than the start vectors span: the basis grows
  CHECK(davidson(space, op, inverse, start(), options).converged());
  Space small(4, width);
  Op four(with_spectrum(Eigen::VectorXd::LinSpaced(4, 1.0, 4.0), 1));
  options.count = 5;
  CHECK(davidson(small, four, four, random_blocks(4, width, 2, 300), options).reason == Reason::breakdown);
  options.count = 2;
  Matrix broken = a;
  broken(2, 2) = std::nan("");
  Op bad(broken);
  CHECK(davidson(space, bad, inverse, start(), options).reason == Reason::not_finite);
  CHECK(davidson(space, op, bad, start(), options).reason == Reason::not_finite);
  Failing failing;  // as when another process has ended
  CHECK_THROWS_WITH_AS(davidson(space, failing, inverse, start(), options), "no answer", halocline::core::Error);
}

TEST_CASE("davidson: blocks of start vectors that depend on each other count once") {
  const int n = 80, width = 4;
  const Matrix a = with_spectrum(spread(n), 1);
  Space space(n, width);
  Op op(a), inverse(rough_inverse(a, 0.5, 2));
  Matrix first = random_matrix(n, width, 301);
  first.col(2).setZero();
  first.col(3) = first.col(1);
  std::vector<DenseVector<double>> start{from_eigen<double>(first), from_eigen<double>(first),
                                         from_eigen<double>(random_matrix(n, width, 400))};
  DavidsonOptions options;
  options.count = 3;
  const auto result = davidson(space, op, inverse, std::move(start), options);
  REQUIRE(result.converged());
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(result.values[i] - lowest(spread(n), 3)[i]) < 1e-9);
}
