// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The loops over a row of points for meta-GGA functionals: densities, gradients and kinetic energy densities of
/// orbitals, and the operator that is the derivative of an energy of these,
///   sum_a [ -1/2 G_a t G_a + w_a G_a - G_a w_a ],   G_a = D_a + i p_a,
/// with the slope t of the energy with respect to the kinetic energy density, its slope w with respect to the gradient
/// of the density, and the local momentum p(r).
///
/// D_a is the stencil's first derivative. It is antisymmetric, so that the operator is Hermitian, and its expectation
/// value is the sum of t times the kinetic energy density and of w times the gradient, on any grid. The inner half
/// stores three vectors of a block, t G_a psi + 2 w_a psi, and the sum of w_a G_a psi. The outer half reads the three
/// one axis at a time, because each needs neighbours along its own axis only: 8 loads, 4 differences and 4
/// multiply-adds a register and point on orthogonal axes.

#include "halocline/tddft/stencil/detail/skew_kernels.hpp"
#include "halocline/tddft/stencil/stencil.hpp"

namespace halocline::tddft::detail {

/// The Cartesian gradient of the numbers in one register.
template <bool skew>
__attribute__((always_inline)) inline std::array<Register, 3>
cartesian_gradient(const Row& row, const Weights& weights, const Constants<Register>& w, std::int64_t i) {
  if constexpr (skew) {
    return gradient_at(row, weights, i);
  } else {
    std::array<Register, 3> slopes = slopes_at<double>(row, w, i);
    for (std::size_t a = 0; a < 3; ++a) slopes[a] = Register(weights.gradient[a][a]) * slopes[a];
    return slopes;
  }
}

/// One component of the same.
template <bool skew, int axis>
__attribute__((always_inline)) inline Register component_of_gradient(const Row& row, const Weights& weights,
                                                                     const Constants<Register>& w, std::int64_t i) {
  using P = Register;
  constexpr auto a = static_cast<std::size_t>(axis);
  P sum(0.0);
  if constexpr (skew) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(weights.directions); ++d)
      sum += P(weights.gradient[d][a]) * slope_along<double>(row, weights, d, i);
    return sum;
  } else {
#pragma GCC unroll 4
    for (int j = 1; j <= stencil_reach; ++j) {
      const auto up = static_cast<std::size_t>(j + 3), down = static_cast<std::size_t>(4 - j);
      const P& n = w.slope[static_cast<std::size_t>(j - 1)];
      if constexpr (axis == 0)
        sum += n * (P::load(row.along + i + j * doubles_per_point) - P::load(row.along + i - j * doubles_per_point));
      else
        sum += n * (P::load((axis == 1 ? row.y : row.z)[up] + i) - P::load((axis == 1 ? row.y : row.z)[down] + i));
    }
    return P(weights.gradient[a][a]) * sum;
  }
}

/// Adds sums over the orbitals of a point to row.field, shape (8, points): factors |psi|^2, factors |grad psi|^2, and
/// along x, y and z factors Im(psi* grad psi) and factors 2 Re(psi* grad psi).
template <bool skew>
inline void kinetic_row(const Row& row, const Weights& weights, double* /*products*/) {
  using P = Register;
  const Constants<P> w(weights, Form{});
  const P conjugated = alternating<P>(1.0, -1.0);
  const std::int64_t points = row.component / doubles_per_point;
  for (std::int64_t point = 0; point < row.points; ++point) {
    std::array<P, kinetic_sums> sums;
    for (P& sum : sums) sum = P(0.0);
    for (int lane = 0; lane < doubles_per_point; lane += P::lanes) {
      const std::int64_t i = point * doubles_per_point + lane;
      const std::array<P, 3> gradient = cartesian_gradient<skew>(row, weights, w, i);
      const P factors = P::load(row.factors + lane), psi = P::load(row.along + i), weighted = factors * psi;
      // Im(psi* slope) = re(psi) im(slope) - im(psi) re(slope)
      const P turned = conjugated * weighted, twice = weighted + weighted;
      sums[0] += weighted * psi;
      for (std::size_t a = 0; a < 3; ++a) {
        sums[1] += factors * gradient[a] * gradient[a];
        sums[2 + a] += turned * swap_pairs(gradient[a]);
        sums[5 + a] += twice * gradient[a];
      }
    }
    for (std::size_t k = 0; k < kinetic_sums; ++k)
      row.field[static_cast<std::int64_t>(k) * points + point] += horizontal_sum(sums[k]);
  }
}

/// Field `number` of row.v, shape (7, points): t, w and u.
inline double kinetic_field(const Row& row, std::int64_t number, std::int64_t point) {
  return row.v[number * (row.component / doubles_per_point) + point];
}

/// The local momentum along an axis at a point, weights.momentum - u.
inline double local_momentum(const Row& row, const Weights& weights, std::int64_t axis, std::int64_t point) {
  return weights.momentum[static_cast<std::size_t>(axis)] - kinetic_field(row, 4 + axis, point);
}

/// The inner half: stores t G_a psi + 2 w_a psi for the three axes, and the sum of w_a G_a psi: shape (4, points, 4, 2)
/// of row.out.
template <bool skew>
inline void kinetic_inner_row(const Row& row, const Weights& weights, double* /*products*/) {
  using P = Register;
  const Constants<P> w(weights, Form{});
  const P times_i = alternating<P>(-1.0, 1.0);
  for (std::int64_t point = 0; point < row.points; ++point) {
    const P t(kinetic_field(row, 0, point));
    std::array<P, 3> momentum, flux;
    for (std::int64_t a = 0; a < 3; ++a) {
      momentum[static_cast<std::size_t>(a)] = P(local_momentum(row, weights, a, point));
      flux[static_cast<std::size_t>(a)] = P(kinetic_field(row, 1 + a, point));
    }
    for (int lane = 0; lane < doubles_per_point; lane += P::lanes) {
      const std::int64_t i = point * doubles_per_point + lane;
      const std::array<P, 3> gradient = cartesian_gradient<skew>(row, weights, w, i);
      const P psi = P::load(row.along + i), turned = times_i * swap_pairs(psi), twice = psi + psi;
      P along(0.0);
      for (std::size_t a = 0; a < 3; ++a) {
        const P slope = gradient[a] + momentum[a] * turned;
        along += flux[a] * slope;
        (t * slope + flux[a] * twice).store(row.out + static_cast<std::int64_t>(a) * row.component + i);
      }
      along.store(row.out + 3 * row.component + i);
    }
  }
}

/// The outer half along one axis: adds weights.potential times -1/2 G_a of the row to row.out, for the axis x also
/// times row.base, the last vector of the inner half; and all times i if `imaginary`.
template <bool skew, bool imaginary, int axis>
inline void kinetic_outer_row(const Row& row, const Weights& weights, double* /*products*/) {
  using P = Register;
  const Constants<P> w(weights, Form{});
  const P times_i = alternating<P>(-1.0, 1.0), half(-0.5);
  for (std::int64_t point = 0; point < row.points; ++point) {
    const P p(local_momentum(row, weights, axis, point));
    for (int lane = 0; lane < doubles_per_point; lane += P::lanes) {
      const std::int64_t i = point * doubles_per_point + lane;
      P sum = half * (component_of_gradient<skew, axis>(row, weights, w, i) +
                      p * (times_i * swap_pairs(P::load(row.along + i))));
      if constexpr (axis == 0) sum += P::load(row.base + i);
      if constexpr (imaginary) sum = times_i * swap_pairs(sum);
      (P::load(row.out + i) + w.potential * sum).store(row.out + i);
    }
  }
}

}  // namespace halocline::tddft::detail
