// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A site's clover block times a spinor, written once for the CPU and for GPUs.
///
/// The clover term commutes with gamma5, so in the DeGrand-Rossi basis it consists of two hermitian 6x6 matrices, one
/// for each chirality, over the index k = 3 (spin mod 2) + colour. A matrix is stored as 36 reals: the six diagonal
/// entries, then re and im of the fifteen entries below the diagonal, row by row: (1,0) (2,0) (2,1) (3,0) ...
///
/// Flops a site: 2 x (6 x 2 + 30 x 8) = 504.  Reals a site: 72 of the block, 24 read, 24 written.

#include "halocline/core/complex.hpp"
#include "halocline/qcd/site/hop.hpp"

namespace halocline::qcd::clover {

inline constexpr int block_reals = 72;

/// Index of the real part of entry (row, column), row > column, in the 36 reals of a chirality.
constexpr int below_diagonal(int row, int column) { return 6 + 2 * (row * (row - 1) / 2 + column); }

/// out = A in. `load(i)` gives real i of the 72.
template <class Real, class Load>
HALOCLINE_INLINE wilson::Spinor<Real> multiply_block(const Load& load, const wilson::Spinor<Real>& in) {
  using core::Complex;
  wilson::Spinor<Real> out;
  HALOCLINE_UNROLLED(2)
  for (int chirality = 0; chirality < 2; ++chirality) {
    const int base = 36 * chirality;
    Complex<Real> v[6];
    Complex<Real> sum[6];
    HALOCLINE_UNROLLED(6)
    for (int k = 0; k < 6; ++k) {
      v[k] = in.at[k % 3][2 * chirality + k / 3];
      const Real diagonal = load(base + k);
      sum[k] = {core::rounded_product(diagonal, v[k].re), core::rounded_product(diagonal, v[k].im)};
    }
    HALOCLINE_UNROLLED(6)
    for (int row = 1; row < 6; ++row) {
      HALOCLINE_UNROLLED(6)
      for (int column = 0; column < row; ++column) {
        const int place = base + below_diagonal(row, column);
        const Complex<Real> a{load(place), load(place + 1)};
        core::multiply_add(sum[row], a, v[column]);
        core::conj_multiply_add(sum[column], a, v[row]);
      }
    }
    HALOCLINE_UNROLLED(6)
    for (int k = 0; k < 6; ++k) out.at[k % 3][2 * chirality + k / 3] = sum[k];
  }
  return out;
}

/// Reals of two 6x6 matrices that are not hermitian: column by column, re and im, for each chirality.
inline constexpr int full_block_reals = 144;

/// Index of the real part of entry (row, column) in the 72 reals of a chirality of a full matrix.
constexpr int full_entry(int row, int column) { return 2 * (6 * column + row); }

/// out = M in, or M^dagger in, for two full matrices. `load(i)` gives real i of the 144, which are read in order.
/// Flops a site: 2 x (6 x 6 + 30 x 8) = 552.
template <bool adjoint, class Real, class Load>
HALOCLINE_INLINE wilson::Spinor<Real> multiply_full_block(const Load& load, const wilson::Spinor<Real>& in) {
  using core::Complex;
  wilson::Spinor<Real> out;
  HALOCLINE_UNROLLED(2)
  for (int chirality = 0; chirality < 2; ++chirality) {
    Complex<Real> v[6], sum[6];
    HALOCLINE_UNROLLED(6)
    for (int k = 0; k < 6; ++k) v[k] = in.at[k % 3][2 * chirality + k / 3];
    HALOCLINE_UNROLLED(6)
    for (int column = 0; column < 6; ++column) {
      HALOCLINE_UNROLLED(6)
      for (int row = 0; row < 6; ++row) {
        const int place = 72 * chirality + full_entry(row, column);
        const Complex<Real> a{load(place), load(place + 1)};
        if constexpr (adjoint) {
          if (row == 0)
            sum[column] = core::conj_times(a, v[0]);
          else
            core::conj_multiply_add(sum[column], a, v[row]);
        } else {
          if (column == 0)
            sum[row] = a * v[0];
          else
            core::multiply_add(sum[row], a, v[column]);
        }
      }
    }
    HALOCLINE_UNROLLED(6)
    for (int k = 0; k < 6; ++k) out.at[k % 3][2 * chirality + k / 3] = sum[k];
  }
  return out;
}

}  // namespace halocline::qcd::clover
