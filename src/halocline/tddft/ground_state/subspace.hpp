// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The orbitals of a channel as the basis of a subspace: inner products between all of them, and linear combinations.
///
/// A set of vectors is an array of shape (blocks, points, 4, 2), as in Orbitals; vector 4 b + lane of the channel is
/// lane `lane` of block b. All lanes count, including those that only fill the last block of Orbitals, and blocks
/// beyond the states may follow. An eigensolver uses both as guards: vectors that it need not deliver but that speed up
/// the convergence of the others.
///
/// Runs of points are packed into panels [point][all vectors of all sets], and BLAS multiplies the panels. Threads
/// share the runs. If the vectors are divided over processes, an all-to-all within Decomposition::orbitals() gives each
/// process every vector on a share of the points. The sums go first over orbitals() and then over space(), both in rank
/// order, so that all processes of a channel hold the same bits.

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/ground_state/matrix.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace halocline::tddft {

class Subspace {
public:
  /// @param guard_blocks  blocks beyond those of the states; the last process along the orbitals holds them
  Subspace(const Decomposition& decomposition, std::int64_t guard_blocks);

  int vectors() const noexcept { return vectors_; }               ///< in a set: 4 x (all blocks + guard blocks)
  std::int64_t blocks() const noexcept { return blocks_; }        ///< of a set on this process, including guards
  std::int64_t guard_blocks() const noexcept { return guards_; }  ///< on this process
  int first_vector() const noexcept { return first_vector_; }     ///< number of the first vector on this process
  std::int64_t set_doubles() const noexcept { return blocks_ * points_ * 8; }  ///< length of a set on this process

  /// <l|r> for each vector l of the sets `left` (rows) and r of the sets `right` (columns), one set after the other.
  /// Collective over space() and orbitals(). Cost: 8 rows x columns flops for each point; reads each set once.
  Matrix products(std::span<const double* const> left, std::span<const double* const> right) const;

  /// out[q] = sum over all sets s and vectors of in[s] times coefficients: column (q, j) holds the coefficients of
  /// vector j of set q. An `out` may be one of `in`. Collective over orbitals().
  void combine(std::span<double* const> out, std::span<const double* const> in, const Matrix& coefficients) const;

private:
  struct Panel;
  Panel panel(std::size_t sets, std::size_t others) const;
  void gather(Panel& panel, std::span<const double* const> sets, std::int64_t begin, std::int64_t count) const;
  void scatter(Panel& panel, std::span<double* const> sets, std::int64_t begin, std::int64_t count) const;
  Range share_of(int part, std::int64_t begin, std::int64_t count) const;

  Decomposition decomposition_;
  std::vector<Range> parts_;  ///< blocks of each process along the orbitals, including guards
  std::int64_t points_ = 0, blocks_ = 0, guards_ = 0, widest_ = 0;
  int vectors_ = 0, first_vector_ = 0;
};

}  // namespace halocline::tddft
