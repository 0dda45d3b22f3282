// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The loops of the nonlocal part: over the points of one sphere, for one block of four orbitals.
///
/// A point of a block is one cache line (orbitals.hpp), so reading the orbitals of a sphere is a list of aligned loads.
/// The four orbitals share the projectors, which are real, and the phases, which are complex; both are broadcast from
/// memory. A phase exp(i q d) acts on (re, im) as cos (re, im) + sin (-im, re), that is c v + (-s, s) swapped(v).
///
/// Up to eight projectors are accumulated in registers at a time; an atom with more projectors needs more passes over
/// its points. With few projectors several points are accumulated separately (`chains`), so that additions need not
/// wait for each other.
///
/// Cost for each point and block with n projectors (up to 8), in operations on 8 doubles; for q = 0 without the
/// operations on phases:
///   project:  n + 2 multiply-adds, 2 moves; reads 64 bytes of orbitals, 8 n of projectors, 16 of phases, 4 of index
///   add:      n + 2 multiply-adds, 2 moves; the line of `out` is read and written
///   moments:  n + 6 multiply-adds, 3 moves; and 24 bytes of displacements

#include "halocline/core/pack.hpp"
#include "halocline/tddft/base/orbitals.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace halocline::tddft::detail {

using Lines = core::Pack<double, doubles_per_point>;

/// (re, im) -> (im, re) in each lane.
__attribute__((always_inline)) inline Lines swapped(const Lines& a) {
  return Lines(__builtin_shufflevector(a.v, a.v, 1, 0, 3, 2, 5, 4, 7, 6));
}

/// (re, im) -> (-im, re): the product with i. Flips the sign bit, which costs no multiplication.
__attribute__((always_inline)) inline Lines times_i(const Lines& a) {
  constexpr std::int64_t sign = INT64_MIN;
  constexpr Lines::Mask real_parts{sign, 0, sign, 0, sign, 0, sign, 0};
  return Lines((Lines::Vector)((Lines::Mask)swapped(a).v ^ real_parts));
}

/// The orbitals at a point times its phase.
template <bool phased>
__attribute__((always_inline)) inline Lines phased_line(const double* line, const double* phase) {
  const Lines v = Lines::load(line);
  if constexpr (!phased) return v;
  return v * Lines(phase[0]) + times_i(v) * Lines(phase[1]);
}

/// The projectors of a sphere and their points in the block. Kernels take a copy, so that their stores cannot alias it.
struct SphereView {
  const std::int32_t* index;  ///< shape (points,): indices of the points in the block
  const double* values;       ///< shape (points, stride): projectors
  std::int64_t stride;
  const double* phases;  ///< shape (points, 2), see fill_phases(); null for q = 0
};

/// sums[j] = sum over points p_j exp(i q d) psi. @param sums  shape (n, 4, 2)
/// @param points  a multiple of 4
template <int n, bool phased>
void project_some(double* sums, const double* block, SphereView at, std::int64_t points) {
  constexpr int chains = n >= 8 ? 1 : n >= 3 ? 2 : 4;
  Lines sum[chains][n];
  for (auto& chain : sum)
    for (Lines& s : chain) s = Lines(0.0);
  for (std::int64_t p = 0; p < points; p += chains)
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c) {
      const Lines w = phased_line<phased>(block + doubles_per_point * std::int64_t{at.index[p + c]},
                                          at.phases + (phased ? 2 * (p + c) : 0));
      const double* value = at.values + (p + c) * at.stride;
#pragma GCC unroll 8
      for (int j = 0; j < n; ++j) sum[c][j] += Lines(value[j]) * w;
    }
  for (int j = 0; j < n; ++j) {
    for (int c = 1; c < chains; ++c) sum[0][j] += sum[c][j];
    sum[0][j].store(sums + doubles_per_point * j);
  }
}

/// Sum over j of p_j c_j at point p.
template <int n>
__attribute__((always_inline)) inline Lines combination(const SphereView& at, std::int64_t p, const Lines (&c)[n]) {
  const double* value = at.values + p * at.stride;
  Lines sum = Lines(value[0]) * c[0];
#pragma GCC unroll 8
  for (int j = 1; j < n; ++j) sum += Lines(value[j]) * c[j];
  return sum;
}

template <int n>
__attribute__((always_inline)) inline void load_lines(Lines (&c)[n], const double* from) {
#pragma GCC unroll 8
  for (int j = 0; j < n; ++j) c[j] = Lines::load(from + doubles_per_point * j);
}

/// out += exp(-i q d) sum over j of p_j c_j at points [begin, end). @param coefficients  c, shape (n, 4, 2)
template <int n, bool phased>
void add_some(double* out, const double* coefficients, SphereView at, std::int64_t begin, std::int64_t end) {
  Lines c[n];
  load_lines(c, coefficients);
  for (std::int64_t p = begin; p < end; ++p) {
    double* line = out + doubles_per_point * std::int64_t{at.index[p]};
    const Lines x = combination(at, p, c);
    Lines result = Lines::load(line);
    if constexpr (phased) {
      const double* phase = at.phases + 2 * p;
      result += x * Lines(phase[0]);
      result -= times_i(x) * Lines(phase[1]);
    } else {
      result += x;
    }
    result.store(line);
  }
}

/// moments[axis] += sum over points d_axis x swapped(w), with w = exp(i q d) psi and x = sum over j of p_j c_j: for
/// each orbital the products x_re w_im and x_im w_re, whose difference is the imaginary part of conj(x) w.
/// @param moments  shape (3, 4, 2)
template <int n, bool phased>
void moments_some(double* moments, const double* block, const double* coefficients, SphereView at,
                  const Vec3* displacements, std::int64_t points) {
  Lines c[n], sum[3];
  load_lines(c, coefficients);
  load_lines(sum, moments);
  for (std::int64_t p = 0; p < points; ++p) {
    const Lines w =
        phased_line<phased>(block + doubles_per_point * std::int64_t{at.index[p]}, at.phases + (phased ? 2 * p : 0));
    const Lines product = combination(at, p, c) * swapped(w);
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; ++axis) sum[axis] += Lines(displacements[p][static_cast<std::size_t>(axis)]) * product;
  }
  for (int axis = 0; axis < 3; ++axis) sum[axis].store(moments + doubles_per_point * axis);
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
