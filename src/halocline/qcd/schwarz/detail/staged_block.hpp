// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The clover block of a tile times its sums, in an order for CPUs with long latencies, such as A64FX.
///
/// Both 6x6 matrices go column by column. A column adds to 20 of the 24 products, real parts of its entries first and
/// imaginary parts then, so that 20 chains of multiply-adds are under way at any time; two pipelines of nine cycles
/// need
/// 18. Products stay in registers, components of the vector and entries come from the first-level cache, entries twice.
/// Each product is summed in the order of the loop over rows (tile_loop.hpp): the bits agree.

#include "halocline/core/half.hpp"
#include "halocline/core/hold.hpp"
#include "halocline/qcd/schwarz/detail/staged_hop.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::schwarz {

template <class S, class Real>
struct StagedBlock {
  static constexpr int V = core::Lanes<Real>::count;
  using C = Complex<Real>;
  using Memory = core::Stored<S, Real>;
  using L = core::Lanes<Real>;
  using Sum = typename L::Scalar;

  /// Component k of a chirality, among the 24 numbers of a spinor.
  static constexpr int place(int chirality, int k) { return 2 * (4 * (k % 3) + 2 * chirality + k / 3); }

  /// Calls finish(n, number n of the product) for all 24.
  template <class Finish>
  static HALOCLINE_INLINE void multiply(const S* block, const Sum* sum, const Finish& finish) {
    C left[6], right[6];  // products of the two chiralities
    const Vector vector(sum);
    const Block entries(block);
    [&]<int... column>(std::integer_sequence<int, column...>) __attribute__((always_inline)) {
      (add_column<column>(left, right, entries, vector), ...);
    }(std::make_integer_sequence<int, 6>{});
    asm volatile("" ::: "memory");
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
      finish(place(0, k), left[k].re);
      finish(place(0, k) + 1, left[k].im);
    }
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) {
      finish(place(1, k), right[k].re);
      finish(place(1, k) + 1, right[k].im);
    }
  }

private:
  using Vector = NearPacks<const Sum, Real, spinor_numbers>;
  using Block = NearPacks<const S, Real, block_numbers>;

  template <int column>
  static HALOCLINE_INLINE void add_column(C (&left)[6], C (&right)[6], const Block& entries, const Vector& vector) {
    // Keeps the compiler from loading ahead what then has no register.
    asm volatile("" ::: "memory");
    const C v = vector.pair(place(0, column) / 2), w = vector.pair(place(1, column) / 2);
    add_part<column, 0, 0>(left, entries, v);
    add_part<column, 0, 1>(right, entries, w);
    add_part<column, 1, 0>(left, entries, v);
    add_part<column, 1, 1>(right, entries, w);
  }

  /// The real or the imaginary part of a column's entries.
  template <int column, int part, int chirality>
  static HALOCLINE_INLINE void add_part(C (&product)[6], const Block& entries, const C& v) {
#pragma GCC unroll 6
    for (int row = 0; row < 6; ++row) {
      if (part == 1 && row == column) continue;  // the diagonal is real
      const int at = row == column  ? row
                     : row > column ? clover::below_diagonal(row, column)
                                    : clover::below_diagonal(column, row);
      const Real e = entries.load(36 * chirality + at + part);
      if (part == 0 && column == 0) {
        product[row] = e * v;
        core::hold(product[row].re);
        core::hold(product[row].im);
      } else if (part == 0) {
        product[row].re += e * v.re;
        product[row].im += e * v.im;
      } else if (row > column) {
        product[row].re -= e * v.im;
        product[row].im += e * v.re;
      } else {
        product[row].re += e * v.im;
        product[row].im -= e * v.re;
      }
    }
  }
};

}  // namespace halocline::qcd::schwarz
