// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

using namespace soft;

namespace {

constexpr double h = 0.7;

/// An atom with projectors, a whole number of grid steps away from the middle.
System atom(const std::array<int, 3>& steps) {
  System system = isolated(26, h, std::make_shared<SoftIon>(2.0, 1.0, 0.8), 2, 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    system.grid.extent[axis] = 26 + 2 * std::abs(steps[axis]);
    system.atoms[0].position[axis] = h * (steps[axis] + 0.5);  // on a point
  }
  return system;
}

struct Run {
  std::vector<Record> records;
};

/// Kicked along x, under a constant field along y.
Run run_of(const System& system, Gauge gauge) {
  Model model = model_of(system);
  State state = model.empty_state();
  ScfOptions options;
  options.eigen_tolerance = 1e-7;
  REQUIRE(solve_ground_state(model, state, options).converged);
  Field field;
  field.gauge = gauge;
  field.kick = {0.05, 0, 0.02};
  field.table_times = {0, 100};
  field.table_fields = {{0, 0.01, 0}, {0, 0.01, 0}};
  Propagator run(model, state, field, {.time_step = 0.05, .energy_every = 0, .angular_momentum = true});
  run.kick();
  Run found{{run.observe()}};
  for (int i = 0; i < 160; ++i) found.records.push_back(run.step());
  return found;
}

Vec3 momentum(const System& system, const Record& record) {
  const double volume = system.grid.volume();
  return {volume * record.current[0], volume * record.current[1], volume * record.current[2]};
}

}  // namespace

TEST_CASE("angular momentum: an atom is turned by the torque of the field alone") {
  const System system = atom({0, 0, 0});
  const Run run = run_of(system, Gauge::length);
  // About the atom: the force on an electron is -E, and projectors of one atom have no torque.
  const Vec3 r = system.atoms[0].position, e{0, 0.01, 0};
  Vec3 turned{};
  double largest = 0, apart = 0;
  Vec3 first{};
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const Record& record = run.records[i];
    const Vec3 about = cross(r, momentum(system, record));
    Vec3 l{};
    for (std::size_t axis = 0; axis < 3; ++axis) l[axis] = record.angular_momentum[axis] - about[axis];
    if (i == 0) first = l;
    const auto torque = [&](const Record& at) {
      Vec3 d = at.dipole;
      for (std::size_t axis = 0; axis < 3; ++axis) d[axis] -= r[axis] * at.norm;
      const Vec3 t = cross(d, e);
      return Vec3{-t[0], -t[1], -t[2]};
    };
    if (i > 0)
      for (std::size_t axis = 0; axis < 3; ++axis)
        turned[axis] += 0.5 * 0.05 * (torque(record)[axis] + torque(run.records[i - 1])[axis]);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      largest = std::max(largest, std::abs(turned[axis]));
      apart = std::max(apart, std::abs(l[axis] - first[axis] - turned[axis]));
    }
  }
  CAPTURE(largest);
  CAPTURE(apart);
  CHECK(largest > 1e-3);
  CHECK(apart < 0.005 * largest);
}

TEST_CASE("angular momentum: away from the middle it has the motion of the whole, in both gauges") {
  const System middle = atom({0, 0, 0}), aside = atom({2, -3, 1});
  const Run one = run_of(middle, Gauge::length), other = run_of(aside, Gauge::length),
            velocity = run_of(aside, Gauge::velocity);
  const Vec3 way{2 * h, -3 * h, h};
  for (const std::size_t i : {0, 40, 160}) {
    const Vec3 expected = cross(way, momentum(middle, one.records[i]));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double there = other.records[i].angular_momentum[axis];
      CAPTURE(i);
      CHECK(std::abs(there - one.records[i].angular_momentum[axis] - expected[axis]) < 2e-3);
      CHECK(std::abs(velocity.records[i].angular_momentum[axis] - there) < 2e-3);
    }
  }
  CHECK(norm(cross(way, momentum(middle, one.records[0]))) > 0.2);
}

TEST_CASE("angular momentum: in a crystal it is refused") {
  Model model = model_of(periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 4, 3));
  State state = waves(model);
  CHECK_THROWS_AS(Propagator(model, state, Field{}, {.time_step = 0.01, .angular_momentum = true}),
                  core::InvalidArgument);
}
