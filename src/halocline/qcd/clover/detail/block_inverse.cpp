// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/clover/detail/block_inverse.hpp"

#include <algorithm>
#include <cmath>

// Six rows are too few for Eigen's vector code, and g++ 12 warns of uninitialised numbers in its AVX-512 form.
#define EIGEN_DONT_VECTORIZE
#include <complex>
#include <Eigen/Dense>
#include <limits>

#include "halocline/core/complex.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::clover {
namespace {

constexpr int order = 6, lanes = 8;
using Sites = core::Pack<double, lanes>;
using C = core::Complex<Sites>;

/// The lower triangle of a block at eight sites.
struct Triangle {
  Sites diagonal[order];
  C below[order][order];  ///< column < row

  C at(int row, int column) const {
    return row > column ? below[row][column] : C{below[column][row].re, -below[column][row].im};
  }
  void square_plus(double number) {
    const Triangle a = *this;
    for (int row = 0; row < order; ++row)
      for (int column = 0; column <= row; ++column) {
        C sum{Sites(0.0), Sites(0.0)};
        for (int k = 0; k < order; ++k) {
          const C left = k == row ? C{a.diagonal[k], Sites(0.0)} : a.at(row, k);
          const C right = k == column ? C{a.diagonal[k], Sites(0.0)} : a.at(k, column);
          core::multiply_add(sum, left, right);
        }
        if (row == column)
          diagonal[row] = sum.re + Sites(number);
        else
          below[row][column] = sum;
      }
  }
};

/// Moves all sites' numbers of one chirality to a triangle, or back.
template <class Move>
void for_numbers(Triangle& a, const Move& move) {
  for (int row = 0; row < order; ++row) {
    move(a.diagonal[row], row);
    for (int column = 0; column < row; ++column) {
      move(a.below[row][column].re, below_diagonal(row, column));
      move(a.below[row][column].im, below_diagonal(row, column) + 1);
    }
  }
}

/// The largest sum of moduli in a row, for each site.
void norms(double* out, const Triangle& a) {
  for (int lane = 0; lane < lanes; ++lane) {
    out[lane] = 0;
    for (int row = 0; row < order; ++row) {
      double sum = std::abs(a.diagonal[row].v[lane]);
      for (int column = 0; column < order; ++column)
        if (column != row) {
          const C entry = a.at(row, column);
          sum += std::sqrt(entry.re.v[lane] * entry.re.v[lane] + entry.im.v[lane] * entry.im.v[lane]);
        }
      // A NaN stays.
      if (!(sum <= out[lane])) out[lane] = sum;
    }
  }
}

/// A becomes A^-1. Writes the smallest modulus of a pivot for each site.
void sweep(Triangle& a, double* least) {
  std::fill_n(least, lanes, std::numeric_limits<double>::infinity());
  for (int k = 0; k < order; ++k) {
    const Sites pivot = a.diagonal[k], inverse = Sites(1.0) / pivot;
    for (int lane = 0; lane < lanes; ++lane) least[lane] = std::min(least[lane], std::abs(pivot.v[lane]));
    C column[order];
    for (int i = 0; i < order; ++i)
      if (i != k) column[i] = a.at(i, k);
    for (int i = 0; i < order; ++i) {
      if (i == k) continue;
      const C scaled{inverse * column[i].re, inverse * column[i].im};
      a.diagonal[i] -= scaled.re * column[i].re + scaled.im * column[i].im;
      for (int j = 0; j < i; ++j) {
        if (j == k) continue;
        a.below[i][j].re -= scaled.re * column[j].re + scaled.im * column[j].im;
        a.below[i][j].im -= scaled.im * column[j].re - scaled.re * column[j].im;
      }
      if (i > k)
        a.below[i][k] = scaled;
      else
        a.below[k][i] = C{scaled.re, -scaled.im};
    }
    a.diagonal[k] = -inverse;
  }
  for (int row = 0; row < order; ++row) {
    a.diagonal[row] = -a.diagonal[row];
    for (int column = 0; column < row; ++column)
      a.below[row][column] = {-a.below[row][column].re, -a.below[row][column].im};
  }
}

/// One block by LU decomposition. Returns its reciprocal condition number.
double invert_with_pivots(double* reals, std::ptrdiff_t number, std::optional<double> square) {
  using Block = Eigen::Matrix<std::complex<double>, order, order>;
  Block a;
  for (int row = 0; row < order; ++row) {
    a(row, row) = reals[row * number];
    for (int column = 0; column < row; ++column) {
      const int place = below_diagonal(row, column);
      a(row, column) = {reals[place * number], reals[(place + 1) * number]};
      a(column, row) = std::conj(a(row, column));
    }
  }
  if (square) a = (a * a + *square * Block::Identity()).eval();
  const Eigen::PartialPivLU<Block> lu(a);
  const Block inverse = lu.inverse();
  for (int row = 0; row < order; ++row) {
    reals[row * number] = inverse(row, row).real();
    for (int column = 0; column < row; ++column) {
      const int place = below_diagonal(row, column);
      reals[place * number] = inverse(row, column).real();
      reals[(place + 1) * number] = inverse(row, column).imag();
    }
  }
  return lu.rcond();
}

}  // namespace

double invert_blocks(const BlockPlaces& places, int sites, std::optional<double> square) {
  constexpr double smallest_pivot = 1e-4;
  double worst = std::numeric_limits<double>::infinity();
  for (int begin = 0; begin < sites; begin += lanes) {
    const int here = std::min(lanes, sites - begin);
    for (int chirality = 0; chirality < 2; ++chirality) {
      double* first = places.first + begin * places.site + 36 * chirality * places.number;
      Triangle a;
      for_numbers(a, [&](Sites& to, int n) {
        double numbers[lanes];
        // Lanes without a site repeat the first one.
        for (int lane = 0; lane < lanes; ++lane)
          numbers[lane] = first[(lane < here ? lane : 0) * places.site + n * places.number];
        to = Sites::load(numbers);
      });
      if (square) a.square_plus(*square);
      double before[lanes], after[lanes], pivot[lanes];
      norms(before, a);
      sweep(a, pivot);
      norms(after, a);
      std::ptrdiff_t with_pivots = 0;  // a bit for each lane
      for (int lane = 0; lane < here; ++lane) {
        const double condition = 1 / (before[lane] * after[lane]);
        // A NaN fails the comparison.
        if (pivot[lane] > smallest_pivot * before[lane] && std::isfinite(after[lane]))
          worst = std::min(worst, condition);
        else
          with_pivots |= std::ptrdiff_t{1} << lane;
      }
      for (int lane = 0; lane < here; ++lane) {
        if ((with_pivots >> lane & 1) == 0) continue;
        const double condition = invert_with_pivots(first + lane * places.site, places.number, square);
        worst = condition > 0 ? std::min(worst, condition) : std::min(worst, 0.0);
      }
      for_numbers(a, [&](const Sites& from, int n) {
        for (int lane = 0; lane < here; ++lane)
          if ((with_pivots >> lane & 1) == 0) first[lane * places.site + n * places.number] = from.v[lane];
      });
    }
  }
  return worst;
}

}  // namespace halocline::qcd::clover
