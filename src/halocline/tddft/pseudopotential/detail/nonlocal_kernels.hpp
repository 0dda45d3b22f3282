// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The loops of the nonlocal part: over the points of one sphere, for one block of orbitals.
///
/// A point of a block is one cache line (orbitals.hpp), so reading the orbitals of a sphere is a list of aligned loads.
/// The orbitals share the projectors, which are real, and the phases, which are complex; both are broadcast from
/// memory. A phase exp(i q d) acts on (re, im) as cos (re, im) + sin (-im, re), that is c v + (-s, s) swap_pairs(v).
///
/// Up to eight projectors are accumulated in registers at a time; an atom with more projectors needs more passes over
/// its points. With few projectors several points are accumulated separately (`chains`), so that additions need not
/// wait for each other. For orbitals in float the projectors and phases are in float, too, and sums are in float over
/// at most `float_points` points and in double beyond.
///
/// Cost for each point and block with n projectors (up to 8), in operations on a line of 8 doubles or 16 floats; for q
/// = 0 without the operations on phases:
///   project:  n + 2 multiply-adds, 2 moves; reads 64 bytes of orbitals, 8 n of projectors, 16 of phases, 4 of index
///   add:      n + 2 multiply-adds, 2 moves; the line of `out` is read and written
///   moments:  n + 6 multiply-adds, 3 moves; and 24 bytes of displacements

#include "halocline/core/pack.hpp"
#include "halocline/tddft/base/lines.hpp"
#include "halocline/tddft/base/orbitals.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace halocline::tddft::detail {

template <class T>
using LineOf = core::Pack<T, numbers_per_point<T>>;
using Lines = LineOf<double>;

/// Points whose products are summed in float; a multiple of 4.
inline constexpr std::int64_t float_points = 128;

/// (re, im) -> (-im, re): the product with i. Flips the sign bit, which costs no multiplication.
template <class T, int N>
__attribute__((always_inline)) inline core::Pack<T, N> times_i(const core::Pack<T, N>& a) {
  using P = core::Pack<T, N>;
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    constexpr auto sign = std::numeric_limits<typename P::MaskLane>::min();
    constexpr typename P::Mask real_parts{(i % 2 == 0 ? sign : typename P::MaskLane{0})...};
    return P((typename P::Vector)((typename P::Mask)swap_pairs(a).v ^ real_parts));
  }(std::make_index_sequence<static_cast<std::size_t>(N)>{});
}

/// The orbitals at a point times its phase.
template <bool phased, class T>
__attribute__((always_inline)) inline LineOf<T> phased_line(const T* line, const T* phase) {
  const LineOf<T> v = LineOf<T>::load(line);
  if constexpr (!phased) return v;
  return v * LineOf<T>(phase[0]) + times_i(v) * LineOf<T>(phase[1]);
}

/// The projectors of a sphere and their points in the block. Kernels take a copy, so that their stores cannot alias it.
template <class T>
struct SphereView {
  const std::int32_t* index;  ///< shape (points,): indices of the points in the block
  const T* values;            ///< shape (points, stride): projectors
  std::int64_t stride;
  const T* phases;  ///< shape (points, 2), see fill_phases(); null for q = 0
};

/// As project_some(), for some of the points.
template <int n, bool phased, class T>
__attribute__((always_inline)) inline void project_run(LineOf<T> (&total)[n], const T* block, const SphereView<T>& at,
                                                       std::int64_t begin, std::int64_t end) {
  constexpr int chains = n >= 8 ? 1 : n >= 3 ? 2 : 4;
  LineOf<T> sum[chains][n];
  for (auto& chain : sum)
    for (LineOf<T>& s : chain) s = LineOf<T>(T(0));
  for (std::int64_t p = begin; p < end; p += chains)
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c) {
      const LineOf<T> w = phased_line<phased>(block + numbers_per_point<T> * std::int64_t{at.index[p + c]},
                                              at.phases + (phased ? 2 * (p + c) : 0));
      const T* value = at.values + (p + c) * at.stride;
#pragma GCC unroll 8
      for (int j = 0; j < n; ++j) sum[c][j] += LineOf<T>(value[j]) * w;
    }
  for (int j = 0; j < n; ++j) {
    for (int c = 1; c < chains; ++c) sum[0][j] += sum[c][j];
    total[j] = sum[0][j];
  }
}

/// sums[j] = sum over points p_j exp(i q d) psi. @param sums  shape (n, lanes, 2)
/// @param points  a multiple of 4
template <int n, bool phased, class T>
void project_some(double* sums, const T* block, SphereView<T> at, std::int64_t points) {
  LineOf<T> total[n];
  if constexpr (std::is_same_v<T, double>) {
    project_run<n, phased>(total, block, at, 0, points);
    for (int j = 0; j < n; ++j) total[j].store(sums + doubles_per_point * j);
  } else {
    std::fill_n(sums, n * numbers_per_point<T>, 0.0);
    for (std::int64_t begin = 0; begin < points; begin += float_points) {
      project_run<n, phased>(total, block, at, begin, std::min(begin + float_points, points));
      for (int j = 0; j < n; ++j) add_to(sums + numbers_per_point<T> * j, total[j]);
    }
  }
}

/// Sum over j of p_j c_j at point p.
template <int n, class T>
__attribute__((always_inline)) inline LineOf<T> combination(const SphereView<T>& at, std::int64_t p,
                                                            const LineOf<T> (&c)[n]) {
  const T* value = at.values + p * at.stride;
  LineOf<T> sum = LineOf<T>(value[0]) * c[0];
#pragma GCC unroll 8
  for (int j = 1; j < n; ++j) sum += LineOf<T>(value[j]) * c[j];
  return sum;
}

/// @param from  shape (n, lanes, 2), in double
template <int n, class T>
__attribute__((always_inline)) inline void load_lines(LineOf<T> (&c)[n], const double* from) {
#pragma GCC unroll 8
  for (int j = 0; j < n; ++j) {
    const double* line = from + numbers_per_point<T> * j;
    if constexpr (std::is_same_v<T, double>)
      c[j] = LineOf<T>::load(line);
    else
      c[j] = core::convert<T>(core::Pack<double, numbers_per_point<T>>::load(line));
  }
}

/// out += exp(-i q d) sum over j of p_j c_j at points [begin, end). @param coefficients  c, shape (n, lanes, 2)
template <int n, bool phased, class T>
void add_some(T* out, const double* coefficients, SphereView<T> at, std::int64_t begin, std::int64_t end) {
  LineOf<T> c[n];
  load_lines<n, T>(c, coefficients);
  for (std::int64_t p = begin; p < end; ++p) {
    T* line = out + numbers_per_point<T> * std::int64_t{at.index[p]};
    const LineOf<T> x = combination(at, p, c);
    LineOf<T> result = LineOf<T>::load(line);
    if constexpr (phased) {
      const T* phase = at.phases + 2 * p;
      result += x * LineOf<T>(phase[0]);
      result -= times_i(x) * LineOf<T>(phase[1]);
    } else {
      result += x;
    }
    result.store(line);
  }
}

/// moments[axis] += sum over points d_axis x swap_pairs(w), with w = exp(i q d) psi and x = sum over j of p_j c_j: for
/// each orbital the products x_re w_im and x_im w_re, whose difference is the imaginary part of conj(x) w.
/// @param moments  shape (3, lanes, 2)
template <int n, bool phased, class T>
void moments_some(double* moments, const T* block, const double* coefficients, SphereView<T> at,
                  const Vec3* displacements, std::int64_t points) {
  LineOf<T> c[n], sum[3];
  load_lines<n, T>(c, coefficients);
  constexpr bool in_double = std::is_same_v<T, double>;
  if constexpr (in_double) load_lines<3, T>(sum, moments);
  const std::int64_t run = in_double ? points : float_points;
  for (std::int64_t begin = 0; begin < points; begin += run) {
    if constexpr (!in_double)
      for (LineOf<T>& s : sum) s = LineOf<T>(T(0));
    for (std::int64_t p = begin; p < std::min(begin + run, points); ++p) {
      const LineOf<T> w = phased_line<phased>(block + numbers_per_point<T> * std::int64_t{at.index[p]},
                                              at.phases + (phased ? 2 * p : 0));
      const LineOf<T> product = combination(at, p, c) * swap_pairs(w);
#pragma GCC unroll 3
      for (int axis = 0; axis < 3; ++axis)
        sum[axis] += LineOf<T>(static_cast<T>(displacements[p][static_cast<std::size_t>(axis)])) * product;
    }
    if constexpr (!in_double)
      for (int axis = 0; axis < 3; ++axis) add_to(moments + numbers_per_point<T> * axis, sum[axis]);
  }
  if constexpr (in_double)
    for (int axis = 0; axis < 3; ++axis) sum[axis].store(moments + doubles_per_point * axis);
}

/// For each point the sum over the four orbitals of weights times Im conj(x) w, as moments_some(): adds its moments of
/// first order in the displacement, and those of second order.
/// @param sums  shape (9,): x y z xx yy zz xy xz yz
template <int n, bool phased>
void add_phase_moments(double* sums, const double* block, const double* coefficients, SphereView<double> at,
                       const double* weights, const Vec3* displacements, std::int64_t points) {
  Lines c[n], weight;
  load_lines<n, double>(c, coefficients);
  for (int i = 0; i < doubles_per_point; ++i) weight.set(i, i % 2 == 0 ? weights[i / 2] : -weights[i / 2]);
  double sum[9] = {};
  for (std::int64_t p = 0; p < points; ++p) {
    const Lines w =
        phased_line<phased>(block + doubles_per_point * std::int64_t{at.index[p]}, at.phases + (phased ? 2 * p : 0));
    const double product = horizontal_sum(weight * combination(at, p, c) * swap_pairs(w));
    const Vec3& d = displacements[p];
    for (int axis = 0; axis < 3; ++axis) {
      const double first = product * d[static_cast<std::size_t>(axis)];
      sum[axis] += first;
      sum[3 + axis] += first * d[static_cast<std::size_t>(axis)];
    }
    sum[6] += product * d[0] * d[1];
    sum[7] += product * d[0] * d[2];
    sum[8] += product * d[1] * d[2];
  }
  for (int i = 0; i < 9; ++i) sums[i] += sum[i];
}

/// Splits `count` projectors into runs of n <= 8, about equally long, and calls action<n, phased>(first) for each.
template <class Action>
__attribute__((always_inline)) inline void for_projectors(int count, bool phased, Action&& action) {
  const auto with = [&](int first, auto n) {
    if (phased)
      action(first, n, std::true_type{});
    else
      action(first, n, std::false_type{});
  };
  const int passes = (count + 7) / 8;
  for (int pass = 0, first = 0; pass < passes; ++pass) {
    const int n = (count - first + passes - pass - 1) / (passes - pass);
    switch (n) {
    case 1:
      with(first, std::integral_constant<int, 1>{});
      break;
    case 2:
      with(first, std::integral_constant<int, 2>{});
      break;
    case 3:
      with(first, std::integral_constant<int, 3>{});
      break;
    case 4:
      with(first, std::integral_constant<int, 4>{});
      break;
    case 5:
      with(first, std::integral_constant<int, 5>{});
      break;
    case 6:
      with(first, std::integral_constant<int, 6>{});
      break;
    case 7:
      with(first, std::integral_constant<int, 7>{});
      break;
    default:
      with(first, std::integral_constant<int, 8>{});
      break;
    }
    first += n;
  }
}

}  // namespace halocline::tddft::detail
