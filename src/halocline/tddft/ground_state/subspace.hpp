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

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace halocline::tddft {

/// Where the blocks of a set, or some of them, stand on this process: in one array, or the last ones in another. Does
/// not own them.
class VectorSet {
public:
  /// Blocks from number `first` on. @param block_doubles  points x 8
  VectorSet(double* blocks, std::int64_t block_doubles, std::int64_t first = 0)
      : blocks_(blocks), rest_(nullptr), block_doubles_(block_doubles), first_(first), end_(INT64_MAX) {}
  /// The first `count` blocks in one array and those behind them in another.
  VectorSet(double* blocks, std::int64_t count, double* rest, std::int64_t block_doubles)
      : blocks_(blocks), rest_(rest), block_doubles_(block_doubles), end_(count) {}

  double* block(std::int64_t b) const noexcept {
    return b < end_ ? blocks_ + (b - first_) * block_doubles_ : rest_ + (b - end_) * block_doubles_;
  }
  /// The part of the blocks [b, b + count) that stand one behind the other.
  std::int64_t together(std::int64_t b, std::int64_t count) const noexcept {
    return b < end_ ? std::min(count, end_ - b) : count;
  }
  bool operator==(const VectorSet&) const = default;

private:
  double *blocks_, *rest_;
  std::int64_t block_doubles_, first_ = 0, end_;
};

class Subspace {
public:
  /// @param guard_blocks  blocks beyond those of the states; the last process along the orbitals holds them
  Subspace(const Decomposition& decomposition, std::int64_t guard_blocks);

  int vectors() const noexcept { return vectors_; }               ///< in a set: 4 x (all blocks + guard blocks)
  std::int64_t blocks() const noexcept { return blocks_; }        ///< of a set on this process, including guards
  std::int64_t guard_blocks() const noexcept { return guards_; }  ///< on this process
  int first_vector() const noexcept { return first_vector_; }     ///< number of the first vector on this process
  std::int64_t set_doubles() const noexcept { return blocks_ * points_ * 8; }  ///< length of a set on this process

  /// Number of parts in which an eigensolver goes through a set, the same on all processes; and the blocks for which it
  /// needs memory, those of the largest part, or more where that is little memory.
  int parts() const noexcept;
  std::int64_t largest_part() const noexcept;

  /// <l|r> for each vector l of the sets `left` (rows) and r of the sets `right` (columns), one set after the other.
  /// Collective over space() and orbitals(). Cost: 8 rows x columns flops for each point; reads each set once.
  Matrix products(std::span<const double* const> left, std::span<const double* const> right) const;

  /// Blocks of a set: a range of those of each process along the orbitals, shape (processes,).
  using Selection = std::vector<Range>;
  /// Part `part` of `parts` of the blocks of each process, or from it to the last one.
  Selection selected(int part, int parts, bool to_end = false) const;
  /// The numbers of the vectors of these blocks, ascending.
  std::vector<int> numbers(const Selection& blocks) const;
  /// As above for some blocks of a set with some of another. @return shape (numbers(of_left), numbers(of_right))
  Matrix products(const VectorSet& left, const Selection& of_left, const VectorSet& right,
                  const Selection& of_right) const;

  /// out[q] = sum over all sets s and vectors of in[s] times coefficients: column (q, j) holds the coefficients of
  /// vector j of set q. An `out` may be one of `in`. Collective over orbitals().
  void combine(std::span<double* const> out, std::span<const double* const> in, const Matrix& coefficients) const;
  /// Replaces a set by combinations of itself.
  void combine(const VectorSet& set, const Matrix& coefficients) const;

private:
  struct Source;
  struct Panel;
  std::vector<Source> sources(std::span<const double* const> sets) const;
  Source source(const VectorSet& set, Selection blocks) const;
  Panel panel(std::span<const Source> sources, std::int64_t other_width) const;
  void gather(Panel& panel, std::span<const Source> sources, std::int64_t begin, std::int64_t count) const;
  void scatter(Panel& panel, std::span<const Source> sources, std::int64_t begin, std::int64_t count) const;
  Matrix products(std::span<const Source> left, std::span<const Source> right) const;
  void combine(std::span<const Source> out, std::span<const Source> in, const Matrix& coefficients) const;
  Range share_of(int part, std::int64_t begin, std::int64_t count) const;

  Decomposition decomposition_;
  std::vector<Range> parts_;  ///< blocks of each process along the orbitals, including guards
  std::int64_t points_ = 0, blocks_ = 0, guards_ = 0, widest_ = 0;
  int vectors_ = 0, first_vector_ = 0;
};

}  // namespace halocline::tddft
