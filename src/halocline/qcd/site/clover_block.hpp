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
      sum[k] = load(base + k) * v[k];
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

}  // namespace halocline::qcd::clover
