// SPDX-License-Identifier: Apache-2.0
// The small matrices of the Krylov methods, against Eigen.

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/detail/small_matrix.hpp"

#include <doctest/doctest.h>

using namespace halocline::solve;
using namespace halocline::solve::test;
using halocline::solve::detail::Cholesky;
using halocline::solve::detail::SmallMatrix;

namespace {
SmallMatrix small(const Matrix& m) {
  SmallMatrix out(static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols()));
  for (int j = 0; j < m.cols(); ++j)
    for (int i = 0; i < m.rows(); ++i) out(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = m(i, j);
  return out;
}
Matrix large(const SmallMatrix& m) {
  return Eigen::Map<const Matrix>(m.data().data(), static_cast<Eigen::Index>(m.rows()),
                                  static_cast<Eigen::Index>(m.columns()));
}
constexpr double rounding = 1e-13;  // a few hundred epsilon, for sums of some ten terms
}  // namespace

TEST_CASE("small matrices: products, sums and corners") {
  const Matrix a = random_matrix(4, 3, 1), b = random_matrix(3, 5, 2), c = random_matrix(4, 5, 3);
  CHECK((large(detail::product(small(a), small(b))) - a * b).norm() < rounding);
  CHECK((large(detail::adjoint_product(small(a), small(c))) - a.adjoint() * c).norm() < rounding);
  CHECK((large(detail::sum(small(a), small(a), -0.5)) - 0.5 * a).norm() < rounding);
  CHECK(large(small(c).corner(2, 3)) == c.topLeftCorner(2, 3));
  SmallMatrix broken = small(a);
  CHECK(broken.finite());
  broken(1, 1) = std::nan("");
  CHECK(!broken.finite());
  CHECK(detail::product(SmallMatrix(2, 0), SmallMatrix(0, 3)).finite());
}

TEST_CASE("cholesky: solves with every corner, and stops at the first bad pivot") {
  const int n = 6;
  const Matrix g = positive_matrix(n, 50.0, 4);
  const Cholesky factors(small(g), 1e-14);
  REQUIRE(factors.size() == n);
  for (int k = 1; k <= n; ++k) {
    const Matrix f = random_matrix(k, 1, 7);
    const std::vector<Scalar> x = factors.solve({f.data(), f.data() + k});
    CHECK((g.topLeftCorner(k, k) * Eigen::Map<const Column>(x.data(), k) - f).norm() < rounding * f.norm() * 100);
  }
  Matrix singular = g;
  singular.col(3) = singular.col(1);
  singular.row(3) = singular.row(1);
  singular(3, 3) = singular(1, 1);
  CHECK(Cholesky(small(singular), 1e-14).size() == 3);
  CHECK(Cholesky(small(Matrix(-g)), 1e-14).size() == 0);
}

TEST_CASE("inverse and eigenvalues: those of Eigen; of a singular matrix the pseudo-inverse; NaN is refused") {
  const int n = 5;
  const Matrix a = disc_matrix(n, 0.7, 2), b = random_matrix(n, n, 3);
  const auto inverse = detail::inverse(n, small(a).data());
  CHECK((Eigen::Map<const Matrix>(inverse.data(), n, n) * a - Matrix::Identity(n, n)).norm() < rounding * 10);
  Matrix singular = with_spectrum(Eigen::VectorXd::LinSpaced(n, 0.0, 4.0), 5);
  const auto pseudo = detail::inverse(n, small(singular).data());
  const Matrix p = Eigen::Map<const Matrix>(pseudo.data(), n, n);
  CHECK((singular * p * singular - singular).norm() < 100 * rounding);
  CHECK((p * singular * p - p).norm() < 100 * rounding);
  CHECK(detail::inverse(0, {}).empty());

  const auto found = detail::eigenvalues(small(a), small(b));
  Eigen::VectorXcd expected = Matrix(a.inverse() * b).eigenvalues();
  REQUIRE(found.size() == n);
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) CHECK(std::abs(found[i]) <= std::abs(found[i - 1]));
    CHECK((expected.array() - found[i]).abs().minCoeff() < 1e-11);
  }
  singular(2, 2) = std::nan("");
  CHECK_THROWS_AS(detail::inverse(n, small(singular).data()), halocline::core::Error);
  CHECK_THROWS_AS(detail::eigenvalues(small(a), small(singular)), halocline::core::Error);
}

TEST_CASE("orthonormalise: a unit vector against others, unless it lies in their span") {
  std::vector<std::vector<Scalar>> basis{{1.0, 0.0, 0.0}, {0.0, {0.6, 0.0}, {0.0, 0.8}}};
  std::vector<Scalar> v{0.0, 1.0, 0.0}, inside{0.0, {0.6, 0.0}, {0.0, 0.8}};
  CHECK(detail::orthonormalise(basis, v));
  for (const auto& u : basis) {
    Scalar dot = 0.0;
    for (std::size_t i = 0; i < 3; ++i) dot += std::conj(u[i]) * v[i];
    CHECK(std::abs(dot) < 1e-15);
  }
  CHECK(std::norm(v[0]) + std::norm(v[1]) + std::norm(v[2]) == doctest::Approx(1.0));
  CHECK(!detail::orthonormalise(basis, inside));
}
