// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// 3x3 complex matrices and colour vectors over any number type (a double, a pack of sites, a GPU scalar).

#include "halocline/core/complex.hpp"

namespace halocline::qcd {

using core::Complex;

template <class Real>
struct ColourVector {
  Complex<Real> c[3];
};

/// A 3x3 complex matrix, row-major; a gauge link when it is unitary with determinant one.
template <class Real>
struct Su3 {
  Complex<Real> e[3][3];

  static HALOCLINE_INLINE Su3 zero() { return diagonal(Real(0)); }
  static HALOCLINE_INLINE Su3 unit() { return diagonal(Real(1)); }
  static HALOCLINE_INLINE Su3 diagonal(Real value) {
    Su3 m;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) m.e[i][j] = {i == j ? value : Real(0), Real(0)};
    return m;
  }

  HALOCLINE_INLINE Su3& operator+=(const Su3& b) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) e[i][j] += b.e[i][j];
    return *this;
  }
  HALOCLINE_INLINE Su3& operator-=(const Su3& b) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) e[i][j] -= b.e[i][j];
    return *this;
  }
};

template <class Real>
HALOCLINE_INLINE Su3<Real> operator+(Su3<Real> a, const Su3<Real>& b) {
  return a += b;
}
template <class Real>
HALOCLINE_INLINE Su3<Real> operator-(Su3<Real> a, const Su3<Real>& b) {
  return a -= b;
}
template <class Real>
HALOCLINE_INLINE Su3<Real> operator*(const Real& s, const Su3<Real>& a) {
  Su3<Real> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m.e[i][j] = s * a.e[i][j];
  return m;
}
template <class Real>
HALOCLINE_INLINE Su3<Real> operator*(const Complex<Real>& s, const Su3<Real>& a) {
  Su3<Real> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m.e[i][j] = s * a.e[i][j];
  return m;
}

/// a b, 198 flops a site.
template <class Real>
HALOCLINE_INLINE Su3<Real> operator*(const Su3<Real>& a, const Su3<Real>& b) {
  Su3<Real> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      Complex<Real> sum = a.e[i][0] * b.e[0][j];
      core::multiply_add(sum, a.e[i][1], b.e[1][j]);
      core::multiply_add(sum, a.e[i][2], b.e[2][j]);
      m.e[i][j] = sum;
    }
  return m;
}
/// a^dagger b
template <class Real>
HALOCLINE_INLINE Su3<Real> adjoint_times(const Su3<Real>& a, const Su3<Real>& b) {
  Su3<Real> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      Complex<Real> sum = core::conj_times(a.e[0][i], b.e[0][j]);
      core::conj_multiply_add(sum, a.e[1][i], b.e[1][j]);
      core::conj_multiply_add(sum, a.e[2][i], b.e[2][j]);
      m.e[i][j] = sum;
    }
  return m;
}
/// a b^dagger
template <class Real>
HALOCLINE_INLINE Su3<Real> times_adjoint(const Su3<Real>& a, const Su3<Real>& b) {
  Su3<Real> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      Complex<Real> sum = core::conj_times(b.e[j][0], a.e[i][0]);
      core::conj_multiply_add(sum, b.e[j][1], a.e[i][1]);
      core::conj_multiply_add(sum, b.e[j][2], a.e[i][2]);
      m.e[i][j] = sum;
    }
  return m;
}
template <class Real>
HALOCLINE_INLINE Su3<Real> adjoint(const Su3<Real>& a) {
  Su3<Real> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m.e[i][j] = core::conj(a.e[j][i]);
  return m;
}
/// U v, 66 flops a site.
template <class Real>
HALOCLINE_INLINE ColourVector<Real> operator*(const Su3<Real>& u, const ColourVector<Real>& v) {
  ColourVector<Real> out;
  for (int i = 0; i < 3; ++i) {
    Complex<Real> sum = u.e[i][0] * v.c[0];
    core::multiply_add(sum, u.e[i][1], v.c[1]);
    core::multiply_add(sum, u.e[i][2], v.c[2]);
    out.c[i] = sum;
  }
  return out;
}
/// U^dagger v, 66 flops a site.
template <class Real>
HALOCLINE_INLINE ColourVector<Real> adjoint_times(const Su3<Real>& u, const ColourVector<Real>& v) {
  ColourVector<Real> out;
  for (int i = 0; i < 3; ++i) {
    Complex<Real> sum = core::conj_times(u.e[0][i], v.c[0]);
    core::conj_multiply_add(sum, u.e[1][i], v.c[1]);
    core::conj_multiply_add(sum, u.e[2][i], v.c[2]);
    out.c[i] = sum;
  }
  return out;
}
template <class Real>
HALOCLINE_INLINE Complex<Real> trace(const Su3<Real>& a) {
  return a.e[0][0] + a.e[1][1] + a.e[2][2];
}
/// Re tr(a b^dagger), 36 flops.
template <class Real>
HALOCLINE_INLINE Real real_trace_times_adjoint(const Su3<Real>& a, const Su3<Real>& b) {
  Real sum = Real(0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      sum += a.e[i][j].re * b.e[i][j].re;
      sum += a.e[i][j].im * b.e[i][j].im;
    }
  return sum;
}
/// The third row that makes the first two into an SU(3) matrix: conj(row0 x row1).
template <class Real>
HALOCLINE_INLINE void reconstruct_third_row(Su3<Real>& u) {
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3;
    const int l = (j + 2) % 3;
    u.e[2][j] = core::conj(u.e[0][k] * u.e[1][l] - u.e[0][l] * u.e[1][k]);
  }
}
template <class Real>
HALOCLINE_INLINE Complex<Real> determinant(const Su3<Real>& a) {
  return a.e[0][0] * (a.e[1][1] * a.e[2][2] - a.e[1][2] * a.e[2][1]) +
         a.e[0][1] * (a.e[1][2] * a.e[2][0] - a.e[1][0] * a.e[2][2]) +
         a.e[0][2] * (a.e[1][0] * a.e[2][1] - a.e[1][1] * a.e[2][0]);
}

}  // namespace halocline::qcd
