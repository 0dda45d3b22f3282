// SPDX-License-Identifier: Apache-2.0
/// @file
/// Uses Eigen. Eigen shares a product among threads only outside of parallel regions, and then in blocks whose size
/// follows from their number; so all of its work is inside of one.

#include "halocline/solve/inverse_rows.hpp"

// g++ 12 sees uninitialised registers in its own AVX-512 intrinsics when Eigen inlines them (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <Eigen/LU>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "halocline/core/error.hpp"

namespace halocline::solve {

InverseRows inverse_rows(std::int64_t n, std::span<const std::complex<double>> matrix, std::int64_t first,
                         std::int64_t count) {
  if (n < 1 || static_cast<std::int64_t>(matrix.size()) != n * n || first < 0 || count < 0 || first + count > n)
    throw core::InvalidArgument(
        fmt::format("rows {} to {} of the inverse of a matrix of {} rows and {} entries were asked for; give n * n "
                    "entries, and rows from 0 to n - 1",
                    first, first + count - 1, n, matrix.size()));
  /// Rows that are solved for together.
  constexpr std::int64_t group = 32;
  // In the order of Eigen this is the transpose, and row i of the inverse is the solution for unit vector i.
  const Eigen::Map<const Eigen::MatrixXcd> transpose(matrix.data(), n, n);
  InverseRows out{std::vector<std::complex<double>>(static_cast<std::size_t>(count * n)), 0};
  Eigen::PartialPivLU<Eigen::MatrixXcd> lu(n);
  bool good = false;
#pragma omp parallel
  {
#pragma omp single
    {
      good = transpose.allFinite();
      if (good) {
        lu.compute(transpose);
        const auto pivots = lu.matrixLU().diagonal().cwiseAbs();
        const double ratio = pivots.minCoeff() / pivots.maxCoeff();
        good = std::isfinite(ratio) && ratio > 0;
        out.pivot = good ? ratio : 0.0;
      }
    }
#pragma omp for schedule(dynamic)
    for (std::int64_t begin = 0; begin < count; begin += group) {
      if (!good) continue;
      const std::int64_t some = std::min(group, count - begin);
      Eigen::MatrixXcd x = Eigen::MatrixXcd::Zero(n, some);
      for (std::int64_t i = 0; i < some; ++i) x(first + begin + i, i) = 1.0;
      x = lu.solve(x).eval();
      std::copy_n(x.data(), n * some, out.rows.data() + begin * n);
    }
  }
  return out;
}

}  // namespace halocline::solve
