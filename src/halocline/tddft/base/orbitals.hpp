// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The orbitals of a process.
///
/// Four orbitals of one channel lie together at each point: [channel][block][z][y][x][4 orbitals][re, im]. A point of a
/// block is therefore one cache line and one 512-bit register. Neighbours in x, y and z are loads of whole registers at
/// fixed distances: no lane moves, four orbitals share the potential and every index, and the product with i (the
/// gradient term) swaps pairs inside the register. If the number of states is not a multiple of four, the last lanes
/// are zero; they stay zero under every linear operation. There are no ghost points: see stencil/halo_rows.hpp.

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/decomposition.hpp"

#include <cstdint>
#include <span>

namespace halocline::tddft {

inline constexpr int orbital_lanes = 4;
inline constexpr int doubles_per_point = 2 * orbital_lanes;  ///< of a block

/// A value: copying copies all orbitals.
class Orbitals {
public:
  Orbitals() = default;
  /// Zero orbitals for the channels, blocks and box of this process.
  explicit Orbitals(const Decomposition& decomposition)
      : channels_(decomposition.channels().size()),
        blocks_(decomposition.blocks().size()),
        points_(decomposition.box().points()),
        values_(channels_ * blocks_ * points_ * doubles_per_point) {}

  std::int64_t channels() const noexcept {
    return channels_;
  }  ///< on this process; local channel 0 is Decomposition::channels().begin
  std::int64_t blocks() const noexcept { return blocks_; }  ///< blocks of each channel on this process
  std::int64_t points() const noexcept { return points_; }
  std::int64_t block_doubles() const noexcept { return points_ * doubles_per_point; }

  /// Shape (points, 4, 2). @param channel, block  local numbers
  double* block(std::int64_t channel, std::int64_t block) noexcept {
    return values_.data() + (channel * blocks_ + block) * block_doubles();
  }
  const double* block(std::int64_t channel, std::int64_t block) const noexcept {
    return values_.data() + (channel * blocks_ + block) * block_doubles();
  }
  std::span<double> values() noexcept { return values_.span(); }
  std::span<const double> values() const noexcept { return values_.span(); }

private:
  std::int64_t channels_ = 0, blocks_ = 0, points_ = 0;
  core::AlignedArray<double> values_;
};

}  // namespace halocline::tddft
