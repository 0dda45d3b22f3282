// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// SU(3) matrices in eight reals, and back.
///
/// A unit vector x of R^n is stored as its stereographic projection y from a pole q. The pole is that one of +e_0 and
/// -e_0 for which x.q <= 0. Then y_i = x_i / (1 - x.q), and |y| <= 1. The way back is x.q = 1 - 2t and x_i = 2t y_i,
/// with t = 1 / (1 + |y|^2) in [1/2, 1].
///
/// Row 0 of the matrix, u, is such a vector of R^6: five reals and the sign s of its pole p = s e_0. With w = p - u the
/// complex reflection H = 1 - w w^dagger / (w^dagger p) is unitary and carries p to u. The real part of
/// w^dagger p = 1 - s conj(u_0) is at least one. So H e_1 and H e_2 are an orthonormal frame of the vectors orthogonal
/// to u, smooth over each half of the sphere. Row 1 is a H e_1 + b H e_2 with (a, b) in S^3: three reals and a sign.
/// Row 2 is conj(row 0 x row 1).
///
/// With Y_k = u_k / 2t, y_0 = Im u_0 / 2t and 1 - s u_0 = 2t (1 - i s y_0), the frame needs no cancelling differences:
///   h = 2t (1 - i s y_0) (a conj(Y_1) + b conj(Y_2)) / (1 + y_0^2),
///   row 1 = ((s - i y_0) h, a - Y_1 h, b - Y_2 h).

#include "halocline/core/complex.hpp"
#include "halocline/qcd/device/fixed_point.cuh"
#include "halocline/qcd/field/su3.hpp"

namespace halocline::qcd::device::detail {

/// @param y  eight reals
/// @param negative0, negative1  whether the pole of row 0, and of row 1, is -e_0
/// Flops: 118, a reciprocal counted as one.
template <class Real>
HALOCLINE_INLINE Su3<Real> decode_eight(const Real (&y)[8], bool negative0, bool negative1) {
  const Real one(1);
  const Real s = negative0 ? Real(-1) : one;
  const Complex<Real> y1{y[1], y[2]}, y2{y[3], y[4]};
  const Real square = y[0] * y[0];
  const Real t2 = Real(2) * reciprocal(one + square + core::norm(y1) + core::norm(y2));
  Su3<Real> m;
  m.e[0][0] = {negative0 ? t2 - one : one - t2, t2 * y[0]};
  m.e[0][1] = t2 * y1;
  m.e[0][2] = t2 * y2;

  const Real r2 = Real(2) * reciprocal(one + y[5] * y[5] + y[6] * y[6] + y[7] * y[7]);
  const Complex<Real> a{negative1 ? r2 - one : one - r2, r2 * y[5]};
  const Complex<Real> b{r2 * y[6], r2 * y[7]};
  Complex<Real> g = core::conj_times(y1, a);
  core::conj_multiply_add(g, y2, b);
  const Real sy = s * y[0];
  const Real c = t2 * reciprocal(one + square);
  const Complex<Real> h = c * Complex<Real>{g.re + sy * g.im, g.im - sy * g.re};
  m.e[1][0] = {s * h.re + core::rounded_product(y[0], h.im), s * h.im - core::rounded_product(y[0], h.re)};
  m.e[1][1] = a - y1 * h;
  m.e[1][2] = b - y2 * h;
  reconstruct_third_row(m);
  return m;
}

/// Components (a, b) of row 1 in the frame H e_1, H e_2 that belongs to the row 0 decoded from y.
HALOCLINE_HOST_DEVICE inline void frame_components(const double (&y)[8], bool negative0, const Complex<double>* row,
                                                   Complex<double>& a, Complex<double>& b) {
  const double s = negative0 ? -1 : 1;
  const Complex<double> y1{y[1], y[2]}, y2{y[3], y[4]};
  const double square = y[0] * y[0];
  const double t2 = 2 / (1 + square + core::norm(y1) + core::norm(y2));
  // Column k of H is ((s - i y0) z conj(Y_k), delta_1k - Y_1 z conj(Y_k), delta_2k - Y_2 z conj(Y_k)), so that
  // <H e_k, row> = row_k + Y_k along.
  const Complex<double> z{t2 / (1 + square), -s * y[0] * t2 / (1 + square)};
  const Complex<double> first{s, -y[0]};
  const Complex<double> along =
      core::conj_times(first * z, row[0]) - core::conj_times(y1 * z, row[1]) - core::conj_times(y2 * z, row[2]);
  a = row[1] + y1 * along;
  b = row[2] + y2 * along;
}

}  // namespace halocline::qcd::device::detail
