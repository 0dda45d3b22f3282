// SPDX-License-Identifier: Apache-2.0
// The low spectrum: both signs, multiplicities, accuracy, against spectra that are known by construction.

#include "dense_space.hpp"
#include "halocline/solve/lanczos.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
using Space = DenseSpace<double>;
using Op = DenseOperator<double>;

const auto random_start = [](DenseVector<double>& v, int draw) {
  v = from_eigen<double>(random_matrix(static_cast<int>(v.data.size()), 1, 1000u + static_cast<unsigned>(draw)));
};

std::vector<double> lowest(const Eigen::VectorXd& values, int count) {
  std::vector<double> sorted(values.data(), values.data() + values.size());
  std::stable_sort(sorted.begin(), sorted.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  sorted.resize(static_cast<std::size_t>(count));
  return sorted;
}

/// Runs and checks values (as multisets of moduli, and signs where they are decided), residuals and orthonormality.
EigenResult<DenseVector<double>> check(const Eigen::VectorXd& values, const EigenOptions& options, bool signs = true) {
  const int n = static_cast<int>(values.size());
  const Matrix a = with_spectrum(values, 77);
  Space space(n);
  Op op(a);
  auto result = lanczos(space, op, random_start, options);
  REQUIRE(result.converged());
  REQUIRE(result.values.size() == static_cast<std::size_t>(options.count));
  CHECK(result.applications == op.applications);
  const std::vector<double> expected = lowest(values, options.count);
  const double norm = values.cwiseAbs().maxCoeff();
  Matrix v(n, options.count);
  for (int i = 0; i < options.count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    CHECK(std::abs(std::abs(result.values[k]) - std::abs(expected[k])) < 1e-11 * norm);
    if (signs) CHECK(std::abs(result.values[k] - expected[k]) < 1e-11 * norm);
    v.col(i) = to_eigen(result.vectors[k], n);
    CHECK(result.residuals[k] <= 2.0 * options.tolerance * result.norm);
    CHECK((a * v.col(i) - result.values[k] * v.col(i)).norm() == doctest::Approx(result.residuals[k]).epsilon(0.2));
  }
  CHECK((product(v.adjoint(), v) - Matrix::Identity(options.count, options.count)).norm() < 1e-10);
  CHECK(result.norm >= norm * (1 - 1e-6));
  CHECK(result.norm <= 1.2 * norm);
  return result;
}
}  // namespace

TEST_CASE("lanczos: the smallest moduli of both signs") {
  Eigen::VectorXd values(200);
  for (int i = 0; i < 200; ++i) values[i] = (i % 2 ? -1.0 : 1.0) * (0.05 + 0.04 * i);
  EigenOptions options;
  options.count = 10;
  check(values, options);
}

TEST_CASE("lanczos: pairs of opposite sign, cut in the middle of a pair") {
  Eigen::VectorXd values(150);
  for (int i = 0; i < 75; ++i) {
    values[2 * i] = 0.1 + 0.1 * i;
    values[2 * i + 1] = -values[2 * i];
  }
  for (const int count : {6, 7}) {
    EigenOptions options;
    options.count = count;
    const auto result = check(values, options, false);
    CHECK(result.values[0] * result.values[1] < 0.0);
    CHECK(result.values[2] * result.values[3] < 0.0);
  }
}

TEST_CASE("lanczos: degenerate eigenvalues as often as they occur") {
  Eigen::VectorXd values(160);
  for (int i = 0; i < 160; ++i) values[i] = (i % 3 ? 1.0 : -1.0) * (2.0 + 0.03 * i);
  for (int i = 0; i < 4; ++i) values[i] = 0.3;
  for (int i = 4; i < 7; ++i) values[i] = -0.3;
  for (int i = 7; i < 9; ++i) values[i] = 0.7;
  values[9] = 0.700000001;  // nearly
  EigenOptions options;
  options.count = 10;
  const auto result = check(values, options, false);
  CHECK(std::count_if(result.values.begin(), result.values.end(), [](double v) { return v < 0.0; }) == 3);
}

TEST_CASE("lanczos: tiny and zero eigenvalues beside large ones") {
  Eigen::VectorXd values(120);
  for (int i = 0; i < 120; ++i) values[i] = (i % 2 ? -1.0 : 1.0) * (0.5 + 0.06 * i);
  values[0] = 0.0;
  values[1] = 1e-6;
  values[2] = -3e-4;
  values[3] = 0.01;
  EigenOptions options;
  options.count = 5;
  options.tolerance = 1e-12;
  check(values, options);
}

TEST_CASE("lanczos: count and space of comparable size, and spectra with nothing to damp") {
  Eigen::VectorXd values(20);
  for (int i = 0; i < 20; ++i) values[i] = (i % 2 ? -1.0 : 1.0) * (1.0 + 0.01 * i);
  EigenOptions options;
  options.count = 20;
  check(values, options);
  options.count = 4;
  check(values, options);
  check(Eigen::VectorXd::Ones(12), options);
  check(-3.0 * Eigen::VectorXd::Ones(12), options);
}

TEST_CASE("lanczos: the filter saves applications, and changes nothing else") {
  Eigen::VectorXd values(300);
  for (int i = 0; i < 300; ++i) values[i] = (i % 2 ? -1.0 : 1.0) * (0.02 + 0.03 * i);
  EigenOptions options;
  options.count = 6;
  const int filtered_cycles = check(values, options).applications / (2 * options.chebyshev_degree);
  options.chebyshev_degree = 1;
  const int plain_cycles = check(values, options).applications / 2;
  CHECK(filtered_cycles * 4 < plain_cycles);  // fewer Lanczos vectors, which cost orthogonalisation
}

TEST_CASE("lanczos: limits, cancellation, bad input and NaN are named") {
  const int n = 80;
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = 0.01 + 0.1 * i;
  Space space(n);
  Op op(with_spectrum(values, 1));
  EigenOptions options;
  options.count = 3;
  options.max_applications = 100;
  options.basis = 6;
  options.chebyshev_degree = 2;
  CHECK(lanczos(space, op, random_start, options).reason == Reason::iteration_limit);
  options = {};
  options.progress = [](int, int) { return false; };
  CHECK(lanczos(space, op, random_start, options).reason == Reason::cancelled);
  options = {};
  options.count = 0;
  CHECK_THROWS_AS(lanczos(space, op, random_start, options), halocline::core::InvalidArgument);
  options.count = 5;
  options.basis = 6;
  CHECK_THROWS_AS(lanczos(space, op, random_start, options), halocline::core::InvalidArgument);
  Space wide(n, 2);
  CHECK_THROWS_AS(lanczos(wide, op, random_start), halocline::core::InvalidArgument);
  Matrix broken = Matrix::Identity(n, n);
  broken(2, 2) = std::nan("");
  Op bad(broken);
  CHECK(lanczos(space, bad, random_start).reason == Reason::not_finite);
  Failing failing;  // as when another process has ended
  CHECK_THROWS_WITH_AS(lanczos(space, failing, random_start), "no answer", halocline::core::Error);
  Space small(4);
  Op four(with_spectrum(Eigen::VectorXd::LinSpaced(4, 1.0, 4.0), 1));
  const auto few = lanczos(small, four, random_start);
  CHECK(few.reason == Reason::breakdown);
  CHECK(few.values.size() == 4);
}

TEST_CASE("lanczos: single precision finds what single precision can") {
  const int n = 100;
  Eigen::VectorXd values(n);
  for (int i = 0; i < n; ++i) values[i] = (i % 2 ? -1.0 : 1.0) * (0.2 + 0.1 * i);
  DenseSpace<float> space(n);
  DenseOperator<float> op(with_spectrum(values, 1));
  const auto start = [](DenseVector<float>& v, int draw) {
    v = from_eigen<float>(random_matrix(n, 1, 1000u + static_cast<unsigned>(draw)));
  };
  EigenOptions options;
  options.count = 4;
  options.tolerance = 1e-5;
  const auto result = lanczos(space, op, start, options);
  REQUIRE(result.converged());
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(result.values[i] - lowest(values, 4)[i]) < 1e-5);
}
