// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/induced_field.hpp"

#include "halocline/core/error.hpp"

#include <cmath>
#include <numbers>

namespace halocline::tddft {
namespace {

using std::numbers::pi;
using Geometry = Response::Geometry;

constexpr double speed_of_light = 137.035999177;  // [a.u.], CODATA 2022

}  // namespace

InducedField::InducedField(const Response& response, double time_step)
    : geometry_(response.geometry), time_step_(time_step) {
  if (geometry_ == Geometry::longitudinal) rate_ = 4 * pi;
  if (geometry_ == Geometry::given) transmission_ = 0;
  if (geometry_ != Geometry::film) return;
  const double both = response.front + response.behind;
  transmission_ = 2 * response.front / both;
  rate_ = 4 * pi * response.thickness / (speed_of_light * both);
}

void InducedField::give(const Vec3& next) {
  if (geometry_ != Geometry::given)
    throw core::InvalidArgument(
        "a vector potential was given for a step, but the light is not that of a solver outside");
  for (const double a : next)
    if (!std::isfinite(a)) throw core::InvalidArgument("a vector potential was given that is not finite");
  next_ = next;
  has_next_ = true;
}

void InducedField::begin_step(const Vec3& current) {
  if (geometry_ == Geometry::given && !has_next_)
    throw core::InvalidArgument(
        "a step was asked for without the vector potential at its end; give it before each step");
  has_next_ = false;
  current_ = current;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double j = current[axis], dt = time_step_;
    switch (geometry_) {
    case Geometry::transverse:
    case Geometry::given:
      break;
    case Geometry::longitudinal:
      // At the start the slope of A_ind is zero.
      next_[axis] = at_start_ ? -0.5 * rate_ * dt * dt * j : 2 * now_[axis] - before_[axis] - rate_ * dt * dt * j;
      break;
    case Geometry::film:
      next_[axis] = now_[axis] - rate_ * dt * (at_start_ ? j : 1.5 * j - 0.5 * current_before_[axis]);
      break;
    }
  }
}

void InducedField::end_step() noexcept {
  before_ = now_;
  now_ = next_;
  current_before_ = current_;
  at_start_ = false;
}

Vec3 InducedField::field(const Vec3& current) const noexcept {
  Vec3 e{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (geometry_ == Geometry::given && !at_start_) e[axis] = -(now_[axis] - before_[axis]) / time_step_;
    if (geometry_ == Geometry::film) e[axis] = rate_ * current[axis];
    // The slope half a step ago, and half a step of its change.
    if (geometry_ == Geometry::longitudinal && !at_start_)
      e[axis] = -(now_[axis] - before_[axis]) / time_step_ + 0.5 * rate_ * time_step_ * current[axis];
  }
  return e;
}

double InducedField::energy(const Vec3& current, double volume) const noexcept {
  if (geometry_ != Geometry::longitudinal) return 0;
  const Vec3 e = field(current);
  return volume * dot(e, e) / (8 * pi);
}

void InducedField::resume(const InducedRecord& record) noexcept {
  now_ = record.potential;
  before_ = record.potential_before;
  current_ = record.current;
  current_before_ = record.current_before;
  at_start_ = false;
}

}  // namespace halocline::tddft
