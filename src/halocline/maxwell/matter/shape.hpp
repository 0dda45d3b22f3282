// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Bodies: sets of points of space.
///
/// Lengths and places count from the first node of the grid. Along flat axes bodies do not end.

#include "halocline/maxwell/grid/box.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace halocline::maxwell {

class Shape {
public:
  virtual ~Shape() = default;
  virtual bool contains(const Vector3& place) const noexcept = 0;
};

/// Points with lower <= place < upper. Infinite bounds are allowed.
std::shared_ptr<const Shape> cuboid(const Vector3& lower, const Vector3& upper);
std::shared_ptr<const Shape> sphere(const Vector3& centre, double radius);
/// @param direction  of the axis, of any length but 0
/// @param length     infinite: a rod without ends
std::shared_ptr<const Shape> cylinder(const Vector3& centre, const Vector3& direction, double radius, double length);
/// The union of boxes around points of a regular lattice: point (i, j, k) lies at origin + (i, j, k) step, and its box
/// reaches half a step to all sides.
/// @param inside  one number a point, i fastest, not zero inside the body
std::shared_ptr<const Shape> voxels(const Vector3& origin, const Vector3& step, const Index3& points,
                                    std::vector<std::uint8_t> inside);
/// The body moved by a vector.
std::shared_ptr<const Shape> moved(std::shared_ptr<const Shape> body, const Vector3& by);
/// All of these throw InvalidArgument for sizes that are not positive, and for numbers of points that do not agree.

}  // namespace halocline::maxwell
