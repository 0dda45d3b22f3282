// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/ground_state/dense.hpp"

#include "tddft/ground_state/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

namespace halocline::tddft {

using namespace tests;

TEST_CASE("dense: generalised eigenpairs solve their equation and are orthonormal in S") {
  const int n = 24;
  const Matrix h = hermitian(n, 1), a = random_matrix(3 * n, n, 2);
  const Matrix s = inner(a, a);
  const Eigenpairs pairs = generalised_eigenpairs(h, s, n);
  REQUIRE(pairs.found);
  const auto [equation, unit] = defects(h, s, pairs);
  CHECK(equation < 1e-11);  // n^2 epsilon and the condition of S, some hundreds
  CHECK(unit < 1e-11);
  CHECK(std::is_sorted(pairs.values.begin(), pairs.values.end()));
  const Eigenpairs few = generalised_eigenpairs(h, s, 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(few.values[i] == doctest::Approx(pairs.values[i]).epsilon(1e-12));
}

TEST_CASE("dense: directions that the basis has twice are left out") {
  // Of 8 vectors of a space of 12 dimensions, two are combinations of others and one is zero.
  const int n = 8, dimension = 12;
  const Matrix h = hermitian(dimension, 3);
  Matrix basis = random_matrix(dimension, n, 4);
  for (int i = 0; i < dimension; ++i) {
    basis(i, 5) = 2.0 * basis(i, 0) - basis(i, 1);
    basis(i, 6) = Complex(0, 1e-6) * basis(i, 2);
    basis(i, 7) = 0;
  }
  const Matrix independent = basis.part(0, 0, dimension, 5);
  const Eigenpairs expected =
      generalised_eigenpairs(inner(independent, inner(h, independent)), inner(independent, independent), 5);
  const Matrix s = inner(basis, basis), projected = inner(basis, inner(h, basis));
  const Eigenpairs pairs = generalised_eigenpairs(projected, s, 5);
  REQUIRE(expected.found);
  REQUIRE(pairs.found);
  for (std::size_t i = 0; i < 5; ++i) CHECK(pairs.values[i] == doctest::Approx(expected.values[i]).epsilon(1e-9));
  CHECK(defects(projected, s, pairs).second < 1e-9);
  CHECK_FALSE(generalised_eigenpairs(projected, s, 6).found);
}

TEST_CASE("dense: what is not finite has no eigenpairs") {
  Matrix h = hermitian(4, 5), s = hermitian(4, 6);
  for (int i = 0; i < 4; ++i) s(i, i) += 20.0;
  h(2, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(eigenpairs(h).found);
  CHECK_FALSE(generalised_eigenpairs(h, s, 2).found);
  CHECK_FALSE(generalised_eigenpairs(s, h, 2).found);
}

TEST_CASE("dense: least squares does without directions that hold nothing") {
  // x + y is known and x - y is not: the shortest solution is taken.
  const std::vector<double> x = least_squares({2, 2, 2, 2}, {6, 6}, 1e-12);
  REQUIRE(x.size() == 2);
  CHECK(x[0] == doctest::Approx(1.5));
  CHECK(x[1] == doctest::Approx(1.5));
  CHECK(least_squares({}, {}, 1e-12).empty());
}

}  // namespace halocline::tddft
