// SPDX-License-Identifier: Apache-2.0
// Rows of the inverse of a dense matrix.

#include "dense_space.hpp"
#include "halocline/core/error.hpp"
#include "halocline/solve/inverse_rows.hpp"

#include <doctest/doctest.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
std::vector<std::complex<double>> row_major(const Matrix& m) {
  std::vector<std::complex<double>> out;
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < m.cols(); ++j) out.push_back(m(i, j));
  return out;
}
}  // namespace

TEST_CASE("inverse rows: rows times the matrix are rows of one") {
  const int n = 150, first = 70, count = 75;
  const Matrix a = random_matrix(n, n, 3);
  const auto inverse = inverse_rows(n, row_major(a), first, count);
  REQUIRE(inverse.rows.size() == static_cast<std::size_t>(n * count));
  CHECK(inverse.pivot > 0);
  double worst = 0;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < n; ++j) {
      std::complex<double> sum = first + i == j ? -1.0 : 0.0;
      for (int k = 0; k < n; ++k) sum += inverse.rows[static_cast<std::size_t>(i * n + k)] * a(k, j);
      worst = std::max(worst, std::abs(sum));
    }
  CHECK(worst < 1e-10);  // epsilon times the condition, some 1e4 for random matrices of this size
}

TEST_CASE("inverse rows: the same bits for any number of threads and any division of the rows") {
  const int n = 96;
  const auto a = row_major(random_matrix(n, n, 5));
  const auto all = inverse_rows(n, a, 0, n).rows;
  auto parts = inverse_rows(n, a, 0, 32).rows;
  const auto rest = inverse_rows(n, a, 32, 64).rows;
  parts.insert(parts.end(), rest.begin(), rest.end());
  CHECK(parts == all);
#if defined(_OPENMP)
  const int threads = omp_get_max_threads();
  omp_set_num_threads(3);
  CHECK(inverse_rows(n, a, 0, n).rows == all);
  omp_set_num_threads(threads);
#endif
}

TEST_CASE("inverse rows: singular and infinite matrices have no pivot, and what cannot be is refused") {
  Matrix a = random_matrix(6, 6, 7);
  a.col(3).setZero();
  CHECK(inverse_rows(6, row_major(a), 0, 6).pivot == 0);
  a(2, 3) = std::nan("");
  CHECK(inverse_rows(6, row_major(a), 0, 6).pivot == 0);
  CHECK_THROWS_AS(inverse_rows(5, row_major(a), 0, 5), halocline::core::InvalidArgument);
  CHECK_THROWS_AS(inverse_rows(6, row_major(a), 3, 4), halocline::core::InvalidArgument);
}
