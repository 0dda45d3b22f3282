// SPDX-License-Identifier: Apache-2.0
/// @file
/// Uses Eigen, so that no header includes it.

#include "halocline/solve/detail/small_matrix.hpp"

// g++ 12 sees uninitialised registers in its own AVX-512 intrinsics when Eigen inlines them (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <Eigen/QR>

#include "halocline/core/error.hpp"

namespace halocline::solve::detail {

namespace {
using Map = Eigen::Map<const Eigen::MatrixXcd>;

Map finite(std::size_t rows, std::size_t columns, std::span<const std::complex<double>> matrix, const char* who) {
  const Map map(matrix.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  if (!map.allFinite())
    throw core::Error(std::string(who) + ": a matrix with NaN or infinity given, finite entries expected");
  return map;
}
}  // namespace

std::vector<std::complex<double>> inverse(std::size_t n, std::span<const std::complex<double>> matrix) {
  if (n == 0) return {};
  const Eigen::MatrixXcd out =
      Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXcd>(finite(n, n, matrix, "inverse")).pseudoInverse();
  return {out.data(), out.data() + out.size()};
}

}  // namespace halocline::solve::detail
