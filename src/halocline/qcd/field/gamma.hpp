// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Euclidean gamma matrices in the DeGrand-Rossi basis, as tables that a compiler can unroll.
///
/// Every product of gamma matrices in this basis has one non-zero entry a row, a power of i:
/// (G psi)_row = i^power[row] psi_column[row]. gamma5 = gamma_x gamma_y gamma_z gamma_t = diag(1, 1, -1, -1).
/// docs/conventions.md prints the matrices and the conversions to other bases.

#include <array>

#include "halocline/core/complex.hpp"

namespace halocline::qcd {

/// A 4x4 spin matrix with one power of i a row.
struct SpinMatrix {
  std::array<int, 4> column;
  std::array<int, 4> power;  ///< entry = i^power, power in 0..3

  friend constexpr bool operator==(const SpinMatrix&, const SpinMatrix&) = default;
};

/// a b
constexpr SpinMatrix operator*(const SpinMatrix& a, const SpinMatrix& b) {
  SpinMatrix m{};
  for (int row = 0; row < 4; ++row) {
    m.column[row] = b.column[a.column[row]];
    m.power[row] = (a.power[row] + b.power[a.column[row]]) % 4;
  }
  return m;
}
constexpr SpinMatrix adjoint(const SpinMatrix& a) {
  SpinMatrix m{};
  for (int row = 0; row < 4; ++row) {
    m.column[a.column[row]] = row;
    m.power[a.column[row]] = (4 - a.power[row]) % 4;
  }
  return m;
}
/// i^power a
constexpr SpinMatrix times_i_power(SpinMatrix a, int power) {
  for (int& p : a.power) p = (p + power) % 4;
  return a;
}

inline constexpr SpinMatrix spin_unit{{0, 1, 2, 3}, {0, 0, 0, 0}};
/// gamma_x, gamma_y, gamma_z, gamma_t
inline constexpr std::array<SpinMatrix, 4> gamma{{
    {{3, 2, 1, 0}, {1, 1, 3, 3}},
    {{3, 2, 1, 0}, {2, 0, 0, 2}},
    {{2, 3, 0, 1}, {1, 3, 3, 1}},
    {{2, 3, 0, 1}, {0, 0, 0, 0}},
}};
inline constexpr SpinMatrix gamma5 = gamma[0] * gamma[1] * gamma[2] * gamma[3];
static_assert(gamma5 == SpinMatrix{{0, 1, 2, 3}, {0, 0, 2, 2}});

/// i^power z, for a power known at compile time: no arithmetic but signs.
template <int power, class Real>
HALOCLINE_INLINE core::Complex<Real> times_i_to(const core::Complex<Real>& z) {
  if constexpr (power % 4 == 0) return z;
  if constexpr (power % 4 == 1) return {-z.im, z.re};
  if constexpr (power % 4 == 2) return {-z.re, -z.im};
  if constexpr (power % 4 == 3) return {z.im, -z.re};
}

}  // namespace halocline::qcd
