// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/gauge/detail/nearest_unitary.hpp"

// g++ 12 sees uninitialised registers in its own AVX-512 intrinsics when Eigen inlines them (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <Eigen/SVD>

namespace halocline::qcd::gauge::detail {

bool nearest_unitary(Su3<double>& v) {
  Eigen::Matrix3cd m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = {v.e[i][j].re, v.e[i][j].im};
  if (!m.allFinite()) return false;
  const Eigen::JacobiSVD<Eigen::Matrix3cd> svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  if (!(svd.singularValues()(2) > 1e-12 * svd.singularValues()(0))) return false;
  const Eigen::Matrix3cd w = svd.matrixU() * svd.matrixV().adjoint();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) v.e[i][j] = {w(i, j).real(), w(i, j).imag()};
  return true;
}

}  // namespace halocline::qcd::gauge::detail
