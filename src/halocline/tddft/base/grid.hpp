// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The uniform grid of the real-time calculation, and the part of it that a process owns.
///
/// Axes are x y z = 0 1 2, x varies fastest in memory, lengths are in bohr. The axes of a crystal are parallel to the
/// edges of its cell: they need not be orthogonal, and then "x" is the number of an axis, not a Cartesian component.
/// The positions of the points depend on the boundary. Point i of a periodic axis is at i h, so that a translation by h
/// is a symmetry. Points of an isolated box are symmetric about its centre, the origin: (i - (N - 1)/2) h, half-integer
/// multiples of h for even N. Orbitals of an isolated box are zero beyond its last points. Its axes are orthogonal.

#include <array>
#include <cmath>
#include <cstdint>

namespace halocline::tddft {

using Vec3 = std::array<double, 3>;

constexpr double dot(const Vec3& a, const Vec3& b) noexcept { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
constexpr Vec3 cross(const Vec3& a, const Vec3& b) noexcept {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double norm(const Vec3& a) noexcept { return std::sqrt(dot(a, a)); }

/// The sum over axes of numbers times vectors.
constexpr Vec3 combined(const Vec3& numbers, const std::array<Vec3, 3>& vectors) noexcept {
  Vec3 sum{};
  for (std::size_t c = 0; c < 3; ++c)
    sum[c] = numbers[0] * vectors[0][c] + numbers[1] * vectors[1][c] + numbers[2] * vectors[2][c];
  return sum;
}

/// The three vectors b_a with b_a . v_b = 1 for a = b and 0 otherwise.
constexpr std::array<Vec3, 3> dual(const std::array<Vec3, 3>& v) noexcept {
  std::array<Vec3, 3> b{cross(v[1], v[2]), cross(v[2], v[0]), cross(v[0], v[1])};
  const double volume = dot(v[0], b[0]);
  for (Vec3& vector : b)
    for (double& component : vector) component /= volume;
  return b;
}

enum class Boundary { periodic, isolated };

/// The whole grid.
struct Grid {
  std::array<std::int64_t, 3> extent{};  ///< points along each axis
  Vec3 spacing{};                        ///< along each axis [bohr]
  Boundary boundary = Boundary::periodic;
  std::array<Vec3, 3> axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  ///< unit vectors
  /// Periodic: axes along which the crystal does not repeat, so that charges do not see their images along them
  /// (coulomb_cut.hpp). One for a slab, two for a wire; at right angles to the others.
  std::array<bool, 3> open{};

  /// Whether the axes are not x, y and z.
  bool skew() const noexcept { return axes != Grid{}.axes; }
  std::int64_t points() const noexcept { return extent[0] * extent[1] * extent[2]; }
  double length(int axis) const noexcept { return static_cast<double>(extent[at(axis)]) * spacing[at(axis)]; }
  double point_volume() const noexcept {
    return spacing[0] * spacing[1] * spacing[2] * std::abs(dot(axes[0], cross(axes[1], axes[2])));
  }
  double volume() const noexcept { return static_cast<double>(points()) * point_volume(); }
  /// The vectors from a point to the next along each axis [bohr].
  std::array<Vec3, 3> steps() const noexcept { return scaled(spacing); }
  /// The edges of the cell or box [bohr].
  std::array<Vec3, 3> edges() const noexcept { return scaled({length(0), length(1), length(2)}); }
  /// Position of point `i` of an axis, measured along that axis [bohr].
  double position(int axis, std::int64_t i) const noexcept {
    const double origin = boundary == Boundary::periodic ? 0.0 : 0.5 * static_cast<double>(extent[at(axis)] - 1);
    return (static_cast<double>(i) - origin) * spacing[at(axis)];
  }
  /// Cartesian position of a point [bohr].
  Vec3 point(const std::array<std::int64_t, 3>& i) const noexcept {
    return combined({position(0, i[0]), position(1, i[1]), position(2, i[2])}, axes);
  }

private:
  std::array<Vec3, 3> scaled(const Vec3& lengths) const noexcept {
    std::array<Vec3, 3> vectors = axes;
    for (std::size_t a = 0; a < 3; ++a)
      for (double& component : vectors[a]) component *= lengths[a];
    return vectors;
  }
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
