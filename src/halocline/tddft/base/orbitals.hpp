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
///
/// A propagation may hold its orbitals in float. A line of 64 bytes then has eight of them, and two blocks of a channel
/// become one; all that moves lines (tiles, windows, halos) is the same for both.

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/base/decomposition.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace halocline::tddft {

inline constexpr std::size_t line_bytes = 64;
/// Numbers of a point of a block, re and im, and its orbitals; `T` is double or float.
template <class T>
inline constexpr int numbers_per_point = static_cast<int>(line_bytes / sizeof(T));
template <class T>
inline constexpr int lanes_of = numbers_per_point<T> / 2;

inline constexpr int orbital_lanes = lanes_of<double>;
inline constexpr int doubles_per_point = numbers_per_point<double>;  ///< of a block

enum class Precision { float64, float32 };
template <class T>
inline constexpr Precision precision_of = std::is_same_v<T, float> ? Precision::float32 : Precision::float64;

/// A value: copying copies all orbitals.
class Orbitals {
public:
  Orbitals() = default;
  /// Zero orbitals in double for the channels, blocks and box of this process.
  explicit Orbitals(const Decomposition& decomposition)
      : channels_(decomposition.channels().size()),
        blocks_(decomposition.blocks().size()),
        points_(decomposition.box().points()),
        doubles_(channels_ * blocks_ * block_numbers<double>()) {}

  std::int64_t channels() const noexcept {
    return channels_;
  }  ///< on this process; local channel 0 is Decomposition::channels().begin
  std::int64_t points() const noexcept { return points_; }
  /// Blocks of each channel on this process: of four orbitals, or of eight in float.
  template <class T = double>
  std::int64_t blocks() const noexcept {
    return (blocks_ * orbital_lanes + lanes_of<T> - 1) / lanes_of<T>;
  }
  template <class T = double>
  std::int64_t block_numbers() const noexcept {
    return points_ * numbers_per_point<T>;
  }
  std::int64_t block_doubles() const noexcept { return block_numbers<double>(); }

  Precision precision() const noexcept { return precision_; }
  /// Converts all orbitals in place; to float by rounding. Lanes beyond the last state are zero in both.
  /// Cost: a pass over the orbitals, and memory for both meanwhile.
  void convert(Precision to);

  /// Shape (points, 4, 2) in double, (points, 8, 2) in float. @param channel, block  local numbers
  /// @throws core::Error  the orbitals are held in the other precision; see DoubleBlocks
  template <class T = double>
  T* block(std::int64_t channel, std::int64_t block) {
    return held<T>().data() + (channel * blocks<T>() + block) * block_numbers<T>();
  }
  template <class T = double>
  const T* block(std::int64_t channel, std::int64_t block) const {
    return held<T>().data() + (channel * blocks<T>() + block) * block_numbers<T>();
  }
  /// All numbers. @throws core::Error  as block()
  std::span<double> values() { return held<double>().span(); }
  std::span<const double> values() const { return held<double>().span(); }
  /// Copies the numbers of orbitals of the same shape and precision; allocates nothing.
  void assign(const Orbitals& other) noexcept {
    std::ranges::copy(other.doubles_.span(), doubles_.span().begin());
    std::ranges::copy(other.floats_.span(), floats_.span().begin());
  }

private:
  template <class T>
  core::AlignedArray<T>& held() {
    require(precision_of<T>);
    if constexpr (std::is_same_v<T, float>)
      return floats_;
    else
      return doubles_;
  }
  template <class T>
  const core::AlignedArray<T>& held() const {
    return const_cast<Orbitals*>(this)->held<T>();
  }
  void require(Precision wanted) const {
    if (wanted != precision_)
      throw core::Error("the orbitals are held in another precision; convert them, or read them by DoubleBlocks");
  }

  std::int64_t channels_ = 0, blocks_ = 0, points_ = 0;
  Precision precision_ = Precision::float64;
  core::AlignedArray<double> doubles_;  ///< one of the two is empty
  core::AlignedArray<float> floats_;
};

/// Reads orbitals in double, in whichever precision they are held.
class DoubleBlocks {
public:
  explicit DoubleBlocks(const Orbitals& orbitals) : orbitals_(&orbitals) {}
  /// `count` consecutive blocks, shape (count, points, 4, 2); valid until the next call. Orbitals in float are
  /// converted, unless the last call was for the same blocks; those must not change meanwhile.
  const double* read(std::int64_t channel, std::int64_t first, std::int64_t count = 1);

private:
  const Orbitals* orbitals_;
  core::AlignedArray<double> converted_;
  std::int64_t channel_ = -1, first_ = -1, count_ = 0;
};

/// One block of eight orbitals in float from two of four in double, and back; the second may be missing (null).
void to_floats(float* out, const double* first, const double* second, std::int64_t points);
void to_doubles(double* first, double* second, const float* in, std::int64_t points);

}  // namespace halocline::tddft
