// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Bodies: sets of points of space.
///
/// Lengths and places count from the first node of the grid. Along flat axes bodies do not end.

#include "halocline/maxwell/grid/box.hpp"

#include <memory>

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
/// The body moved by a vector.
std::shared_ptr<const Shape> moved(std::shared_ptr<const Shape> body, const Vector3& by);
/// All of these throw InvalidArgument for sizes that are not positive.

}  // namespace halocline::maxwell
