// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Matrices for tests of dense eigenvalue problems, and how well pairs solve theirs.

#include "halocline/tddft/ground_state/dense.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace halocline::tddft::tests {

using Complex = std::complex<double>;

inline Matrix random_matrix(int rows, int columns, std::uint32_t seed) {
  std::mt19937 generator(seed);
  const auto number = [&] { return static_cast<double>(generator()) / 2147483648.0 - 1.0; };
  Matrix a(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) a(i, j) = Complex(number(), number());
  return a;
}

/// a^H b, by the definition.
inline Matrix inner(const Matrix& a, const Matrix& b) {
  Matrix out(a.columns(), b.columns());
  for (int i = 0; i < a.columns(); ++i)
    for (int j = 0; j < b.columns(); ++j)
      for (int k = 0; k < a.rows(); ++k) out(i, j) += std::conj(a(k, i)) * b(k, j);
  return out;
}

inline Matrix hermitian(int n, std::uint32_t seed) {
  const Matrix a = random_matrix(n, n, seed);
  Matrix out(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) out(i, j) = a(i, j) + std::conj(a(j, i));
  return out;
}

/// Largest element of H c - S c e, and of c^H S c - 1.
inline std::pair<double, double> defects(const Matrix& h, const Matrix& s, const Eigenpairs& pairs) {
  const int n = h.rows(), wanted = pairs.vectors.columns();
  const Matrix sc = inner(s, pairs.vectors), hc = inner(h, pairs.vectors), norm = inner(pairs.vectors, sc);
  double equation = 0, unit = 0;
  for (int j = 0; j < wanted; ++j) {
    for (int i = 0; i < n; ++i)
      equation = std::max(equation, std::abs(hc(i, j) - pairs.values[static_cast<std::size_t>(j)] * sc(i, j)));
    for (int i = 0; i < wanted; ++i) unit = std::max(unit, std::abs(norm(i, j) - (i == j ? 1.0 : 0.0)));
  }
  return {equation, unit};
}

}  // namespace halocline::tddft::tests
