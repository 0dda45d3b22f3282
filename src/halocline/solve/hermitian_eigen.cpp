// SPDX-License-Identifier: Apache-2.0
/// @file
/// Uses Eigen, in this file only, so that no header includes it.

#include "halocline/solve/hermitian_eigen.hpp"

// g++ 12 sees uninitialised registers in its own AVX-512 intrinsics when Eigen inlines them (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <Eigen/Eigenvalues>

#include "halocline/core/error.hpp"

namespace halocline::solve {

HermitianEigen hermitian_eigen(std::size_t n, std::span<const std::complex<double>> matrix) {
  const auto size = static_cast<Eigen::Index>(n);
  const Eigen::Map<const Eigen::MatrixXcd> a(matrix.data(), size, size);
  if (!a.allFinite())
    throw core::NotFinite("hermitian_eigen: a matrix with NaN or infinity given, finite entries expected");
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> solver(a);
  if (solver.info() != Eigen::Success) throw core::Error("hermitian_eigen: the QR iteration did not converge");
  HermitianEigen out;
  out.values.assign(solver.eigenvalues().data(), solver.eigenvalues().data() + size);
  out.vectors.assign(solver.eigenvectors().data(), solver.eigenvectors().data() + size * size);
  return out;
}

}  // namespace halocline::solve
