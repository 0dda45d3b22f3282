// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/matter/shape.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace halocline::maxwell {

namespace {

class Cuboid final : public Shape {
public:
  Cuboid(const Vector3& lower, const Vector3& upper) : lower_(lower), upper_(upper) {}
  bool contains(const Vector3& place) const noexcept override {
    for (std::size_t a = 0; a < 3; ++a)
      if (!(place[a] >= lower_[a] && place[a] < upper_[a])) return false;
    return true;
  }

private:
  Vector3 lower_, upper_;
};

class Sphere final : public Shape {
public:
  Sphere(const Vector3& centre, double radius) : centre_(centre), square_(radius * radius) {}
  bool contains(const Vector3& place) const noexcept override {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) sum += (place[a] - centre_[a]) * (place[a] - centre_[a]);
    return sum < square_;
  }

private:
  Vector3 centre_;
  double square_;
};

class Cylinder final : public Shape {
public:
  Cylinder(const Vector3& centre, const Vector3& unit, double radius, double length)
      : centre_(centre), unit_(unit), square_(radius * radius), half_(length / 2) {}
  bool contains(const Vector3& place) const noexcept override {
    double sum = 0, along = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double away = place[a] - centre_[a];
      sum += away * away;
      along += away * unit_[a];
    }
    return sum - along * along < square_ && std::abs(along) < half_;
  }

private:
  Vector3 centre_, unit_;
  double square_, half_;
};

class Voxels final : public Shape {
public:
  Voxels(const Vector3& origin, const Vector3& step, const Index3& points, std::vector<std::uint8_t> inside)
      : origin_(origin), step_(step), points_(points), inside_(std::move(inside)) {}
  bool contains(const Vector3& place) const noexcept override {
    Index3 point{};
    for (std::size_t a = 0; a < 3; ++a) {
      const double nearest = std::floor((place[a] - origin_[a]) / step_[a] + 0.5);
      if (!(nearest >= 0 && nearest < static_cast<double>(points_[a]))) return false;
      point[a] = static_cast<std::int64_t>(nearest);
    }
    return inside_[static_cast<std::size_t>(point[0] + points_[0] * (point[1] + points_[1] * point[2]))] != 0;
  }

private:
  Vector3 origin_, step_;
  Index3 points_;
  std::vector<std::uint8_t> inside_;
};

class Moved final : public Shape {
public:
  Moved(std::shared_ptr<const Shape> body, const Vector3& by) : body_(std::move(body)), by_(by) {}
  bool contains(const Vector3& place) const noexcept override {
    return body_->contains({place[0] - by_[0], place[1] - by_[1], place[2] - by_[2]});
  }

private:
  std::shared_ptr<const Shape> body_;
  Vector3 by_;
};

void check_radius(const char* what, double radius) {
  if (!(radius > 0))
    throw core::InvalidArgument(fmt::format("a {} of radius {} was given; it must be positive", what, radius));
}

}  // namespace

std::shared_ptr<const Shape> cuboid(const Vector3& lower, const Vector3& upper) {
  for (std::size_t a = 0; a < 3; ++a)
    if (!(lower[a] < upper[a]))
      throw core::InvalidArgument(fmt::format(
          "a cuboid from {} to {} along axis {} was given; the lower bound comes first", lower[a], upper[a], a));
  return std::make_shared<Cuboid>(lower, upper);
}

std::shared_ptr<const Shape> sphere(const Vector3& centre, double radius) {
  check_radius("sphere", radius);
  return std::make_shared<Sphere>(centre, radius);
}

std::shared_ptr<const Shape> cylinder(const Vector3& centre, const Vector3& direction, double radius, double length) {
  check_radius("cylinder", radius);
  const double norm = std::hypot(direction[0], direction[1], direction[2]);
  if (!(norm > 0) || !(length > 0))
    throw core::InvalidArgument(
        fmt::format("a cylinder of length {} along ({}, {}, {}) was given; it needs a direction and a positive length",
                    length, direction[0], direction[1], direction[2]));
  return std::make_shared<Cylinder>(centre, Vector3{direction[0] / norm, direction[1] / norm, direction[2] / norm},
                                    radius, length);
}

std::shared_ptr<const Shape> voxels(const Vector3& origin, const Vector3& step, const Index3& points,
                                    std::vector<std::uint8_t> inside) {
  for (std::size_t a = 0; a < 3; ++a)
    if (!(step[a] > 0) || points[a] < 1)
      throw core::InvalidArgument(
          fmt::format("voxels of {} points at a step of {} along axis {} were given; both must be positive", points[a],
                      step[a], a));
  if (static_cast<std::int64_t>(inside.size()) != points[0] * points[1] * points[2])
    throw core::InvalidArgument(fmt::format("{} voxels were given for a lattice of {} x {} x {} points", inside.size(),
                                            points[0], points[1], points[2]));
  return std::make_shared<Voxels>(origin, step, points, std::move(inside));
}

std::shared_ptr<const Shape> moved(std::shared_ptr<const Shape> body, const Vector3& by) {
  return std::make_shared<Moved>(std::move(body), by);
}

}  // namespace halocline::maxwell
