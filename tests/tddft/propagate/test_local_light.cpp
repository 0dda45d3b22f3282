// SPDX-License-Identifier: Apache-2.0
// Light whose vector potential depends on the place: against closed forms of given currents, the thin film, the balance
// of energies, and itself after a restart.

#include "halocline/core/error.hpp"
#include "halocline/tddft/propagate/local_light.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/propagate/runs.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

using namespace halocline;
using namespace halocline::tddft;

namespace {

using std::numbers::pi;

constexpr double c = 137.035999177;

Field along_z(int direction = 1) {
  Field field;
  field.way = Way{2, direction};
  return field;
}

/// A cell or box with nothing in it that matters here.
System empty(const Grid& grid) {
  System system;
  system.grid = grid;
  system.species = {std::make_shared<soft::Nothing>("X", 2.0)};
  system.atoms = {{0, {0, 0, 0}}};
  system.electrons = 2;
  system.states = 1;
  return system;
}

/// A vector field along x from a function of the position.
std::vector<double> along_x(const Grid& grid, const std::function<double(const Vec3&)>& value) {
  std::vector<double> field(static_cast<std::size_t>(3 * grid.points()), 0.0);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x) field[i++] = value(grid.point({x, y, z}));
  return field;
}

double largest(std::span<const double> values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

System crystal() { return soft::periodic(std::make_shared<soft::SoftIon>(2.0, 0.9, 0.4), 4, 4, {2, 1, 1}); }

Field pulse_on(int direction = 1) {
  Field field = along_z(direction);
  field.pulses.resize(1);
  field.pulses[0] = {.amplitude = 0.05, .frequency = 0.5, .duration = 16, .centre = 8, .direction = {1, 0.5, 0}};
  return field;
}

struct Run {
  std::vector<Record> records;
  std::vector<double> potential, current;
};

Run run(const System& system, const State& start, const Field& field, const PropagateOptions& options, int steps) {
  Model model = soft::model_of(system);
  State state = start;
  Propagator propagator(model, state, field, options);
  Run result;
  result.records.push_back(propagator.observe());
  for (int i = 0; i < steps; ++i) result.records.push_back(propagator.step());
  const auto copy = [](std::span<const double> from) { return std::vector<double>(from.begin(), from.end()); };
  result.potential = copy(propagator.local_potential());
  result.current = copy(propagator.current_density());
  return result;
}

State ground(const System& system) {
  Model model = soft::model_of(system);
  return soft::converged_state(model);
}

}  // namespace

TEST_CASE("local light: planes of a given current shine in both directions, to second order in the step") {
  // A(z, t) = -2 pi/c integral dz' P(z', t - |z - z'|/c). The cell is a third of a period long.
  const Grid grid{{5, 5, 120}, {0.8, 0.8, 1.2}, Boundary::periodic};
  Model model = soft::model_of(empty(grid));
  const double omega = 2, total = 3;
  const auto profile = [](double z) { return std::exp(-std::pow((z - 50) / 12, 2)); };
  const auto integral = [&](double t) {  // of sin^3(omega t)
    if (t <= 0) return 0.0;
    const double x = std::cos(omega * t);
    return (2.0 / 3 - x + x * x * x / 3) / omega;
  };
  const auto error = [&](int steps) {
    const double dt = total / steps;
    const Field field = along_z();
    LocalLight light(model, field, dt);
    for (int i = 0; i < steps; ++i) {
      const double f = std::pow(std::sin(omega * i * dt), 3);
      light.begin_step(i * dt, along_x(grid, [&](const Vec3& r) { return f * profile(r[2]); }));
      light.end_step();
    }
    double most = 0, size = 0;
    for (std::int64_t k = 0; k < grid.extent[2]; ++k) {
      double expected = 0;
      for (std::int64_t other = 0; other < grid.extent[2]; ++other) {
        const double z = grid.position(2, other), way = std::abs(grid.position(2, k) - z);
        expected -= 2 * pi / c * grid.spacing[2] * profile(z) * integral(total - way / c);
      }
      const double found = light.now()[static_cast<std::size_t>(25 * k)];
      most = std::max(most, std::abs(found - expected));
      size = std::max(size, std::abs(expected));
    }
    const LightRecord record = light.record();
    CHECK(record.reflected[0] == light.now()[0]);
    CHECK(record.transmitted[0] == light.now()[static_cast<std::size_t>(25 * 119)]);
    return most / size;
  };
  const double coarse = error(60), fine = error(120);
  CHECK(coarse < 1e-2);
  CHECK(fine < coarse / 3.5);
}

TEST_CASE("local light: light from outside takes its time to cross the cell, in both directions") {
  const Grid grid{{5, 5, 120}, {0.8, 0.8, 1.2}, Boundary::periodic};
  Model model = soft::model_of(empty(grid));
  const std::vector<double> nothing(static_cast<std::size_t>(3 * grid.points()), 0.0);
  for (const int direction : {1, -1}) {
    const Field field = pulse_on(direction);
    LocalLight light(model, field, 0.5);
    for (int i = 0; i < 12; ++i) {
      light.begin_step(0.5 * i, nothing);
      light.end_step();
    }
    for (const std::int64_t plane : {0, 37, 119}) {
      const double way = grid.spacing[2] * static_cast<double>(direction > 0 ? plane : 119 - plane);
      CHECK(light.now()[static_cast<std::size_t>(25 * plane)] == field.smooth_potential(6 - way / c)[0]);
    }
    CHECK(light.record().incident == field.smooth_potential(6));
    CHECK(light.record().reflected == Vec3{});
  }
}

TEST_CASE("local light: the near field of a cell is that of the transverse part of the current") {
  const Grid grid{{16, 16, 16}, {0.5, 0.5, 0.5}, Boundary::periodic};
  Model model = soft::model_of(empty(grid));
  const Field field = along_z();
  const double g = 2 * pi / 8;
  // A current along x that changes along y is transverse, and one that changes along x is not.
  LocalLight light(model, field, 0.05);
  light.begin_step(0, along_x(grid, [&](const Vec3& r) { return std::cos(g * r[1]); }));
  const double expected = -4 * pi / (c * c * g * g);
  CHECK(light.next()[0] == doctest::Approx(expected).epsilon(1e-12));
  CHECK(light.next()[8 * 16] == doctest::Approx(-expected).epsilon(1e-12));
  LocalLight other(model, field, 0.05);
  other.begin_step(0, along_x(grid, [&](const Vec3& r) { return std::cos(g * r[0]); }));
  CHECK(largest(other.next()) < 1e-5 * std::abs(expected));
}

TEST_CASE("local light: between its solutions the near field goes on along a straight line") {
  const Grid grid{{8, 8, 8}, {0.5, 0.5, 0.5}, Boundary::periodic};
  Model model = soft::model_of(empty(grid));
  const Field field = along_z();
  LocalLight light(model, field, 0.5);
  std::vector<double> found;
  for (int i = 0; i < 13; ++i) {
    const double f = 2 + i;
    light.begin_step(0.5 * i, along_x(grid, [&](const Vec3& r) { return f * std::cos(0.5 * pi * r[1]); }));
    light.end_step();
    found.push_back(light.now()[0]);
  }
  // Constant until it has been solved twice; then the current of the same time, which grows steadily.
  const double one = -4 * pi / (c * c * 0.25 * pi * pi);
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == doctest::Approx(one * (i < 4 ? 2.0 : 3.0 + static_cast<double>(i))).epsilon(1e-10));
}

TEST_CASE("local light: the near field of a box is Darwin's, without divergence") {
  // Of a Gaussian current along x: by symmetry 2/3 of -V/c^2 in the middle, V = sqrt(2/pi) / s.
  const Grid grid{{30, 30, 30}, {0.5, 0.5, 0.5}, Boundary::isolated};
  Model model = soft::model_of(empty(grid));
  const Field field = along_z();
  LocalLight light(model, field, 0.05);
  const double s = 1.2, volume = std::pow(2 * pi * s * s, 1.5);
  light.begin_step(0, along_x(grid, [&](const Vec3& r) { return std::exp(-0.5 * dot(r, r) / (s * s)) / volume; }));
  const double expected = -2.0 / 3 * std::sqrt(2 / pi) / s / (c * c);
  // The middle lies between eight points, where A is lower by the curvature of V.
  const double curvature = std::pow(0.25, 2) * 3 / (6 * s * s);
  const std::size_t middle = static_cast<std::size_t>(Box{{}, grid.extent}.index(15, 15, 15));
  CHECK(light.next()[middle] == doctest::Approx(expected * (1 - curvature)).epsilon(1e-2));
  // The divergence inside of the box, where the stencil needs no point beyond it.
  core::AlignedArray<double> block(grid.points() * doubles_per_point);
  const auto points = static_cast<std::size_t>(grid.points());
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t axis = 0; axis < 3; ++axis)
      block[static_cast<std::int64_t>(doubles_per_point * i + axis)] = light.next()[axis * points + i];
  std::vector<double> divergence(points);
  model.hamiltonian().stencil().divergence(divergence, block.data(), 1);
  double most = 0;
  for (std::int64_t z = 4; z < 26; ++z)
    for (std::int64_t y = 4; y < 26; ++y)
      for (std::int64_t x = 4; x < 26; ++x)
        most = std::max(most, std::abs(divergence[static_cast<std::size_t>(Box{{}, grid.extent}.index(x, y, z))]));
  CHECK(most < 1e-4 * std::abs(expected));
}

TEST_CASE("local light: a box damps an oscillating current") {
  const Grid grid{{12, 12, 12}, {0.8, 0.8, 0.8}, Boundary::isolated};
  Model model = soft::model_of(empty(grid));
  const Field field = along_z();
  const double dt = 0.01, omega = 0.5, s = 1.2, volume = std::pow(2 * pi * s * s, 1.5);
  const std::vector<double> shape =
      along_x(grid, [&](const Vec3& r) { return std::exp(-0.5 * dot(r, r) / (s * s)) / volume; });
  const auto potential = [&](bool oscillates) {
    LocalLight light(model, field, dt);
    for (int i = 0; i < 4; ++i) {
      std::vector<double> j(shape);
      for (double& value : j) value *= oscillates ? std::sin(omega * (i + 500) * dt) : std::sin(omega * 503 * dt);
      light.begin_step(i * dt, j);
      if (i < 3) light.end_step();
    }
    return light.next()[0];
  };
  // The near field is still that of the first step.
  const double slope = omega * std::cos(omega * 502.5 * dt);
  const double near = potential(false) * std::sin(omega * 500 * dt) / std::sin(omega * 503 * dt);
  CHECK(potential(true) - near == doctest::Approx(2 * slope / (3 * c * c * c)).epsilon(2e-2));
}

TEST_CASE("local light: a cell that is thin against the wavelength reflects as a thin film") {
  const System system = crystal();
  const State start = ground(system);
  PropagateOptions options;
  options.time_step = 0.1;
  options.energy_every = 0;
  Field film = pulse_on();
  film.way.reset();
  film.response = {Response::Geometry::film, system.grid.length(2), 1, 1};
  const Run local = run(system, start, pulse_on(), options, 160), thin = run(system, start, film, options, 160);
  double most = 0, size = 0, of_mean = 0;
  for (std::size_t i = 0; i < local.records.size(); ++i) {
    const Vec3 own = thin.records[i].induced->potential;
    const LightRecord& light = *local.records[i].light;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      size = std::max(size, std::abs(own[axis]));
      most = std::max(most, std::abs(light.reflected[axis] - own[axis]));
      of_mean =
          std::max(of_mean, std::abs(local.records[i].vector_potential[axis] - thin.records[i].vector_potential[axis]));
    }
    CHECK(light.reflected[2] == 0);
  }
  // omega L / c is 0.027: reflected light comes from half of the cell, and back.
  CHECK(most < 0.04 * size);
  CHECK(size > 1e-4);
  CHECK(of_mean < 0.03 * 0.1);
}

TEST_CASE("local light: what light loses is what the electrons win") {
  const System system = crystal();
  const State start = ground(system);
  const double area = system.grid.length(0) * system.grid.length(1);
  const auto imbalance = [&](double dt, int direction) {
    PropagateOptions options;
    options.time_step = dt;
    options.energy_every = 1;
    const Run result = run(system, start, pulse_on(direction), options, static_cast<int>(std::lround(18 / dt)));
    // E at half steps from A; the light that leaves behind is later than that which arrives.
    double lost = 0;
    for (std::size_t i = 1; i < result.records.size(); ++i) {
      const LightRecord &now = *result.records[i].light, &before = *result.records[i - 1].light;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto square = [&](const Vec3& a, const Vec3& b) { return std::pow((a[axis] - b[axis]) / dt, 2); };
        lost += c / (4 * pi) * dt * area *
                (square(now.incident, before.incident) - square(now.reflected, before.reflected) -
                 square(now.transmitted, before.transmitted));
      }
    }
    const double won = result.records.back().energy.total - result.records.front().energy.total;
    CHECK(won > 1e-3);
    CHECK(std::abs(result.records.back().norm - 4) < 1e-6);
    return (lost - won) / won;
  };
  for (const int direction : {1, -1}) {
    const double coarse = imbalance(0.1, direction), fine = imbalance(0.05, direction);
    CAPTURE(coarse);
    CAPTURE(fine);
    CHECK(std::abs(coarse) < 2e-3);
    CHECK(std::abs(fine) < 0.4 * std::abs(coarse));
  }
}

TEST_CASE("local light: a molecule in light that crosses it moves as in a uniform field, up to the time of flight") {
  const System system = soft::isolated(14, 0.7, std::make_shared<soft::SoftIon>(2.0, 0.9, 0.4), 2, 1);
  const State start = ground(system);
  PropagateOptions options;
  options.time_step = 0.1;
  options.energy_every = 0;
  Field uniform = pulse_on();
  uniform.way.reset();
  const Run crossed = run(system, start, pulse_on(), options, 100), flat = run(system, start, uniform, options, 100);
  // The middle of the box is half of its length behind the face: 4.55 bohr, 0.033 a.u. of time.
  const double delay = 4.55 / c;
  double most = 0, without = 0, size = 0;
  for (std::size_t i = 1; i < flat.records.size(); ++i) {
    const double now = flat.records[i].dipole[0], slope = (now - flat.records[i - 1].dipole[0]) / 0.1;
    const double found = crossed.records[i].dipole[0];
    size = std::max(size, std::abs(now));
    without = std::max(without, std::abs(found - now));
    most = std::max(most, std::abs(found - (now - delay * slope)));
  }
  CHECK(without > 5e-3 * size);
  CHECK(most < 0.05 * without);
}

TEST_CASE("local light: it pushes electrons along its way, as a classical charge in a trap") {
  // x is driven by E, and z by the magnetic force v E / c. Electrons in a harmonic trap move as one, however they act
  // on each other.
  const double omega = 0.5;
  System system = soft::isolated(18, 0.6, std::make_shared<soft::Trap>(omega, 2.0), 2, 1);
  Model model = soft::model_of(system);
  State state = soft::converged_state(model);
  Field field = along_z();
  field.pulses = {{.amplitude = 0.06, .frequency = 0.4, .duration = 30, .centre = 15, .direction = {1, 0, 0}}};
  PropagateOptions options;
  options.time_step = 0.05;
  options.energy_every = 0;
  Propagator propagator(model, state, field, options);
  const double first = system.grid.position(2, 0);
  using Numbers = std::array<double, 4>;  // x, z and their momenta
  const auto rate = [&](double t, const Numbers& y) {
    const double then = t - (y[1] - first) / c, speed = y[2] + field.smooth_potential(then)[0];
    return Numbers{speed, y[3], -omega * omega * y[0],
                   -omega * omega * y[1] - speed * field.electric_field(then)[0] / c};
  };
  Numbers y{};
  double most = 0, size = 0, across = 0;
  for (int i = 0; i < 600; ++i) {
    const double t = i * 0.05;
    if (t > 0.1) {  // the light has arrived in the middle
      const auto at = [&](const Numbers& slope, double by) {
        Numbers moved = y;
        for (std::size_t j = 0; j < 4; ++j) moved[j] += by * slope[j];
        return moved;
      };
      const Numbers a = rate(t, y), b = rate(t + 0.025, at(a, 0.025)), d = rate(t + 0.025, at(b, 0.025)),
                    e = rate(t + 0.05, at(d, 0.05));
      for (std::size_t j = 0; j < 4; ++j) y[j] += 0.05 / 6 * (a[j] + 2 * b[j] + 2 * d[j] + e[j]);
    }
    const Record record = propagator.step();
    size = std::max(size, std::abs(y[1]));
    most = std::max(most, std::abs(record.dipole[2] / 2 - y[1]));
    across = std::max(across, std::abs(record.dipole[0] / 2 - y[0]) / 0.1);
  }
  CHECK(size > 1e-4);
  CHECK(most < 2e-3 * size);
  CHECK(across < 1.5e-2);
}

TEST_CASE("local light: a run goes on from a checkpoint with the same bits") {
  const auto check = [](const System& system, const Field& field, const PropagateOptions& options) {
    const State start = ground(system);
    const std::string file = "local_light_restart.orbitals";
    const Run straight = run(system, start, field, options, 8);
    {
      Model model = soft::model_of(system);
      State state = start;
      Propagator propagator(model, state, field, options);
      for (int i = 0; i < 4; ++i) propagator.step();
      propagator.hold_light();
      write_orbitals(file, model, state, {4, 4 * propagator.time_step(), propagator.time_step(), true, {}});
    }
    Model model = soft::model_of(system);
    State state = model.empty_state();
    read_orbitals(file, model, state);
    std::filesystem::remove(file);
    {
      State without = state;
      without.light.clear();
      Propagator propagator(model, without, field, options);
      CHECK_THROWS_AS(propagator.resume(4), core::InvalidArgument);
    }
    Propagator propagator(model, state, field, options);
    propagator.resume(4);
    Record last;
    for (int i = 0; i < 4; ++i) last = propagator.step();
    CHECK(std::ranges::equal(propagator.local_potential(), straight.potential));
    CHECK(std::ranges::equal(propagator.current_density(), straight.current));
    CHECK(last.current == straight.records.back().current);
    CHECK(last.energy.total == straight.records.back().energy.total);
    CHECK(last.light->reflected == straight.records.back().light->reflected);
  };
  PropagateOptions options;
  options.time_step = 0.1;
  options.energy_every = 1;
  check(crystal(), pulse_on(), options);
  options.scheme = "etrs";
  check(crystal(), pulse_on(-1), options);
  check(soft::isolated(10, 0.9, std::make_shared<soft::SoftIon>(2.0, 0.9, 0.4), 2, 1), pulse_on(), options);
}

TEST_CASE("local light: a model is as before after such a run") {
  const System system = crystal();
  const State start = ground(system);
  PropagateOptions options;
  options.time_step = 0.1;
  Model model = soft::model_of(system);
  {
    State state = start;
    Propagator propagator(model, state, pulse_on(), options);
    for (int i = 0; i < 3; ++i) propagator.step();
    CHECK(model.hamiltonian().local());
  }
  CHECK(!model.hamiltonian().local());
  Field uniform = pulse_on();
  uniform.way.reset();
  State state = start;
  Propagator propagator(model, state, uniform, options);
  const Record again = propagator.step();
  CHECK(again.current == run(system, start, uniform, options, 1).records.back().current);
}

TEST_CASE("local light: what it does not go with is refused") {
  const System system = crystal();
  const State start = ground(system);
  const auto refused = [&](const Field& field, const PropagateOptions& options = {}) {
    Model model = soft::model_of(system);
    State state = start;
    CHECK_THROWS_AS(Propagator(model, state, field, options), core::InvalidArgument);
  };
  Field field = pulse_on();
  field.pulses[0].direction = {1, 0, 0.1};
  refused(field);
  field = pulse_on();
  field.kick = {0.01, 0, 0};
  refused(field);
  field = pulse_on();
  field.response = {Response::Geometry::longitudinal};
  refused(field);
  field = pulse_on();
  field.way->axis = 3;
  refused(field);
  refused(pulse_on(), {.precision = "float"});
}
