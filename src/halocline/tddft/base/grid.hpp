// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The uniform grid of the real-time calculation, and the part of it that a process owns.
///
/// Axes are x y z = 0 1 2, x varies fastest in memory, lengths are in bohr. The positions of the points depend on the
/// boundary. Point i of a periodic axis is at i h, so that a translation by h is a symmetry. Points of an isolated box
/// are symmetric about its centre, the origin: (i - (N - 1)/2) h, half-integer multiples of h for even N. Orbitals of
/// an isolated box are zero beyond its last points.

#include <array>
#include <cstdint>

namespace halocline::tddft {

using Vec3 = std::array<double, 3>;

enum class Boundary { periodic, isolated };

/// The whole grid.
struct Grid {
  std::array<std::int64_t, 3> extent{};  ///< points along each axis
  Vec3 spacing{};                        ///< [bohr]
  Boundary boundary = Boundary::periodic;

  std::int64_t points() const noexcept { return extent[0] * extent[1] * extent[2]; }
  double length(int axis) const noexcept { return static_cast<double>(extent[at(axis)]) * spacing[at(axis)]; }
  double point_volume() const noexcept { return spacing[0] * spacing[1] * spacing[2]; }
  double volume() const noexcept { return static_cast<double>(points()) * point_volume(); }
  /// Position of point `i` of an axis [bohr].
  double position(int axis, std::int64_t i) const noexcept {
    const double origin = boundary == Boundary::periodic ? 0.0 : 0.5 * static_cast<double>(extent[at(axis)] - 1);
    return (static_cast<double>(i) - origin) * spacing[at(axis)];
  }

private:
  static constexpr std::size_t at(int axis) noexcept { return static_cast<std::size_t>(axis); }
};

/// A box of grid points: the points of one process.
struct Box {
  std::array<std::int64_t, 3> offset{};  ///< first point of the box in the whole grid
  std::array<std::int64_t, 3> extent{};

  std::int64_t points() const noexcept { return extent[0] * extent[1] * extent[2]; }
  /// Index of a point given by its coordinates in the box.
  std::int64_t index(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept {
    return x + extent[0] * (y + extent[1] * z);
  }
};

/// A range of integers, [begin, end).
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const noexcept { return end - begin; }
};

/// Part `part` of `count` items distributed over `parts`: sizes as equal as possible, the first parts larger.
constexpr Range part_of(std::int64_t count, int parts, int part) noexcept {
  const std::int64_t low = count / parts, rest = count % parts;
  const std::int64_t begin = part * low + (part < rest ? part : rest);
  return {begin, begin + low + (part < rest ? 1 : 0)};
}

}  // namespace halocline::tddft
