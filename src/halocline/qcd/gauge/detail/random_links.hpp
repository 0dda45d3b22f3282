// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Random SU(3) matrices from a stream of random numbers, a pack of them at once.
///
/// The random numbers of one seed are split into ranges, so that no two uses share a number: the heatbath of a link
/// takes the numbers from 0 on, start fields those from 2^31, gauge transformations those from 2^30.

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/su3_projection.hpp"
#include "halocline/qcd/gauge/detail/lane_of.hpp"
#include "halocline/qcd/gauge/detail/su2_heatbath.hpp"

#include <array>
#include <cstdint>

namespace halocline::qcd::gauge::detail {

inline constexpr int stream_lanes = core::native_lanes<double>;  ///< sites that draw together
inline constexpr std::uint64_t numbers_of_starts = 1ULL << 31;
inline constexpr std::uint64_t numbers_of_transformations = 1ULL << 30;

/// Real and imaginary part independent, normal, of deviation 1 (Box and Muller).
template <int N>
inline Complex<core::Pack<double, N>> normal_pair(const LinkStream<N>& stream, std::uint64_t number) {
  using P = core::Pack<double, N>;
  const auto u = stream.pair(number);
  const P radius = square_root(P(-2.0) * logarithm(u.first));
  const auto angle = turn(u.second);
  return {radius * angle.cosine, radius * angle.sine};
}

/// Uniform over the group: two rows of normal numbers are made orthonormal and fix the third. The density of the normal
/// rows does not change under U -> U V, and Gram-Schmidt commutes with this map, so the measure is Haar's.
/// Uses the numbers first ... first + 5.
template <int N>
inline Su3<core::Pack<double, N>> haar_matrix(const LinkStream<N>& stream, std::uint64_t first) {
  Su3<core::Pack<double, N>> u;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) u.e[i][j] = normal_pair<N>(stream, first++);
  reunitarise(u);
  return u;
}

/// exp(i epsilon sum_a h_a lambda_a / 2) with normal h_a of deviation 1. Uses the numbers first ... first + 3.
template <int N>
inline Su3<core::Pack<double, N>> matrix_near_unit(const LinkStream<N>& stream, std::uint64_t first, double epsilon) {
  using P = core::Pack<double, N>;
  const P scale(0.5 * epsilon);
  Su3<P> a;  // i epsilon h, anti-hermitian: the elements above the diagonal are (h_2 + i h_1) / 2 and so on
  for (int subgroup = 0; subgroup < 3; ++subgroup) {
    const auto& [i, j] = su2_subgroup[subgroup];
    a.e[i][j] = scale * normal_pair<N>(stream, first++);
    a.e[j][i] = {-a.e[i][j].re, a.e[i][j].im};
  }
  const auto diagonal = scale * normal_pair<N>(stream, first);
  const P eighth = P(0.5773502691896258) * diagonal.im;  // lambda_8 = diag(1, 1, -2) / sqrt 3
  const P zero(0.0);
  a.e[0][0] = {zero, eighth + diagonal.re};
  a.e[1][1] = {zero, eighth - diagonal.re};
  a.e[2][2] = {zero, P(-2.0) * eighth};
  return exponential(a);
}

/// Calls action(first site, number of sites, their global indices) for packs of sites of a box, row by row.
template <int N, class Action>
void for_each_pack(const lattice::Geometry4& geometry, Action&& action) {
  const auto& local = geometry.local();
  const std::int64_t rows = local[1] * local[2] * local[3];
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t x = 0; x < local[0]; x += N) {
      const lattice::Coordinates<4> site = {x, row % local[1], row / local[1] % local[2], row / (local[1] * local[2])};
      Words<N> global;
      for (int lane = 0; lane < N; ++lane)
        global[lane] = static_cast<std::uint64_t>(geometry.global_index(site) + lane);
      action(site, static_cast<int>(local[0] - x < N ? local[0] - x : N), global);
    }
}

}  // namespace halocline::qcd::gauge::detail
