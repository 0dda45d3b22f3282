// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson hopping term at one site, written once for the reference, the CPU and GPUs.
///
/// `Real` is the number type: a pack of sites on a CPU, a double in the reference, a scalar in a GPU thread. The
/// `Accessor` loads spinors and links:
///   - `HalfSpinor<Real> half<d, sign>()`: the upper two spins of (1 + sign gamma_mu) psi at the neighbour in direction
///     d; project() below computes them from any loader of spinor components;
///   - `Complex<Real> link<d>(row, column)`: U_mu(x) for d = mu, U_mu(x-mu)^dagger for d = 4 + mu, with the boundary
///     phase and the hopping coefficient c_mu in it;
///   - optionally `complete<d>(product)`: multiplies the third row of the product by a factor that link() leaves out;
///   - optionally `weigh<d>(product)`: multiplies every row of the product by a factor that link() leaves out.
///
/// Flops a site: 8 directions x (12 projection + 132 product + 24 sum), less 24 for the first sum, = 1320.
/// Reals a site read: 8 x (24 spinor + 18 links), written 24.

#include "halocline/core/complex.hpp"
#include "halocline/qcd/field/gamma.hpp"

namespace halocline::qcd::wilson {

using core::Complex;

/// Upper two spins of a projected spinor.
template <class Real>
struct HalfSpinor {
  Complex<Real> at[3][2];  // colour, spin
};
template <class Real>
struct Spinor {
  Complex<Real> at[3][4];  // colour, spin
};

/// (1 + sign gamma_mu) psi, upper two spins. `load(colour, spin)` gives a component of psi.
template <int mu, int sign, class Real, class Load>
HALOCLINE_INLINE HalfSpinor<Real> project(const Load& load) {
  constexpr int turn = sign > 0 ? 0 : 2;
  HalfSpinor<Real> h;
  HALOCLINE_UNROLLED(3)
  for (int colour = 0; colour < 3; ++colour) {
    h.at[colour][0] = load(colour, 0) + times_i_to<gamma[mu].power[0] + turn>(load(colour, gamma[mu].column[0]));
    h.at[colour][1] = load(colour, 1) + times_i_to<gamma[mu].power[1] + turn>(load(colour, gamma[mu].column[1]));
  }
  return h;
}

/// Adds one colour of the spinor phi whose upper half is chi. Its lower half follows from gamma_mu phi = sign phi.
template <int mu, int sign, bool first, class Real>
HALOCLINE_INLINE void reconstruct(Complex<Real> (&sum)[4], const Complex<Real> (&chi)[2]) {
  constexpr int turn = sign > 0 ? 0 : 2;
  const Complex<Real> lower2 = times_i_to<gamma[mu].power[2] + turn>(chi[gamma[mu].column[2]]);
  const Complex<Real> lower3 = times_i_to<gamma[mu].power[3] + turn>(chi[gamma[mu].column[3]]);
  if constexpr (first) {
    // Part by part: g++ copies a pair of packs through memory, in halves of registers.
    const Complex<Real>* const parts[4] = {&chi[0], &chi[1], &lower2, &lower3};
    HALOCLINE_UNROLLED(4)
    for (int spin = 0; spin < 4; ++spin) {
      sum[spin].re = parts[spin]->re;
      sum[spin].im = parts[spin]->im;
    }
  } else {
    sum[0] += chi[0];
    sum[1] += chi[1];
    sum[2] += lower2;
    sum[3] += lower3;
  }
}

/// Adds direction d to the sum, or with `first` makes it the sum. The product with the link is computed row by row. So
/// registers hold only a row's four chains of multiply-adds and its eight sums, beside the half spinor. Rows are
/// independent, so their chains overlap.
template <int d, int sign, bool first = d == 0, class Real, class Accessor>
HALOCLINE_INLINE void add_direction(Spinor<Real>& sum, const Accessor& accessor) {
  const HalfSpinor<Real> h = accessor.template half<d, sign>();
  HALOCLINE_UNROLLED(3)
  for (int row = 0; row < 3; ++row) {
    const Complex<Real> u = accessor.template link<d>(row, 0);
    Complex<Real> chi[2] = {u * h.at[0][0], u * h.at[0][1]};
    HALOCLINE_UNROLLED(2)
    for (int column = 1; column < 3; ++column) {
      const Complex<Real> v = accessor.template link<d>(row, column);
      core::multiply_add(chi[0], v, h.at[column][0]);
      core::multiply_add(chi[1], v, h.at[column][1]);
    }
    if constexpr (requires { accessor.template complete<d>(chi); })
      if (row == 2) accessor.template complete<d>(chi);
    if constexpr (requires { accessor.template weigh<d>(chi); }) accessor.template weigh<d>(chi);
    reconstruct<d % 4, sign, first>(sum.at[row], chi);
  }
}

/// sum_mu [(1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^dagger psi(x-mu)]; with `dagger` the signs of
/// gamma_mu are reversed, which gives the hermitian conjugate.
template <bool dagger, class Real, class Accessor>
HALOCLINE_INLINE void hop(Spinor<Real>& sum, const Accessor& accessor) {
  constexpr int forward = dagger ? 1 : -1;
  add_direction<0, forward>(sum, accessor);
  add_direction<1, forward>(sum, accessor);
  add_direction<2, forward>(sum, accessor);
  add_direction<3, forward>(sum, accessor);
  add_direction<4, -forward>(sum, accessor);
  add_direction<5, -forward>(sum, accessor);
  add_direction<6, -forward>(sum, accessor);
  add_direction<7, -forward>(sum, accessor);
}

}  // namespace halocline::qcd::wilson
