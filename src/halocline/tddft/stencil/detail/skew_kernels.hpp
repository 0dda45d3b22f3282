// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The loops over a row of points on axes that are not orthogonal, where derivatives along up to six directions are
/// added (base/directions.hpp).
///
/// With six directions a point has 48 neighbours. Their 40 row pointers do not fit the registers, and loading them for
/// every point would use as many load slots as the neighbours. So a few points of a row are computed together,
/// direction by direction and distance by distance: pointers and weights are loaded once for all of them, and each
/// point has one register for the sum K and one for the sum G of kernels.hpp.
///
/// Counts for each register and point with six directions and the gradient: 48 loads of neighbours; 48 sums and
/// differences and 48 multiply-adds; a tenth of that for all else. That is 1.8 times the arithmetic of three
/// directions.

#include "halocline/tddft/stencil/detail/kernels.hpp"

namespace halocline::tddft::detail {

/// Points computed together: two registers each, three with the current, and a few more for neighbours and weights.
inline constexpr int points_together = core::native_lanes<double> >= 8 ? 8 : 4;

/// `count` points from number `i` of the row on. @param products  see apply_row()
template <Form form, int count>
__attribute__((always_inline)) inline void skew_points(const Row& row, const Weights& weights, double* products,
                                                       std::int64_t i) {
  using T = NumberOf<form>;
  using P = RegisterOf<T>;
  constexpr int line = numbers_per_point<T>;
  constexpr bool with_slope = form.slopes != 0;
  const T *along = reinterpret_cast<const T*>(row.along), *base_row = reinterpret_cast<const T*>(row.base);
  T* out = reinterpret_cast<T*>(row.out);
  constexpr auto points = static_cast<std::size_t>(count);
  std::array<P, points> kinetic, gradient;
#pragma GCC unroll 8
  for (std::size_t p = 0; p < points; ++p) {
    const std::int64_t at = i + static_cast<std::int64_t>(p) * line;
    kinetic[p] = everywhere<P>(weights.potential * row.v[at / line] + weights.centre) * P::load(along + at);
    if constexpr (with_slope) gradient[p] = P(T(0));
    // The hardware prefetcher follows the neighbours' rows, and would leave these lines to the end.
    __builtin_prefetch(out + at, 1, 3);
    if constexpr (form.base) __builtin_prefetch(base_row + at, 0, 3);
  }
  for (int d = 0; d < weights.directions; ++d) {
    const auto direction = static_cast<std::size_t>(d);
    std::array<P, points> slope;
    if constexpr (form.current)
      for (std::size_t p = 0; p < points; ++p) slope[p] = P(T(0));
#pragma GCC unroll 4
    for (std::size_t j = 0; j < stencil_reach; ++j) {
      const T *up = reinterpret_cast<const T*>(row.neighbours[direction][4 + j]) + i,
              *down = reinterpret_cast<const T*>(row.neighbours[direction][3 - j]) + i;
      const P l = everywhere<P>(weights.curvature[direction][j]);
      const P n = everywhere<P>(form.current ? weights.slope[j] : weights.q[direction] * weights.slope[j]);
#pragma GCC unroll 8
      for (std::size_t p = 0; p < points; ++p) {
        P above = P::load(up + p * line), below = P::load(down + p * line);
        hold(above);
        hold(below);
        kinetic[p] += l * (above + below);
        if constexpr (form.current)
          slope[p] += n * (above - below);
        else if constexpr (with_slope)
          gradient[p] += n * (above - below);
      }
    }
    if constexpr (form.current) {
      const P q = everywhere<P>(weights.q[direction]);
      P sum = begun_sum<P>(products + most_products * d);
      for (std::size_t p = 0; p < points; ++p) {
        gradient[p] += q * slope[p];
        sum += P::load(along + i + p * line) * swap_pairs(slope[p]);
      }
      finish_sum(products + most_products * d, sum);
    }
  }
  const P swapped = form.imaginary ? alternating<P>(-1.0, 1.0) : alternating<P>(1.0, -1.0);
  const P base = everywhere<P>(weights.base);
#pragma GCC unroll 8
  for (std::size_t p = 0; p < points; ++p) {
    const std::int64_t at = i + static_cast<std::int64_t>(p) * line;
    P result = form.imaginary ? swapped * swap_pairs(kinetic[p]) : kinetic[p];
    if constexpr (with_slope) result += form.imaginary ? gradient[p] : swapped * swap_pairs(gradient[p]);
    if constexpr (form.base) result += base * P::load(base_row + at);
    result.store(out + at);
  }
}

/// As apply_row().
template <Form form>
__attribute__((noinline)) void apply_skew_row(const Row& row, const Weights& weights, double* products) {
  constexpr int most = points_together, line = numbers_per_point<NumberOf<form>>;
  for (int lane = 0; lane < line; lane += RegisterOf<NumberOf<form>>::lanes) {
    std::int64_t point = 0;
    for (; point + most <= row.points; point += most)
      skew_points<form, most>(row, weights, products + lane, point * line + lane);
    for (; point + most / 4 <= row.points; point += most / 4)
      skew_points<form, most / 4>(row, weights, products + lane, point * line + lane);
    for (; point < row.points; ++point) skew_points<form, 1>(row, weights, products + lane, point * line + lane);
  }
}

/// The slope of numbers along a direction, not yet divided by the spacing. @param i  of the first number in the row
template <class T>
__attribute__((always_inline)) inline RegisterOf<T> slope_along(const Row& row, const Weights& weights,
                                                                std::size_t direction, std::int64_t i) {
  using P = RegisterOf<T>;
  P sum(T(0));
#pragma GCC unroll 4
  for (std::size_t j = 0; j < stencil_reach; ++j)
    sum +=
        everywhere<P>(weights.slope[j]) * (P::load(reinterpret_cast<const T*>(row.neighbours[direction][4 + j]) + i) -
                                           P::load(reinterpret_cast<const T*>(row.neighbours[direction][3 - j]) + i));
  return sum;
}

/// As current_row().
template <class T>
inline void current_skew_row(const Row& row, const Weights& weights, double* products) {
  using P = RegisterOf<T>;
  constexpr int line = numbers_per_point<T>;
  for (int d = 0; d < weights.directions; ++d)
    for (int lane = 0; lane < line; lane += P::lanes) {
      P sum = begun_sum<P>(products + most_products * d + lane);
      for (std::int64_t i = lane; i < row.points * line; i += line)
        sum += P::load(reinterpret_cast<const T*>(row.along) + i) *
               swap_pairs(slope_along<T>(row, weights, static_cast<std::size_t>(d), i));
      finish_sum(products + most_products * d + lane, sum);
    }
}

/// The Cartesian components of the gradient of numbers.
__attribute__((always_inline)) inline std::array<Register, 3> gradient_at(const Row& row, const Weights& weights,
                                                                          std::int64_t i) {
  using P = Register;
  std::array<P, 3> sum{P(0.0), P(0.0), P(0.0)};
  for (std::size_t d = 0; d < static_cast<std::size_t>(weights.directions); ++d) {
    const P slope = slope_along<double>(row, weights, d, i);
    for (std::size_t c = 0; c < 3; ++c) sum[c] += P(weights.gradient[d][c]) * slope;
  }
  return sum;
}

/// As density_gradient_row(), with a swapped slope along each direction.
inline void density_gradient_skew_row(const Row& row, const Weights& weights, double* products) {
  using P = Register;
  const std::int64_t kept_begin = row.kept_begin * doubles_per_point, kept_end = row.kept_end * doubles_per_point;
  PointSums sums;
  for (std::int64_t first = 0; first < row.points; first += PointSums::points) {
    const std::int64_t count = std::min<std::int64_t>(PointSums::points, row.points - first);
    for (std::int64_t p = 0; p < count; ++p) {
      std::array<P, 3> sum{P(0.0), P(0.0), P(0.0)};
      for (int lane = 0; lane < doubles_per_point; lane += P::lanes) {
        const std::int64_t i = (first + p) * doubles_per_point + lane;
        const P psi = P::load(row.along + i), weighted = P::load(row.factors + lane) * psi;
        std::array<P, 3> gradient{P(0.0), P(0.0), P(0.0)};
        for (std::size_t d = 0; d < static_cast<std::size_t>(weights.directions); ++d) {
          const P slope = slope_along<double>(row, weights, d, i);
          for (std::size_t c = 0; c < 3; ++c) gradient[c] += P(weights.gradient[d][c]) * slope;
          double* product = products + most_products * static_cast<std::int64_t>(d) + lane;
          (P::load(product) + psi * swap_pairs(slope)).store(product);
        }
        for (std::size_t c = 0; c < 3; ++c) sum[c] += weighted * gradient[c];
        if (i < kept_begin || i >= kept_end) continue;
        for (std::size_t c = 0; c < 3; ++c)
          gradient[c].store(row.out + static_cast<std::int64_t>(c) * row.component + i);
      }
      sums.set(static_cast<int>(p), sum);
    }
    sums.add_to(row.field + first, row.component / doubles_per_point, {1, 1, 1}, count);
  }
}

/// The same for one number. @param i  its index in the row
inline Vec3 gradient_of_number(const Row& row, const Weights& weights, std::int64_t i) {
  Vec3 sum{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(weights.directions); ++d) {
    double slope = 0;
    for (std::size_t j = 0; j < stencil_reach; ++j)
      slope += weights.slope[j] * (row.neighbours[d][4 + j][i] - row.neighbours[d][3 - j][i]);
    for (std::size_t c = 0; c < 3; ++c) sum[c] += weights.gradient[d][c] * slope;
  }
  return sum;
}

/// As gradient_row().
template <int fields>
inline void gradient_skew_row(const Row& row, const Weights& weights, double* /*products*/) {
  for (std::int64_t i = 0; i < row.points; ++i)
    for (std::int64_t f = 0; f < fields; ++f) {
      const auto gradient = gradient_of_number(row, weights, i * doubles_per_point + f);
      for (std::int64_t c = 0; c < 3; ++c)
        row.field[(3 * f + c) * row.component + i] = gradient[static_cast<std::size_t>(c)];
    }
}

/// As divergence_row().
template <int fields>
inline void divergence_skew_row(const Row& row, const Weights& weights, double* /*products*/) {
  for (std::int64_t i = 0; i < row.points; ++i)
    for (std::int64_t f = 0; f < fields; ++f) {
      double sum = 0;
      for (std::int64_t c = 0; c < 3; ++c)
        sum += gradient_of_number(row, weights, i * doubles_per_point + 3 * f + c)[static_cast<std::size_t>(c)];
      row.field[f * row.component + i] = sum;
    }
}

}  // namespace halocline::tddft::detail
