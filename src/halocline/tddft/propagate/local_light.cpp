// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/local_light.hpp"

#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace halocline::tddft {
namespace {

using std::numbers::pi;

constexpr double light_speed = 137.035999177;    // [a.u.], CODATA 2022
constexpr std::size_t saved_fields = 12;         ///< in a checkpoint: A, two near fields and J, before the planes
constexpr std::int64_t steps_of_near_field = 4;  ///< from one solution to the next

/// Calls action(point of the box, place in the whole grid).
template <class Action>
void for_each_place(const Box& box, Action&& action) {
  std::size_t i = 0;
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x, ++i)
        action(i, std::array<std::int64_t, 3>{box.offset[0] + x, box.offset[1] + y, box.offset[2] + z});
}

}  // namespace

LocalLight::LocalLight(Model& model, const Field& field, double time_step)
    : model_(&model),
      field_(&field),
      way_(*field.way),
      time_step_(time_step),
      box_(model.decomposition().grid().boundary == Boundary::isolated),
      planes_(model.decomposition().grid().extent[size(way_.axis)]),
      spacing_(model.decomposition().grid().spacing[size(way_.axis)]),
      now_(3 * size(model.decomposition().box().points())),
      next_(now_.size()),
      near_(now_.size()),
      near_before_(now_.size()),
      passed_(size(planes_)),
      current_before_(size(planes_)),
      up_(size(planes_)),
      down_(size(planes_)) {
  for_each_place(model.decomposition().box(), [&](std::size_t, const std::array<std::int64_t, 3>& place) {
    plane_of_.push_back(static_cast<std::int32_t>(place[size(way_.axis)]));
  });
}

/// Time of flight from the face where light enters.
double LocalLight::delay(std::int64_t plane) const noexcept {
  return static_cast<double>(way_.direction > 0 ? plane : planes_ - 1 - plane) * spacing_ / light_speed;
}

Vec3 LocalLight::incident(double t, std::int64_t plane) const {
  const double there = t - delay(plane);
  return there > 0 ? field_->smooth_potential(there) : Vec3{};
}

/// Means of a vector field over the planes of the whole cell.
LocalLight::Line LocalLight::plane_means(std::span<const double> field) const {
  const Decomposition& decomposition = model_->decomposition();
  std::vector<double> sums(3 * size(planes_));
  for (std::size_t i = 0; i < points(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) sums[3 * size(plane_of_[i]) + axis] += field[axis * points() + i];
  decomposition.space().sum(sums);
  const double share = static_cast<double>(planes_) / static_cast<double>(decomposition.grid().points());
  Line means(size(planes_));
  for (std::size_t plane = 0; plane < means.size(); ++plane)
    for (std::size_t axis = 0; axis < 3; ++axis) means[plane][axis] = share * sums[3 * plane + axis];
  return means;
}

/// Takes the light of the planes one step further. Towards larger coordinates, U_i(t) = P_i(t) + U_(i-1)(t - h/c) is
/// what leaves plane i, and up_[i] what arrives there.
void LocalLight::advance_planes(const Line& current) {
  const double steps = spacing_ / (light_speed * time_step_), pass = (1 - steps) / (1 + steps);
  Line before = passed_;
  for (std::size_t i = 0; i < passed_.size(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double j = current[i][axis], earlier = current_before_[i][axis];
      passed_[i][axis] += time_step_ * (at_start_ ? j : 1.5 * j - 0.5 * earlier);
    }
  const auto sweep = [&](Line& arrives, auto plane) {
    Vec3 leaves_before{}, leaves{};  // the plane that was last done, before and after this step
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      const std::size_t p = plane(i);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double old = arrives[p][axis];
        if (i > 0) arrives[p][axis] = pass * leaves[axis] + leaves_before[axis] - pass * old;
        leaves_before[axis] = before[p][axis] + old;
        leaves[axis] = passed_[p][axis] + arrives[p][axis];
      }
    }
  };
  sweep(up_, [](std::size_t i) { return i; });
  sweep(down_, [this](std::size_t i) { return passed_.size() - 1 - i; });
  current_before_ = current;
}

/// A of the light of all planes, on one of them.
Vec3 LocalLight::of_planes(std::int64_t plane) const {
  Vec3 a{};
  const std::size_t p = size(plane);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (axis != size(way_.axis))
      a[axis] = -2 * pi * spacing_ / light_speed * (passed_[p][axis] + up_[p][axis] + down_[p][axis]);
  return a;
}

std::vector<double> LocalLight::divergence(std::span<const double> vectors) {
  double* block = model_->scratch(static_cast<std::int64_t>(points()) * doubles_per_point);
  for (std::size_t i = 0; i < points(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) block[doubles_per_point * i + axis] = vectors[axis * points() + i];
  std::vector<double> result(points());
  model_->hamiltonian().stencil().divergence(result, block, 1);
  return result;
}

std::vector<double> LocalLight::near_field_of_cell(std::vector<double> rest) {
  Hartree& hartree = model_->hartree();
  std::vector<double> potential(points()), gradients(3 * points());
  hartree.solve(potential, divergence(rest));
  double* block = model_->scratch(static_cast<std::int64_t>(points()) * doubles_per_point);
  for (std::size_t i = 0; i < points(); ++i) block[doubles_per_point * i] = potential[i];
  model_->hamiltonian().stencil().gradient(gradients, block, 1);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] += gradients[i] / (4 * pi);
  std::vector<double> near(rest.size());
  for (std::size_t axis = 0; axis < 3; ++axis)
    hartree.solve(std::span(near).subspan(axis * points(), points()),
                  std::span<const double>(rest).subspan(axis * points(), points()));
  for (double& a : near) a *= -1 / (light_speed * light_speed);
  return near;
}

std::vector<double> LocalLight::near_field_of_box(std::span<const double> current) {
  const Decomposition& decomposition = model_->decomposition();
  Hartree& hartree = model_->hartree();
  const std::vector<double> sources = divergence(current);
  std::vector<double> potential(points()), moment(points()), near(3 * points());
  hartree.solve(potential, sources);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto position = [&](const std::array<std::int64_t, 3>& place) {
      return decomposition.grid().position(static_cast<int>(axis), place[axis]);
    };
    for_each_place(decomposition.box(), [&](std::size_t i, const std::array<std::int64_t, 3>& place) {
      moment[i] = current[axis * points() + i] + 0.5 * position(place) * sources[i];
    });
    const std::span<double> out = std::span(near).subspan(axis * points(), points());
    hartree.solve(out, moment);
    for_each_place(decomposition.box(), [&](std::size_t i, const std::array<std::int64_t, 3>& place) {
      out[i] = -(out[i] - 0.5 * position(place) * potential[i]) / (light_speed * light_speed);
    });
  }
  return near;
}

std::vector<double> LocalLight::near_field(std::span<const double> current, const Line& means) {
  if (box_) return near_field_of_box(current);
  std::vector<double> rest(current.begin(), current.end());
  for (std::size_t i = 0; i < points(); ++i) {
    const Vec3& mean = means[size(plane_of_[i])];
    for (std::size_t axis = 0; axis < 3; ++axis) rest[axis * points() + i] -= mean[axis];
  }
  return near_field_of_cell(std::move(rest));
}

void LocalLight::begin_step(double t, std::span<const double> current) {
  const core::Region region("tddft/light");
  assert(current.size() == now_.size());
  time_ = t;
  const Line means = plane_means(current);
  const std::int64_t ago = std::llround(t / time_step_) % steps_of_near_field;  // steps since its last solution
  if (ago == 0) {
    std::swap(near_before_, near_);
    near_ = near_field(current, means);
    if (!near_known_) near_before_ = near_;
    near_known_ = true;
  }
  if (box_) {
    Vec3 total{};
    const double volume = model_->decomposition().grid().volume();
    for (const Vec3& mean : means)
      for (std::size_t axis = 0; axis < 3; ++axis) total[axis] += mean[axis] * volume / static_cast<double>(planes_);
    const double factor = 2 / (3 * light_speed * light_speed * light_speed * time_step_);
    for (std::size_t axis = 0; axis < 3; ++axis)
      damping_[axis] = at_start_ ? 0.0 : factor * (total[axis] - total_before_[axis]);
    total_before_ = total;
  } else {
    advance_planes(means);
  }
  Line of_light(size(planes_));
  for (std::int64_t plane = 0; plane < planes_; ++plane) {
    const Vec3 from_outside = incident(t + time_step_, plane), own = box_ ? damping_ : of_planes(plane);
    for (std::size_t axis = 0; axis < 3; ++axis) of_light[size(plane)][axis] = from_outside[axis] + own[axis];
  }
  const double onward = static_cast<double>(ago + 1) / steps_of_near_field;
  for (std::size_t i = 0; i < points(); ++i) {
    const Vec3& light = of_light[size(plane_of_[i])];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t place = axis * points() + i;
      next_[place] = light[axis] + near_[place] + onward * (near_[place] - near_before_[place]);
    }
  }
}

void LocalLight::end_step() {
  std::swap(now_, next_);
  time_ += time_step_;
  at_start_ = false;
}

LightRecord LocalLight::record() const {
  LightRecord record;
  const std::int64_t first = way_.direction > 0 ? 0 : planes_ - 1, last = planes_ - 1 - first;
  record.incident = incident(time_, first);
  record.transmitted = incident(time_, last);
  if (!box_) {
    record.reflected = of_planes(first);
    const Vec3 own = of_planes(last);
    for (std::size_t axis = 0; axis < 3; ++axis) record.transmitted[axis] += own[axis];
  }
  const Line means = plane_means(now_);
  for (const Vec3& mean : means)
    for (std::size_t axis = 0; axis < 3; ++axis) record.mean[axis] += mean[axis] / static_cast<double>(planes_);
  for (const double a : near_) record.near_field = std::max(record.near_field, std::abs(a));
  model_->decomposition().space().max(std::span(&record.near_field, 1));
  return record;
}

std::vector<double> LocalLight::saved(std::span<const double> current) const {
  std::vector<double> meshes;
  meshes.reserve(size(light_meshes) * points());
  for (const std::span<const double> field :
       {std::span<const double>(now_), std::span<const double>(near_), std::span<const double>(near_before_), current})
    meshes.insert(meshes.end(), field.begin(), field.end());
  // In a box the second line holds the integral of J.
  Line totals(size(planes_), total_before_);
  for (const Line* line : {&passed_, box_ ? &totals : &current_before_, &up_, &down_})
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t i = 0; i < points(); ++i) meshes.push_back((*line)[size(plane_of_[i])][axis]);
  return meshes;
}

std::vector<double> LocalLight::restore(double t, std::span<const double> saved) {
  assert(saved.size() == size(light_meshes) * points());
  const auto field = [&](std::size_t number) { return saved.subspan(3 * number * points(), 3 * points()); };
  std::ranges::copy(field(0), now_.begin());
  std::ranges::copy(field(1), near_.begin());
  std::ranges::copy(field(2), near_before_.begin());
  std::vector<double> current(field(3).begin(), field(3).end());
  // One process of each plane gives its numbers.
  const Decomposition& decomposition = model_->decomposition();
  const Box& box = decomposition.box();
  bool gives = true;
  for (std::size_t axis = 0; axis < 3; ++axis) gives = gives && (axis == size(way_.axis) || box.offset[axis] == 0);
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis < size(way_.axis); ++axis) stride *= box.extent[axis];
  Line totals(size(planes_));
  Line* lines[] = {&passed_, box_ ? &totals : &current_before_, &up_, &down_};
  for (std::size_t number = 0; number < 4; ++number) {
    std::vector<double> values(3 * size(planes_));
    const std::span<const double> given = saved.subspan((saved_fields + 3 * number) * points(), 3 * points());
    for (std::int64_t i = 0; gives && i < box.extent[size(way_.axis)]; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis)
        values[3 * size(box.offset[size(way_.axis)] + i) + axis] = given[axis * points() + size(i * stride)];
    decomposition.space().sum(values);
    for (std::size_t plane = 0; plane < size(planes_); ++plane)
      for (std::size_t axis = 0; axis < 3; ++axis) (*lines[number])[plane][axis] = values[3 * plane + axis];
  }
  total_before_ = totals.front();
  time_ = t;
  at_start_ = false;
  near_known_ = true;
  return current;
}

}  // namespace halocline::tddft
