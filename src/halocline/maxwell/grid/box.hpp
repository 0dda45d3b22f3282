// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Boxes of grid points, and arrays over them.
///
/// Coordinates are those of the process: point 0 is the first that it owns, ghosts have negative coordinates or lie
/// behind the last owned point. Axes are x y z = 0 1 2, x varies fastest in memory.

#include "halocline/core/aligned_array.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halocline::maxwell {

using Index3 = std::array<std::int64_t, 3>;
using Vector3 = std::array<double, 3>;

/// Converts the number of an axis or component to an index.
constexpr std::size_t at(int number) noexcept { return static_cast<std::size_t>(number); }

/// Points with lower <= point < upper on every axis; empty when an upper bound is not above its lower one.
struct Box {
  Index3 lower{};
  Index3 upper{};

  constexpr std::int64_t extent(int axis) const noexcept {
    return std::max<std::int64_t>(0, upper[at(axis)] - lower[at(axis)]);
  }
  constexpr std::int64_t points() const noexcept { return extent(0) * extent(1) * extent(2); }
  constexpr bool empty() const noexcept { return points() == 0; }
  constexpr bool contains(const Index3& point) const noexcept {
    for (std::size_t a = 0; a < 3; ++a)
      if (point[a] < lower[a] || point[a] >= upper[a]) return false;
    return true;
  }
  friend constexpr bool operator==(const Box&, const Box&) = default;
};

constexpr Box intersection(const Box& a, const Box& b) noexcept {
  Box both;
  for (std::size_t i = 0; i < 3; ++i) {
    both.lower[i] = std::max(a.lower[i], b.lower[i]);
    both.upper[i] = std::min(a.upper[i], b.upper[i]);
  }
  return both;
}

constexpr Box moved(Box box, const Index3& by) noexcept {
  for (std::size_t i = 0; i < 3; ++i) {
    box.lower[i] += by[i];
    box.upper[i] += by[i];
  }
  return box;
}

/// Numbers at the points of a box. Rows along x are padded so that x = 0 of a row lies on a 64-byte boundary where the
/// box holds it, and the rows before and after it are not touched by a vector that starts inside.
template <class T>
class BoxArray {
public:
  BoxArray() = default;
  /// Zero at first.
  explicit BoxArray(const Box& box) : box_(box) {
    if (box.empty()) return;
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t before = (std::max<std::int64_t>(0, -box.lower[0]) + line - 1) / line * line;
    row_ = (before + box.upper[0] + line - 1) / line * line;
    if (box.lower[0] > 0) row_ = (box.extent(0) + line - 1) / line * line;
    plane_ = row_ * box.extent(1) + line;  // so that planes of a power of two do not fall on the same sets of a cache
    const std::int64_t first = box.lower[0] > 0 ? -box.lower[0] : before;
    origin_ = first - box.lower[1] * row_ - box.lower[2] * plane_;
    data_ = core::AlignedArray<T>(plane_ * box.extent(2));
  }

  const Box& box() const noexcept { return box_; }
  bool empty() const noexcept { return data_.size() == 0; }

  /// Where point (0, y, z) is, or would be.
  T* row(std::int64_t y, std::int64_t z) noexcept { return data_.data() + origin_ + y * row_ + z * plane_; }
  const T* row(std::int64_t y, std::int64_t z) const noexcept { return data_.data() + origin_ + y * row_ + z * plane_; }
  T& at(std::int64_t x, std::int64_t y, std::int64_t z) noexcept { return row(y, z)[x]; }
  const T& at(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept { return row(y, z)[x]; }

  /// All numbers, with the padding.
  std::span<T> numbers() noexcept { return data_.span(); }
  std::span<const T> numbers() const noexcept { return data_.span(); }

  /// Distance in memory of neighbours along an axis.
  std::int64_t stride(int axis) const noexcept { return axis == 0 ? 1 : axis == 1 ? row_ : plane_; }

private:
  Box box_;
  std::int64_t row_ = 0, plane_ = 0, origin_ = 0;
  core::AlignedArray<T> data_;
};

}  // namespace halocline::maxwell
