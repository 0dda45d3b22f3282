// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A complex number over any number type: a double, a SIMD pack, a scalar in a GPU thread.
///
/// std::complex is defined for the built-in floating types only, and its product checks for infinities. The per-site
/// kernels therefore use this plain pair. Products are written in an order that contracts to fused multiply-adds: a
/// complex multiply-accumulate takes four.

#include <type_traits>

#include "halocline/core/device.hpp"

namespace halocline::core {

/// A product that is rounded by itself, where it is added to another one that may then become a fused multiply-add. GCC
/// takes the first product for that, wherever the expression stands; clang chooses anew at each place, and for its
/// packs there is an overload (pack.hpp).
template <class Real>
HALOCLINE_INLINE const Real& rounded(const Real& product) {
  return product;
}
/// rounded(a b). nvcc too chooses anew in each kernel; its intrinsics are never part of a multiply-add.
template <class Real>
HALOCLINE_INLINE Real rounded_product(const Real& a, const Real& b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Real, float>) return __fmul_rn(a, b);
  if constexpr (std::is_same_v<Real, double>) return __dmul_rn(a, b);
#endif
  return rounded(a * b);
}

template <class Real>
struct Complex {
  Real re, im;

  HALOCLINE_INLINE Complex& operator+=(const Complex& b) {
    re += b.re;
    im += b.im;
    return *this;
  }
  HALOCLINE_INLINE Complex& operator-=(const Complex& b) {
    re -= b.re;
    im -= b.im;
    return *this;
  }
};

template <class Real>
HALOCLINE_INLINE Complex<Real> operator+(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class Real>
HALOCLINE_INLINE Complex<Real> operator-(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class Real>
HALOCLINE_INLINE Complex<Real> operator-(const Complex<Real>& a) {
  return {-a.re, -a.im};
}
template <class Real>
HALOCLINE_INLINE Complex<Real> operator*(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re * b.re - rounded_product(a.im, b.im), a.re * b.im + rounded_product(a.im, b.re)};
}
template <class Real>
HALOCLINE_INLINE Complex<Real> operator*(const Real& a, const Complex<Real>& b) {
  return {a * b.re, a * b.im};
}

template <class Real>
HALOCLINE_INLINE Complex<Real> conj(const Complex<Real>& a) {
  return {a.re, -a.im};
}
/// i a
template <class Real>
HALOCLINE_INLINE Complex<Real> times_i(const Complex<Real>& a) {
  return {-a.im, a.re};
}
/// conj(a) b
template <class Real>
HALOCLINE_INLINE Complex<Real> conj_times(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re * b.re + rounded_product(a.im, b.im), a.re * b.im - rounded_product(a.im, b.re)};
}
/// sum += a b: four fused multiply-adds.
template <class Real>
HALOCLINE_INLINE void multiply_add(Complex<Real>& sum, const Complex<Real>& a, const Complex<Real>& b) {
  sum.re += a.re * b.re;
  sum.im += a.re * b.im;
  sum.re -= a.im * b.im;
  sum.im += a.im * b.re;
}
/// sum += conj(a) b: four fused multiply-adds.
template <class Real>
HALOCLINE_INLINE void conj_multiply_add(Complex<Real>& sum, const Complex<Real>& a, const Complex<Real>& b) {
  sum.re += a.re * b.re;
  sum.im += a.re * b.im;
  sum.re += a.im * b.im;
  sum.im -= a.im * b.re;
}
template <class Real>
HALOCLINE_INLINE Real norm(const Complex<Real>& a) {
  return a.re * a.re + rounded_product(a.im, a.im);
}

}  // namespace halocline::core
