// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The loops over a row of points where the momentum depends on the place (local_momentum.hpp).
///
/// Counts for each register and point: 24 loads of neighbours, 24 of links, each in all lanes of its multiply-add, 12
/// sums, 12 multiply-adds for the curvature, 24 for the links. The curvature of a pair needs the sum of both
/// neighbours, the links each of them alone, so that they share the loads. Sums along the three axes are separate:
/// otherwise each multiply-add would wait for the one before.

#include "halocline/tddft/stencil/detail/kernels.hpp"
#include "halocline/tddft/stencil/local_momentum.hpp"

namespace halocline::tddft::detail {

/// The sums along one axis. @param up, down  links of the point and of the points before it, for distance 1 to 4
template <class At, class Down>
__attribute__((always_inline)) inline void add_links(Register& curvature, Register& slope,
                                                     const std::array<Register, stencil_reach>& l, const double* up,
                                                     Down&& down, At&& at) {
#pragma GCC unroll 4
  for (int j = 1; j <= stencil_reach; ++j) {
    Register above = at(j), below = at(-j);
    hold(above);
    hold(below);
    curvature += l[static_cast<std::size_t>(j - 1)] * (above + below);
    slope += Register(up[j - 1]) * above;
    slope -= Register(*down(j)) * below;
  }
}

/// As apply_row(), with links instead of slopes.
template <bool imaginary, bool with_base>
__attribute__((noinline)) void local_row(const Row& given, const Weights& weights, double* /*products*/) {
  using P = Register;
  const Row row = given;
  const Constants<P> w(weights, Form{.imaginary = imaginary});
  const P factor(weights.potential);
  const std::int64_t end = row.points * doubles_per_point;
  for (int lane = 0; lane < doubles_per_point; lane += P::lanes) {
    const double *x_links = row.links, *y_links = x_links + row.links_axis, *z_links = y_links + row.links_axis;
    for (std::int64_t i = lane, point = 0; i < end; i += doubles_per_point, ++point, x_links += links_per_axis,
                      y_links += links_per_axis, z_links += links_per_axis) {
      const P psi = P::load(row.along + i);
      std::array<P, 3> curvature, slope;
      for (std::size_t a = 0; a < 3; ++a) curvature[a] = slope[a] = P(0.0);
      curvature[0] = (w.potential * P(row.v[point] + row.energies[point]) + w.centre) * psi;
      add_links(
          curvature[0], slope[0], w.curvature[0], x_links,
          [&](int j) __attribute__((always_inline)) { return x_links - j * links_per_axis + j - 1; },
          [&](int j) __attribute__((always_inline)) { return P::load(row.along + i + j * doubles_per_point); });
      const auto beside = [i](const std::array<const double*, 8>& rows) {
        return [&rows, i](int j) __attribute__((always_inline)) {
          return P::load(rows[static_cast<std::size_t>(j < 0 ? j + 4 : j + 3)] + i);
        };
      };
      add_links(
          curvature[1], slope[1], w.curvature[1], y_links,
          [&](int j) __attribute__((always_inline)) { return y_links - j * row.links_y + j - 1; }, beside(row.y));
      add_links(
          curvature[2], slope[2], w.curvature[2], z_links,
          [&](int j) __attribute__((always_inline)) { return z_links - j * row.links_z + j - 1; }, beside(row.z));
      const P kinetic = curvature[0] + curvature[1] + curvature[2];
      const P gradient = factor * (slope[0] + slope[1] + slope[2]);
      P result = imaginary ? w.swapped * swap_pairs(kinetic) + gradient : kinetic + w.swapped * swap_pairs(gradient);
      if (row.ahead != 0) {
        __builtin_prefetch(row.out + i + row.ahead, 1, 3);
        __builtin_prefetch(x_links + row.links_y, 0, 3);
        __builtin_prefetch(y_links + row.links_y, 0, 3);
        __builtin_prefetch(z_links + row.links_y, 0, 3);
        if constexpr (with_base) __builtin_prefetch(row.base + i + row.ahead, 0, 3);
      }
      if constexpr (with_base) result += w.base * P::load(row.base + i);
      result.store(row.out + i);
    }
  }
}

/// Adds factors (Im(psi* grad psi) + k |psi|^2), summed over the orbitals of a point, to row.field, shape (3, points).
inline void current_density_row(const Row& given, const Weights& weights, double* /*products*/) {
  using P = Register;
  const Row row = given;
  const Constants<P> w(weights, Form{});
  const P conjugated = alternating<P>(1.0, -1.0);
  std::array<double, 3> per_step{}, momentum{};
  for (std::size_t a = 0; a < 3; ++a) {
    per_step[a] = weights.gradient[a][a];
    momentum[a] = weights.momentum[a] / per_step[a];
  }
  PointSums sums;
  for (std::int64_t first = 0; first < row.points; first += PointSums::points) {
    const std::int64_t count = std::min<std::int64_t>(PointSums::points, row.points - first);
    for (std::int64_t p = 0; p < count; ++p) {
      std::array<P, 3> sum{P(0.0), P(0.0), P(0.0)};
      for (int r = 0; r < registers_per_point; ++r) {
        const int lane = r * P::lanes;
        const std::int64_t i = (first + p) * doubles_per_point + lane;
        const std::array<P, 3> slopes = slopes_at<double>(row, w, i);
        const P psi = P::load(row.along + i), weighted = P::load(row.factors + lane) * psi;
        const P turned = conjugated * weighted, density = weighted * psi;
        for (std::size_t a = 0; a < 3; ++a) sum[a] += turned * swap_pairs(slopes[a]) + P(momentum[a]) * density;
      }
      sums.set(static_cast<int>(p), sum);
    }
    sums.add_to(row.field + first, row.component / doubles_per_point, per_step, count);
  }
}

}  // namespace halocline::tddft::detail
