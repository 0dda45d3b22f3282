// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The factorization w = q c of a block of vectors into orthonormal columns q and a small matrix c.
///
/// Cholesky factorization of the Gram matrix (Cholesky-QR), repeated, as one round loses the squared condition number:
/// Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, ETNA 44 (2015) 306. A block of well-conditioned columns takes one
/// round, a less well-conditioned one two. Two changes make it work on any block:
/// - Pivots are taken in the order of their size, so the rank shows. Columns that the Gram matrix cannot tell from
///   combinations of the pivots wait. Once the pivots' columns are orthonormal, the components along them are
///   subtracted from the waiting columns, and the next round sees what is left with its full accuracy.
/// - A direction that is rounding error is dropped: q then has less columns than w, followed by columns of zeros. The
///   products w = q c lose vectors of that size. Solvers verify true residuals at the end, and find the loss.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "halocline/solve/block_space.hpp"
#include "halocline/solve/detail/block_matrix.hpp"
#include "halocline/solve/detail/monitor.hpp"

namespace halocline::solve::detail {

/// Collective.
template <BlockVectorSpace Space>
BlockMatrix gram(Space& space, const typename Space::Vector& x, const typename Space::Vector& y) {
  BlockMatrix out(static_cast<std::size_t>(space.columns()));
  space.gram(out.entries(), x, y);
  return out;
}

/// x = x m
template <BlockVectorSpace Space>
void multiply_in_place(Space& space, typename Space::Vector& x, const BlockMatrix& m, typename Space::Vector& work) {
  multiply(space, work, x, m.entries());
  std::swap(x, work);
}

/// y = q + y m
template <BlockVectorSpace Space>
void multiply_and_add(Space& space, typename Space::Vector& y, const BlockMatrix& m, const typename Space::Vector& q,
                      typename Space::Vector& work) {
  space.copy(work, q);
  space.multiply_add(work, y, m.entries());
  std::swap(y, work);
}

struct OrthonormalColumns {
  BlockMatrix factor;    ///< c; NaN if w has NaN or infinity
  std::size_t rank = 0;  ///< so many columns of q are not zero: the first ones
};

/// Replaces w by q. The columns of w have the size one or carry rounding errors of vectors of that size: a direction is
/// dropped below 100 epsilon (1 + the largest column). The companion, if any, is transformed alike. Collective.
/// @param work  overwritten
/// Cost: a Gram matrix and a product with a small matrix in each round.
template <BlockVectorSpace Space>
OrthonormalColumns orthonormalise(Space& space, typename Space::Vector& w, typename Space::Vector& work,
                                  typename Space::Vector* companion = nullptr) {
  constexpr int most_rounds = 8;
  const auto n = static_cast<std::size_t>(space.columns());
  OrthonormalColumns out{BlockMatrix::identity(n, n), 0};
  double least = 0.0;
  for (int i = 0; i < most_rounds; ++i) {
    const BlockMatrix products = gram(space, w, w);
    if (!finite(products)) return {Scalar(std::nan("")) * BlockMatrix::identity(n, n), 0};
    if (i == 0) {
      double largest2 = 0.0;
      for (std::size_t j = 0; j < n; ++j) largest2 = std::max(largest2, products(j, j).real());
      least = 100.0 * space.epsilon() * (1.0 + std::sqrt(largest2));
    }
    const OrthonormalRound round = orthonormal_round(products, out.rank, least);
    multiply_in_place(space, w, round.transform, work);
    if (companion) multiply_in_place(space, *companion, round.transform, work);
    out.factor = round.factor * out.factor;
    out.rank = round.rank;
    if (round.accurate && round.open == 0) return out;
  }
  // Columns that still wait are dropped. Most blocks take one to four rounds.
  const BlockMatrix kept = BlockMatrix::identity(n, out.rank);
  multiply_in_place(space, w, kept, work);
  if (companion) multiply_in_place(space, *companion, kept, work);
  out.factor = kept * out.factor;
  return out;
}

/// Begins a cycle of a block solver: the factorization w = q c, restricted to the active columns. In the other columns
/// c is zero, and NaN there does no harm. Columns of w are scaled to one first, so columns of any size count alike. A
/// column of zeros, which leads nowhere, is paused as a breakdown. Collective.
template <BlockVectorSpace Space>
OrthonormalColumns begin_block(Space& space, Monitor& monitor, typename Space::Vector& w, typename Space::Vector& work,
                               typename Space::Vector* companion = nullptr) {
  const auto n = static_cast<std::size_t>(space.columns());
  const BlockMatrix products = gram(space, w, w);
  BlockMatrix down(n), up(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double norm = std::sqrt(products(j, j).real());
    if (monitor.active(j) && !std::isfinite(norm)) monitor.pause(j, Reason::not_finite);
    if (monitor.active(j) && norm == 0.0) monitor.pause(j, Reason::breakdown);
    if (!monitor.active(j)) continue;
    down(j, j) = 1.0 / norm;
    up(j, j) = norm;
  }
  multiply_in_place(space, w, down, work);
  if (companion) multiply_in_place(space, *companion, down, work);
  OrthonormalColumns out = orthonormalise(space, w, work, companion);
  out.factor = out.factor * up;
  return out;
}

/// Sets the columns to zero that are no longer active, so that their solutions stay as they are.
inline void keep_active(BlockMatrix& c, const Monitor& monitor) {
  for (std::size_t j = 0; j < c.size(); ++j)
    for (std::size_t i = 0; !monitor.active(j) && i < c.size(); ++i) c(i, j) = 0.0;
}

/// The whole block ends its cycle.
inline void pause_all(Monitor& monitor, std::size_t columns, Reason cause) {
  for (std::size_t j = 0; j < columns; ++j) monitor.pause(j, cause);
}

}  // namespace halocline::solve::detail
