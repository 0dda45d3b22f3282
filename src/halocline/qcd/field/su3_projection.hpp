// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Maps into SU(3): Gram-Schmidt, the nearest group element, the exponential of an algebra element.
///
/// Written once over the number type: a double, or a pack of sites. The lanes of a pack converge after different
/// numbers of steps. A converged lane is frozen, so a site's result does not depend on the other sites of its pack, and
/// therefore not on the process grid.
///
/// The nearest element is found by ascent in the three SU(2) subgroups (Cabibbo and Marinari, Phys. Lett. B 119
/// (1982) 387): the SU(2) matrix that maximises Re tr(a^dagger X) is the normalised quaternion part of the 2x2 block
/// of X. The exponential reduces its Taylor polynomial with the Cayley-Hamilton theorem, A^3 = (tr A^2 / 2) A + det A,
/// to f0 + f1 A + f2 A^2, as Morningstar and Peardon (hep-lat/0311018, section III) do. The three coefficients are
/// summed by Horner's rule instead of from the eigenvalues: this needs no branch for degenerate eigenvalues and is as
/// accurate. Large arguments are halved first, and the result is squared as often.

#include <cmath>

#include "halocline/core/pack.hpp"
#include "halocline/qcd/field/su3.hpp"

namespace halocline::qcd {

namespace detail {

inline double square_root(double a) { return std::sqrt(a); }
inline float square_root(float a) { return std::sqrt(a); }
template <class T, int N>
inline core::Pack<T, N> square_root(const core::Pack<T, N>& a) {
  core::Pack<T, N> root;
  for (int lane = 0; lane < N; ++lane) root.set(lane, std::sqrt(a[lane]));
  return root;
}

HALOCLINE_INLINE double choose(bool mask, double a, double b) { return mask ? a : b; }
HALOCLINE_INLINE float choose(bool mask, float a, float b) { return mask ? a : b; }
template <class T, int N>
inline core::Pack<T, N> choose(typename core::Pack<T, N>::Mask mask, const core::Pack<T, N>& a,
                               const core::Pack<T, N>& b) {
  return core::select(mask, a, b);
}
template <class Mask, class Real>
HALOCLINE_INLINE Su3<Real> choose(const Mask& mask, const Su3<Real>& a, const Su3<Real>& b) {
  Su3<Real> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      m.e[i][j] = {choose(mask, a.e[i][j].re, b.e[i][j].re), choose(mask, a.e[i][j].im, b.e[i][j].im)};
  return m;
}

/// True if any lane of `a` exceeds the bound; a NaN does not.
template <class Real>
inline bool any_above(const Real& a, typename core::Lanes<Real>::Scalar bound) {
  typename core::Lanes<Real>::Scalar lane[core::Lanes<Real>::count];
  core::Lanes<Real>::store(lane, a);
  for (auto value : lane)
    if (value > bound) return true;
  return false;
}

}  // namespace detail

/// An unnormalised quaternion a0 + i (a1, a2, a3) . sigma, the part of a 2x2 matrix that is a real times SU(2).
template <class Real>
struct Quaternion {
  Real a0, a1, a2, a3;

  HALOCLINE_INLINE Real norm() const { return a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3; }
};

/// The three SU(2) subgroups of SU(3): rows (and columns) of each.
inline constexpr int su2_subgroup[3][2] = {{0, 1}, {0, 2}, {1, 2}};

/// Quaternion part of rows and columns i, j of `x`: q / |q| maximises Re tr(a^dagger x) over that SU(2) subgroup.
template <class Real>
HALOCLINE_INLINE Quaternion<Real> quaternion_part(const Su3<Real>& x, int i, int j) {
  return {x.e[i][i].re + x.e[j][j].re, x.e[i][j].im + x.e[j][i].im, x.e[i][j].re - x.e[j][i].re,
          x.e[i][i].im - x.e[j][j].im};
}
/// a u, `a` embedded in rows i, j of the unit matrix; 84 flops.
template <class Real>
HALOCLINE_INLINE void multiply_rows(const Quaternion<Real>& a, Su3<Real>& u, int i, int j) {
  const Complex<Real> ii{a.a0, a.a3}, ij{a.a2, a.a1}, ji{-a.a2, a.a1}, jj{a.a0, -a.a3};
  for (int k = 0; k < 3; ++k) {
    const Complex<Real> top = u.e[i][k], bottom = u.e[j][k];
    u.e[i][k] = ii * top + ij * bottom;
    u.e[j][k] = ji * top + jj * bottom;
  }
}
/// u a^dagger, `a` embedded in columns i, j of the unit matrix; 84 flops.
template <class Real>
HALOCLINE_INLINE void multiply_columns_adjoint(Su3<Real>& u, const Quaternion<Real>& a, int i, int j) {
  const Complex<Real> ii{a.a0, -a.a3}, ij{-a.a2, -a.a1}, ji{a.a2, -a.a1}, jj{a.a0, a.a3};
  for (int k = 0; k < 3; ++k) {
    const Complex<Real> left = u.e[k][i], right = u.e[k][j];
    u.e[k][i] = left * ii + right * ji;
    u.e[k][j] = left * ij + right * jj;
  }
}

/// (m - m^dagger) / 2 with its trace removed: the part of m in the algebra su(3).
template <class Real>
HALOCLINE_INLINE Su3<Real> traceless_antihermitian(const Su3<Real>& m) {
  Su3<Real> a = Real(0.5) * (m - adjoint(m));
  const Real mean = Real(1.0 / 3.0) * trace(a).im;
  for (int i = 0; i < 3; ++i) a.e[i][i].im -= mean;
  return a;
}

/// Makes an almost unitary matrix unitary to rounding: Gram-Schmidt on the first two rows, from which the third
/// follows.
///
/// Row 0 keeps its direction, so the result is gauge covariant only up to the size of the violation that is removed.
/// This suits links that have gathered rounding errors. To project a smeared link, use project_maximal_trace. A matrix
/// whose first two rows are zero or parallel gives NaN.
template <class Real>
inline void reunitarise(Su3<Real>& u) {
  auto normalise = [&](int i) {
    const Real n = core::norm(u.e[i][0]) + core::norm(u.e[i][1]) + core::norm(u.e[i][2]);
    const Real scale = Real(1) / detail::square_root(n);
    for (int k = 0; k < 3; ++k) u.e[i][k] = scale * u.e[i][k];
  };
  normalise(0);
  Complex<Real> overlap = core::conj_times(u.e[0][0], u.e[1][0]);
  core::conj_multiply_add(overlap, u.e[0][1], u.e[1][1]);
  core::conj_multiply_add(overlap, u.e[0][2], u.e[1][2]);
  for (int k = 0; k < 3; ++k) u.e[1][k] -= overlap * u.e[0][k];
  normalise(1);
  reconstruct_third_row(u);
}

/// The SU(3) matrix V that maximises Re tr(V^dagger m): the nearest to m in the Frobenius norm.
///
/// @param m      any matrix; for a zero matrix the start is returned
/// @param start  SU(3) matrix at which the ascent begins; a gauge covariant start (the link that was smeared) makes
///               every step of the ascent covariant
/// A lane stops when a sweep over the subgroups turns V by less than 4 epsilon, or after 200 sweeps. A near start takes
/// about ten sweeps. About 400 flops a sweep.
template <class Real>
inline Su3<Real> project_maximal_trace(const Su3<Real>& m, const Su3<Real>& start = Su3<Real>::unit()) {
  using Scalar = typename core::Lanes<Real>::Scalar;
  constexpr Scalar epsilon = sizeof(Scalar) == 8 ? Scalar(2.3e-16) : Scalar(1.2e-7);
  constexpr int most_sweeps = 200;
  Su3<Real> v = start;
  Su3<Real> x = times_adjoint(m, v);  // V -> a V turns x into x a^dagger
  Real turned = Real(1);
  for (int sweep = 0; sweep < most_sweeps && detail::any_above(turned, 16 * epsilon * epsilon); ++sweep) {
    const auto active = turned > Real(16 * epsilon * epsilon);
    Su3<Real> next_v = v, next_x = x;
    Real sum = Real(0);
    for (const auto& [i, j] : su2_subgroup) {
      Quaternion<Real> a = quaternion_part(next_x, i, j);
      const Real norm = a.norm();
      const auto present = norm > Real(0);
      const Real scale = Real(1) / detail::square_root(detail::choose(present, norm, Real(1)));
      a = {detail::choose(present, scale * a.a0, Real(1)), scale * a.a1, scale * a.a2, scale * a.a3};
      sum += (Real(1) - a.a0) * (Real(1) - a.a0) + a.a1 * a.a1 + a.a2 * a.a2 + a.a3 * a.a3;
      multiply_rows(a, next_v, i, j);
      multiply_columns_adjoint(next_x, a, i, j);
    }
    v = detail::choose(active, next_v, v);
    x = detail::choose(active, next_x, x);
    turned = detail::choose(active, sum, turned);
  }
  reunitarise(v);
  return v;
}

/// exp(a) of an anti-hermitian traceless matrix, in SU(3) to rounding; about 800 flops where |a| <= 1.
///
/// For eigenvalues of modulus up to 1, the Taylor series is summed to order 18, so its remainder is about 1/19!. Larger
/// arguments are halved k times (at most 60) and the result is squared k times, which costs k bits of accuracy. NaN in,
/// NaN out.
template <class Real>
inline Su3<Real> exponential(const Su3<Real>& a) {
  using Scalar = typename core::Lanes<Real>::Scalar;
  // The eigenvalues i lambda obey lambda^2 <= 4/3 c1 with c1 = - tr a^2 / 2 = |a|^2 / 2.
  constexpr int most_halvings = 60;
  Real bound = Real(Scalar(2.0 / 3.0)) * real_trace_times_adjoint(a, a);
  Real scale = Real(1);
  int halvings = 0;
  for (Real rest = bound; halvings < most_halvings && detail::any_above(rest, Scalar(1)); ++halvings) {
    const auto large = rest > Real(1);
    scale = detail::choose(large, scale * Real(Scalar(0.5)), scale);
    rest = detail::choose(large, rest * Real(Scalar(0.25)), rest);
  }
  const Su3<Real> b = scale * a;
  const Real half_trace = Real(Scalar(-0.5)) * real_trace_times_adjoint(b, b);  // tr b^2 / 2, real
  const Real det = determinant(b).im;                                           // det b = i det

  // Horner: (f0, f1, f2) <- b (f0 + f1 b + f2 b^2) + 1/n!, with b^3 = half_trace b + i det.
  constexpr int order = 18;
  Scalar inverse_factorial[order + 1];
  inverse_factorial[0] = 1;
  for (int n = 1; n <= order; ++n) inverse_factorial[n] = inverse_factorial[n - 1] / Scalar(n);
  Complex<Real> f0{Real(inverse_factorial[order]), Real(0)}, f1{Real(0), Real(0)}, f2{Real(0), Real(0)};
  for (int n = order - 1; n >= 0; --n) {
    const Complex<Real> g0{Real(inverse_factorial[n]) - det * f2.im, det * f2.re};
    const Complex<Real> g1 = f0 + half_trace * f2;
    f2 = f1;
    f1 = g1;
    f0 = g0;
  }
  Su3<Real> u = f1 * b + f2 * (b * b);
  for (int i = 0; i < 3; ++i) u.e[i][i] += f0;

  for (Real width = scale; halvings > 0; --halvings) {
    const auto halved = Real(1) > width;
    u = detail::choose(halved, u * u, u);
    width = detail::choose(halved, width + width, width);
  }
  return u;
}

}  // namespace halocline::qcd
