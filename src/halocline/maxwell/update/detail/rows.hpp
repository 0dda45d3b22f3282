// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What one row of points does: the loops that the time of a step goes into. All pointers are at x = 0.
///
/// Which products and sums are rounded together is written down, not left to the compiler: a row that is cut in another
/// way, by another number of processes, runs through other loops, and must have the same bits.

#include <array>
#include <cstddef>
#include <cstdint>

namespace halocline::maxwell::detail {

/// a b + c, rounded once where the instruction set can.
inline double fused(double a, double b, double c) noexcept {
#if defined(__FP_FAST_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
inline float fused(float a, float b, float c) noexcept {
#if defined(__FP_FAST_FMAF)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/// A number for a whole row, or numbers along it.
template <class T>
struct Uniform {
  T value;
  T operator[](std::int64_t) const noexcept { return value; }
};

/// out += gain (r1 (upper1 - lower1) - r2 (upper2 - lower2)): one component of a curl. 6 flops a point.
template <class T, class Gain, class R1, class R2>
inline void curl_row(T* __restrict out, const Gain gain, const T* upper1, const T* lower1, const R1 r1, const T* upper2,
                     const T* lower2, const R2 r2, std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
  for (std::int64_t x = begin; x < end; ++x)
    out[x] = fused(gain[x], fused(r1[x], upper1[x] - lower1[x], -(r2[x] * (upper2[x] - lower2[x]))), out[x]);
}

/// The whole curl of three rows at once, which reads each number once: 18 flops a point, 36 with the other field's.
/// @tparam upper     whether differences are with the neighbour after this point (H) or before it (E)
/// @param out        three components at the row
/// @param in         three components of the other field at the row
/// @param next       distance in memory to the neighbour along each axis
template <bool upper, class T, class Gain>
inline void curl_rows(const std::array<T*, 3>& out, const std::array<const T*, 3>& in, const std::array<Gain, 3>& gain,
                      const T* rx, T ry, T rz, const std::array<std::int64_t, 3>& next, std::int64_t begin,
                      std::int64_t end) {
  T* __restrict out_x = out[0];
  T* __restrict out_y = out[1];
  T* __restrict out_z = out[2];
  const std::int64_t sign = upper ? 1 : -1;
  const T *x_here = in[0], *x_y = in[0] + sign * next[1], *x_z = in[0] + sign * next[2];
  const T *y_here = in[1], *y_x = in[1] + sign * next[0], *y_z = in[1] + sign * next[2];
  const T *z_here = in[2], *z_x = in[2] + sign * next[0], *z_y = in[2] + sign * next[1];
  const auto difference = [](T there, T here) { return upper ? there - here : here - there; };
#pragma GCC ivdep
  for (std::int64_t i = begin; i < end; ++i) {
    const T x = x_here[i], y = y_here[i], z = z_here[i];
    out_x[i] = fused(gain[0][i], fused(ry, difference(z_y[i], z), -(rz * difference(y_z[i], y))), out_x[i]);
    out_y[i] = fused(gain[1][i], fused(rz, difference(x_z[i], x), -(rx[i] * difference(z_x[i], z))), out_y[i]);
    out_z[i] = fused(gain[2][i], fused(rx[i], difference(y_x[i], y), -(ry * difference(x_y[i], x))), out_z[i]);
  }
}

/// psi <- b psi + c (upper - lower), out += sign gain psi.
template <class T, class Gain, class B>
inline void layer_row(T* __restrict out, T* __restrict psi, const Gain gain, T sign, const T* upper, const T* lower,
                      const B b, const B c, std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
  for (std::int64_t x = begin; x < end; ++x) {
    psi[x] = fused(b[x], psi[x], c[x] * (upper[x] - lower[x]));
    out[x] = fused(gain[x], sign * psi[x], out[x]);
  }
}

/// Behind the rim of a cylindrical grid r f + rim v follows the field f and its integral v over time: v <- v + dt f.
template <class T>
inline void rim_row(T* __restrict out, T* __restrict v, const T* rim, const T* radius, T dt, std::int64_t begin,
                    std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) {
    const T field = fused(-rim[x], v[x], out[x]) / radius[x];
    v[x] = fused(dt, field, v[x]);
    out[x] = fused(rim[x] * dt, field, out[x]);
  }
}

/// j <- keep j + push (strength e - spring p), p <- p + dt j.
template <class T>
inline void polarise_row(T* __restrict j, T* __restrict p, const T* __restrict e, const T* __restrict strength, T keep,
                         T push, T spring, T dt, std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
  for (std::int64_t x = begin; x < end; ++x) {
    j[x] = fused(keep, j[x], push * fused(strength[x], e[x], -(spring * p[x])));
    p[x] = fused(dt, j[x], p[x]);
  }
}

/// out += gain scale value[x]
template <class T, class Gain, class Value>
inline void drive_row(T* __restrict out, const Gain gain, T scale, const Value value, std::int64_t begin,
                      std::int64_t end) {
#pragma GCC ivdep
  for (std::int64_t x = begin; x < end; ++x) out[x] = fused(gain[x], scale * value[x], out[x]);
}

}  // namespace halocline::maxwell::detail
