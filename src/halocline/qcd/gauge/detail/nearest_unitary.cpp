// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/gauge/detail/nearest_unitary.hpp"

// GCC 12 sees uninitialised numbers in Eigen's packs.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

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
