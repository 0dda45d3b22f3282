// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/bands.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "halocline/tddft/propagate/spectrum.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
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

TEST_CASE("angular momentum: a kick turns the electrons of a chiral molecule by its rotatory strengths") {
  // So few electrons that they feel nothing of each other: the sum over states is then exact.
  constexpr double electrons = 1e-7, kappa = 2e-4;
  System system = isolated(14, 1.0, std::make_shared<SoftIon>(1.0, 1.0), 1, 8);
  system.atoms = {{0, {2.0, 0, -2.4}}, {0, {0.4, 2.0, -0.8}}, {0, {-2.0, 0.2, 0.9}}, {0, {0.3, -2.0, 2.4}}};
  Model model = model_of(system, {.xc = "none", .odd_allowed = true});
  State states = model.empty_state();
  ScfOptions options;
  options.eigen_tolerance = 1e-8;
  options.max_iterations = 100;
  constexpr int known = 7;
  REQUIRE(solve_bands(model, states, std::vector<double>(states.density.size(), 0.0), known, options).converged);
  // Im <0|-r|n> <n|-L/2|0> of each axis, with plain sums.
  const Grid& grid = system.grid;
  const std::int64_t block = grid.points() * doubles_per_point;
  std::vector<double> slopes(static_cast<std::size_t>(3 * block));
  reference::slopes(grid, slopes.data(), states.orbitals.block(0, 0));
  const auto number = [](const double* of_block, std::int64_t point, int lane) {
    return Complex(of_block[point * doubles_per_point + 2 * lane], of_block[point * doubles_per_point + 2 * lane + 1]);
  };
  std::array<Vec3, known> strengths{};
  for (int n = 1; n < known; ++n) {
    std::array<Complex, 3> position{}, turning{};
    for (std::int64_t at = 0; at < grid.points(); ++at) {
      const Vec3 r{grid.position(0, at % 14), grid.position(1, at / 14 % 14), grid.position(2, at / 14 / 14)};
      const Complex zero = number(states.orbitals.block(0, 0), at, 0),
                    other = number(states.orbitals.block(0, n / 4), at, n % 4);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t next = (axis + 1) % 3, last = (axis + 2) % 3;
        const auto slope = [&](std::size_t a) {
          return number(slopes.data() + static_cast<std::int64_t>(a) * block, at, 0);
        };
        position[axis] += std::conj(zero) * r[axis] * other;
        turning[axis] += std::conj(other) * Complex(0, -1) * (r[next] * slope(last) - r[last] * slope(next));
      }
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
      strengths[static_cast<std::size_t>(n)][axis] =
          0.5 * std::pow(grid.point_volume(), 2) * (position[axis] * turning[axis]).imag();
  }

  for (std::size_t axis = 0; axis < 3; ++axis) {
    State moving = states;
    std::ranges::fill(moving.occupations, 0.0);
    moving.occupations[0] = electrons;
    Field field;
    field.gauge = Gauge::length;
    field.kick[axis] = kappa;
    Propagator run(model, moving, field, {.time_step = 0.1, .energy_every = 0, .angular_momentum = true});
    run.kick();
    const auto expected = [&](double t) {
      double turned = 0;
      for (std::size_t n = 1; n < known; ++n)
        turned += 4 * kappa * strengths[n][axis] * std::cos((states.eigenvalues[n] - states.eigenvalues[0]) * t);
      return turned;
    };
    std::vector<double> times{0.0}, turned{run.observe().angular_momentum[axis] / electrons}, by_states{expected(0)};
    for (int i = 0; i < 1500; ++i) {
      const Record record = run.step();
      times.push_back(record.time);
      turned.push_back(record.angular_momentum[axis] / electrons);
      by_states.push_back(expected(record.time));
    }
    // Below the energies of the states that were not computed.
    std::vector<double> energies;
    for (int i = 0; i <= 40; ++i) energies.push_back(0.1 + 0.005 * i);
    const std::vector<double> found = rotatory_strength(times, turned, kappa, energies),
                              wanted = rotatory_strength(times, by_states, kappa, energies);
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::abs(wanted[i]));
      apart = std::max(apart, std::abs(found[i] - wanted[i]));
    }
    CAPTURE(axis);
    CAPTURE(states.eigenvalues[known - 1] - states.eigenvalues[0]);
    CHECK(largest > 0.05);
    CHECK(apart < 0.01 * std::max(largest, 0.2));
  }
}

TEST_CASE("angular momentum: in a crystal it is refused") {
  Model model = model_of(periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 4, 3));
  State state = waves(model);
  CHECK_THROWS_AS(Propagator(model, state, Field{}, {.time_step = 0.01, .angular_momentum = true}),
                  core::InvalidArgument);
}
