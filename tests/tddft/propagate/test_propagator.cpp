// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/propagator.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/propagate/observables.hpp"
#include "halocline/tddft/propagate/populations.hpp"
#include "halocline/tddft/propagate/spectrum.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

using namespace soft;

namespace {

Field kick(const Vec3& momentum, Gauge gauge = Gauge::velocity) {
  Field field;
  field.kick = momentum;
  field.gauge = gauge;
  return field;
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

double length(const Vec3& v) { return std::hypot(v[0], v[1], v[2]); }
Vec3 difference(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// What the stencil makes of exp(i theta n): d/dx gives i first, -d2/dx2 gives second.
struct Symbol {
  double first, second;
  Symbol(double theta, double h) {
    const std::array<double, 4> n{4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280},
        l{8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
    first = 0;
    second = 205.0 / 72;
    for (std::size_t j = 0; j < 4; ++j) {
      first += 2 * n[j] * std::sin(static_cast<double>(j + 1) * theta) / h;
      second -= 2 * l[j] * std::cos(static_cast<double>(j + 1) * theta);
    }
    second /= h * h;
  }
};

constexpr std::array<std::array<int, 3>, 4> directions{{{0, 0, 0}, {1, 0, 0}, {0, -2, 0}, {0, 1, 1}}};

/// One plane wave a state in a cell without potential, where nothing but its phase can change.
struct FreeElectrons {
  Model model = model_of(periodic(std::make_shared<Nothing>("Nothing", 4.0), 8, 4, {2, 1, 1}), {.xc = "none"});
  State state = state_of(model, [this](std::int64_t, int number, double x, double y, double z) {
    const Grid& grid = model.system().grid;
    const auto& g = directions[static_cast<std::size_t>(number)];
    return std::polar(1 / std::sqrt(grid.volume()),
                      2 * std::numbers::pi *
                          (g[0] * x / grid.length(0) + g[1] * y / grid.length(1) + g[2] * z / grid.length(2)));
  });

  /// Energy and velocity of a state with the vector potential a.
  std::pair<double, Vec3> motion(std::int64_t channel, int number, const Vec3& a) const {
    const Grid& grid = model.system().grid;
    double energy = 0;
    Vec3 velocity{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double q = model.system().channels[static_cast<std::size_t>(channel)].k[axis] + a[axis];
      const Symbol symbol(2 * std::numbers::pi * directions[static_cast<std::size_t>(number)][axis] /
                              static_cast<double>(grid.extent[axis]),
                          grid.spacing[axis]);
      energy += 0.5 * q * q + q * symbol.first + 0.5 * symbol.second;
      velocity[axis] = q + symbol.first;
    }
    return {energy, velocity};
  }
};

}  // namespace

TEST_CASE("propagator: a free electron turns its phase by the Taylor series of exp(-i E dt)") {
  for (const std::string scheme : {"midpoint", "taylor4", "etrs"}) {
    FreeElectrons free;
    const State start = free.state;
    const Vec3 a{0.05, -0.02, 0.08};
    const int steps = 20;
    Propagator run(free.model, free.state, kick(a), {.time_step = 0.1, .scheme = scheme, .energy_every = 0});
    Record record;
    for (int i = 0; i < steps; ++i) record = run.step();
    Vec3 current{};
    double worst = 0;
    for (std::int64_t c = 0; c < 2; ++c)
      for (int lane = 0; lane < 4; ++lane) {
        const auto [energy, velocity] = free.motion(c, lane, a);
        const double step = scheme == "etrs" ? 0.05 : 0.1;
        const Complex z(0, -energy * step);
        const Complex factor = std::pow(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))),
                                        scheme == "etrs" ? 2 * steps : steps);
        for (std::size_t axis = 0; axis < 3; ++axis)
          current[axis] += std::norm(factor) * velocity[axis] / free.model.system().grid.volume();
        for (std::int64_t p = 0; p < free.state.orbitals.points(); ++p) {
          const double* before = start.orbitals.block(c, 0) + p * doubles_per_point + 2 * lane;
          const double* after = free.state.orbitals.block(c, 0) + p * doubles_per_point + 2 * lane;
          worst = std::max(worst, std::abs(factor * Complex(before[0], before[1]) - Complex(after[0], after[1])));
        }
      }
    // Twenty steps of a few hundred rounded operations on numbers of 0.05.
    CHECK(worst < 1e-14);
    CHECK(length(difference(record.current, current)) < 1e-14);
    CHECK(record.vector_potential == a);
    CHECK(record.time == doctest::Approx(2.0));
  }
}

TEST_CASE("propagator: a kicked uniform gas carries n A for ever") {
  Model model = model_of(periodic(std::make_shared<Nothing>("Nothing", 1.0), 2, 1));
  const double volume = model.system().grid.volume();
  State state =
      state_of(model, [&](std::int64_t, int, double, double, double) { return Complex(1 / std::sqrt(volume)); });
  const Vec3 a{0.01, 0.02, -0.03};
  Propagator run(model, state, kick(a), {.energy_every = 1});
  run.kick();
  const Record start = run.observe();
  for (int i = 0; i < 5; ++i) {
    const Record record = run.step();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      CHECK(record.current[axis] == doctest::Approx(2 / volume * a[axis]).epsilon(1e-9));
      CHECK(record.current[axis] == doctest::Approx(start.current[axis]).epsilon(1e-9));
    }
    CHECK(record.norm == doctest::Approx(2).epsilon(1e-9));
    CHECK(record.dipole == Vec3{});
    CHECK(record.energy.kinetic == doctest::Approx(0.0014).epsilon(1e-9));
  }
}

TEST_CASE("propagator: electrons in a trap swing as one, whatever they do to each other (Kohn)") {
  const double omega = 0.25;
  Model model = model_of(isolated(16, 1.0, std::make_shared<Trap>(omega, 2), 2, 1));
  // Wider than the trap's own state, about as wide as their repulsion makes them, so that they hardly breathe.
  State state = oscillator(model, 0.18);
  const Vec3 momentum{0.02, 0.01, -0.03};
  // Not by taylor4: its potential is that of the step's beginning, which lags behind the electrons and pushes them.
  Propagator run(model, state, kick(momentum, Gauge::length), {.time_step = 0.1, .energy_every = 0});
  std::vector<double> times{0}, dipole{0};
  double worst = 0;
  for (int i = 1; i <= 500; ++i) {
    const Record record = run.step();
    for (std::size_t axis = 0; axis < 3; ++axis)
      worst =
          std::max(worst, std::abs(record.dipole[axis] - 2 * momentum[axis] / omega * std::sin(omega * record.time)));
    times.push_back(record.time);
    dipole.push_back(record.dipole[2]);
  }
  CHECK(worst < 5e-4 * 0.24);  // of the amplitude: the step squared, and what the stencil does to their inertia
  std::vector<double> energies;
  for (double e = 0; e < 3; e += 0.005) energies.push_back(e);
  const auto s = strength(energies, polarisability(times, dipole, momentum[2], energies));
  CHECK(sum_rule(energies, s) == doctest::Approx(2).epsilon(0.01));
}

TEST_CASE("propagator: length and velocity gauge see the same electrons") {
  const double omega = 0.25;
  Field field;
  field.kick = {0.01, 0.02, 0};
  field.pulses.resize(1);
  field.pulses[0] = {.shape = "gaussian",
                     .amplitude = 0.02,
                     .frequency = 0.4,
                     .duration = 6,
                     .centre = 8,
                     .phase = 0.3,
                     .direction = {1, 0, 2}};
  std::array<std::vector<Vec3>, 2> dipole, current;
  std::array<double, 2> excited{};
  for (const Gauge gauge : {Gauge::length, Gauge::velocity}) {
    const auto at = static_cast<std::size_t>(gauge == Gauge::velocity);
    Model model = model_of(isolated(16, 1.0, std::make_shared<Trap>(omega, 2), 2, 1));
    State state = oscillator(model, omega);
    const State ground = state;
    field.gauge = gauge;
    Propagator run(model, state, field, {.time_step = 0.05, .energy_every = 0});
    for (int i = 0; i < 300; ++i) {
      const Record record = run.step();
      dipole[at].push_back(record.dipole);
      current[at].push_back(record.current);
      if (i == 150) excited[at] = 2 - populations(model, state, model, ground.orbitals, 1, record.vector_potential)[0];
    }
  }
  double largest = 0, apart = 0, largest_current = 0, current_apart = 0;
  for (std::size_t i = 0; i < dipole[0].size(); ++i) {
    largest = std::max(largest, length(dipole[0][i]));
    apart = std::max(apart, length(difference(dipole[0][i], dipole[1][i])));
    largest_current = std::max(largest_current, length(current[0][i]));
    current_apart = std::max(current_apart, length(difference(current[0][i], current[1][i])));
  }
  CHECK(largest > 0.2);
  CHECK(apart < 1e-4 * largest);
  CHECK(current_apart < 5e-4 * largest_current);  // second order of the step: (0.4 x 0.05)^2
  CHECK(excited[0] > 0.01);
  CHECK(std::abs(excited[0] - excited[1]) < 1e-4);
}

TEST_CASE("propagator: after the kick the energy stays, with projectors, in every scheme") {
  for (const auto& [scheme, xc] : std::vector<std::pair<std::string, std::string>>{
           {"midpoint", "pz"}, {"taylor4", "pz"}, {"etrs", "pz"}, {"midpoint", "pbe"}, {"etrs", "pbe"}}) {
    Model model = model_of(periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 4, 3, {2, 1, 1}), {.xc = xc});
    State state = waves(model);
    Propagator run(model, state, kick({0.01, 0, 0.03}),
                   {.time_step = 0.01,
                    .scheme = scheme,
                    .energy_every = 1,
                    .exponential_tolerance = scheme == "etrs" ? 1e-12 : 0.0});
    run.kick();
    const double start = run.observe().energy.total;
    double worst = 0;
    for (int i = 0; i < 50; ++i) worst = std::max(worst, std::abs(run.step().energy.total - start));
    CAPTURE(scheme);
    CAPTURE(xc);
    CHECK(worst < (scheme == "taylor4" ? 1e-5 : 1e-6));
  }
}

TEST_CASE("propagator: the rate of the energy is minus the field times the current") {
  // dE/dt = dH/dt by A alone = V J . dA/dt, which holds only if the current has every part of dH/dA, projectors
  // included.
  for (const auto& axes : {Grid{}.axes, tddft::test::axes_of(tddft::test::Lattice::face_centred)}) {
    System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 4, 3, {2, 1, 1});
    system.grid.axes = axes;
    system.channels = monkhorst_pack(system.grid, {2, 1, 1});
    Model model = model_of(system);
    State state = waves(model);
    Field field;
    field.table_times = {0, 100};
    field.table_fields = {{0.01, -0.02, 0.03}, {0.01, -0.02, 0.03}};
    const double dt = 0.02;
    Propagator run(model, state, field,
                   {.time_step = dt, .scheme = "etrs", .energy_every = 1, .exponential_tolerance = 1e-13});
    Record before = run.observe();
    double work = 0, gained = 0, largest = 0;
    for (int i = 0; i < 40; ++i) {
      const Record after = run.step();
      double power = 0;
      for (std::size_t axis = 0; axis < 3; ++axis)
        power -= 0.5 * (before.current[axis] + after.current[axis]) * field.table_fields[0][axis];
      work += power * dt * model.system().grid.volume();
      gained += after.energy.total - before.energy.total;
      largest = std::max(largest, std::abs(work));
      before = after;
    }
    CHECK(largest > 1e-3);
    // The current's stencil is of order 8 as the Hamiltonian's, so the two differ by nothing but the step.
    CHECK(std::abs(work - gained) < 1e-3 * largest);
  }
}

TEST_CASE("propagator: a converged exponential keeps the norm over a thousand steps") {
  Model model = model_of(periodic(std::make_shared<SoftIon>(2.0, 1.0), 4, 2));
  State state = waves(model);
  Propagator run(model, state, kick({0, 0, 0.02}),
                 {.time_step = 0.1, .scheme = "etrs", .energy_every = 0, .exponential_tolerance = 1e-15});
  const double start = run.observe().norm;
  Record record;
  for (int i = 0; i < 1000; ++i) record = run.step();
  CHECK(record.step == 1000);
  CHECK(std::abs(record.norm - start) < 1e-10 * start);
}

TEST_CASE("propagator: Taylor's norm is lost with the sixth power of the step") {
  // A step's factor is 1 - (E dt)^6 / 72 + ..., so what is lost over a time goes with dt^5.
  std::array<double, 2> lost{};
  for (const std::size_t halvings : {0u, 1u}) {
    Model model = model_of(periodic(std::make_shared<SoftIon>(2.0, 1.0), 4, 2));
    State state = waves(model);
    const int steps = 60 << halvings;
    Propagator run(model, state, kick({0, 0, 0.02}), {.time_step = 6.0 / steps, .energy_every = 0});
    const double start = run.observe().norm;
    Record record;
    for (int i = 0; i < steps; ++i) record = run.step();
    lost[halvings] = start - record.norm;
  }
  CHECK(lost[1] > 0);
  CHECK(lost[0] / lost[1] > 25);
  CHECK(lost[0] / lost[1] < 35);
}

TEST_CASE("propagator: the error falls with the square of the step, that of taylor4 with the step") {
  const auto swing = [](const std::string& scheme, double dt, double time) {
    Model model = model_of(isolated(12, 1.1, std::make_shared<Trap>(0.3, 2), 2, 1));
    State state = oscillator(model, 0.3);
    Propagator run(model, state, kick({0, 0, 0.05}, Gauge::length),
                   {.time_step = dt, .scheme = scheme, .energy_every = 0});
    Record record;
    for (int i = 0; i < std::lround(time / dt); ++i) record = run.step();
    return record.dipole[2];
  };
  const double limit = swing("etrs", 0.00625, 4.8);
  const auto error = [&](const std::string& scheme, double dt) { return swing(scheme, dt, 4.8) - limit; };
  CHECK(error("taylor4", 0.1) / error("taylor4", 0.05) == doctest::Approx(2).epsilon(0.1));
  CHECK(error("etrs", 0.2) / error("etrs", 0.1) == doctest::Approx(4).epsilon(0.1));
  MESSAGE("errors of midpoint " << error("midpoint", 0.1) << " " << error("midpoint", 0.05) << " "
                                << error("midpoint", 0.025) << ", taylor4 " << error("taylor4", 0.1) << ", etrs "
                                << error("etrs", 0.1));
  CHECK(error("midpoint", 0.05) / error("midpoint", 0.025) == doctest::Approx(4).epsilon(0.1));
  CHECK(std::abs(error("midpoint", 0.1)) < 0.02 * std::abs(error("taylor4", 0.1)));
  // From the first step on: after 4 and 8 of them.
  const double early = swing("etrs", 0.0125, 0.4);
  const double first = (swing("midpoint", 0.1, 0.4) - early) / (swing("midpoint", 0.05, 0.4) - early);
  CHECK(first > 3.5);
}

TEST_CASE("propagator: time reversal leads back to the start") {
  Model model = model_of(isolated(12, 0.9, std::make_shared<SoftIon>(4.0, 1.0, 0.3), 4, 2));
  State state = oscillator(model, 0.6);
  boost(state.orbitals, model.decomposition(), {0.1, -0.2, 0.3});
  const State start = state;
  const PropagateOptions options{.time_step = 0.1,
                                 .scheme = "etrs",
                                 .energy_every = 0,
                                 .exponential_tolerance = 1e-15,
                                 .correction_tolerance = 1e-13,
                                 .max_corrections = 30};
  const auto reverse = [&] {
    for (std::size_t i = 1; i < state.orbitals.values().size(); i += 2) state.orbitals.values()[i] *= -1;
  };
  double moved = 0;
  for (int half = 0; half < 2; ++half) {
    Propagator run(model, state, {}, options);
    for (int i = 0; i < 20; ++i) CHECK(run.step().prediction_error <= 1e-13);
    if (half == 0) moved = largest_difference(state.orbitals.values(), start.orbitals.values());
    reverse();
  }
  CHECK(moved > 0.01);
  // Forty steps of some sixty applications, rounded.
  CHECK(largest_difference(state.orbitals.values(), start.orbitals.values()) < 1e-12);
}

TEST_CASE("propagator: two spins alike are one spin") {
  const auto ion = std::make_shared<SoftIon>(2.0, 1.0, 0.4);
  std::array<Record, 2> records;
  for (const int spins : {1, 2}) {
    Model model = model_of(periodic(ion, 4, 2, {1, 1, 2}, spins));
    const std::int64_t k_points = 2;
    State one = waves(model);
    if (spins == 2)  // the second spin's channels repeat the first's
      for (std::int64_t c = 0; c < k_points; ++c)
        std::copy_n(one.orbitals.block(c, 0), one.orbitals.block_doubles(), one.orbitals.block(c + k_points, 0));
    Propagator run(model, one, kick({0, 0.05, 0}), {.time_step = 0.05, .energy_every = 1});
    for (int i = 0; i < 5; ++i) records[static_cast<std::size_t>(spins - 1)] = run.step();
  }
  CHECK(length(difference(records[0].current, records[1].current)) < 1e-14);
  CHECK(records[0].norm == doctest::Approx(records[1].norm).epsilon(1e-13));
  CHECK(records[0].energy.total == doctest::Approx(records[1].energy.total).epsilon(1e-12));
}

TEST_CASE("propagator: the limit of the step is that of the largest eigenvalue, from below and close") {
  FreeElectrons free;
  double largest = 0;
  for (const Channel& channel : free.model.system().channels)
    largest = std::max(largest, Stencil::largest_kinetic(free.model.system().grid, channel.k));
  Propagator run(free.model, free.state, {}, {});
  const double exact = 2 * std::numbers::sqrt2 / largest;
  CHECK(run.step_limit() < exact * (1 + 1e-3));
  CHECK(run.step_limit() > 0.95 * exact);
  CHECK(run.time_step() == doctest::Approx(0.9 * run.step_limit()));
  const Propagator twice(free.model, free.state, {}, {.scheme = "etrs"});
  CHECK(twice.step_limit() == doctest::Approx(2 * run.step_limit()));
  const Propagator driven(free.model, free.state, kick({2, 0, 0}), {});
  CHECK(driven.step_limit() < run.step_limit());
}

TEST_CASE("propagator: what cannot work is refused, an unstable step with its limit") {
  FreeElectrons free;
  const auto make = [&](const Field& field, const PropagateOptions& options) {
    const Propagator run(free.model, free.state, field, options);
  };
  try {
    make({}, {.time_step = 1});
    FAIL("a step of 1 a.u. was taken");
  } catch (const core::InvalidArgument& error) {
    const Propagator run(free.model, free.state, {}, {});
    const std::string limit = std::to_string(run.step_limit()).substr(0, 6);
    CHECK(std::string(error.what()).find(limit) != std::string::npos);
  }
  CHECK_THROWS_AS(make({}, {.scheme = "crank-nicolson"}), core::InvalidArgument);
  CHECK_THROWS_AS(make({}, {.time_step = -0.1}), core::InvalidArgument);
  CHECK_THROWS_AS(make({}, {.energy_every = -1}), core::InvalidArgument);
  CHECK_THROWS_AS(make({}, {.exponential_tolerance = 1e-10}), core::InvalidArgument);
  CHECK_THROWS_AS(make(kick({}, Gauge::length), {}), core::InvalidArgument);

  Propagator run(free.model, free.state, kick({0, 0, 0.1}), {.energy_every = 0});
  run.kick();
  CHECK_THROWS_AS(run.kick(), core::InvalidArgument);
  run.step();
  CHECK_THROWS_AS(run.kick(), core::InvalidArgument);
  CHECK_THROWS_AS(run.resume(3), core::InvalidArgument);
}

TEST_CASE("propagator: blocks that hold no electrons stay as they are") {
  Model model = model_of(periodic(std::make_shared<SoftIon>(2.0, 1.0), 4, 6));
  State state = waves(model);
  const std::vector<double> empty(state.orbitals.block(0, 1),
                                  state.orbitals.block(0, 1) + state.orbitals.block_doubles());
  Propagator run(model, state, kick({0, 0, 0.1}), {.energy_every = 0});
  run.step();
  CHECK(std::equal(empty.begin(), empty.end(), state.orbitals.block(0, 1)));
}

TEST_CASE("propagator: a spin kick moves the spins apart, and the charge not at all") {
  System system = isolated(14, 0.7, std::make_shared<SoftIon>(2.0, 0.8), 2, 2);
  system.spins = 2;
  system.channels = {{{}, 1, 0}, {{}, 1, 1}};
  Model model = model_of(system);
  State state = model.empty_state();
  ScfOptions tight;
  tight.tolerance = 1e-9;
  REQUIRE(solve_ground_state(model, state, tight).converged);
  Field field = kick({0, 0, 0.01}, Gauge::length);
  field.spin_kick = true;
  const double dt = 0.05;
  const State ground = state;
  for (const Gauge gauge : {Gauge::length, Gauge::velocity}) {
    State moving = ground;
    field.gauge = gauge;
    Propagator run(model, moving, field, {.time_step = dt, .energy_every = 0});
    run.kick();
    const Record start = run.observe();
    CHECK(start.moment == doctest::Approx(0).epsilon(1e-9));
    CHECK(start.spin_current[2] * system.grid.volume() == doctest::Approx(2 * 0.01).epsilon(0.01));
    Record record = start;
    for (int i = 0; i < 4; ++i) record = run.step();
    // Every electron has the velocity 0.01 in the direction of its spin.
    CHECK(record.spin_dipole[2] - start.spin_dipole[2] == doctest::Approx(2 * 0.01 * 4 * dt).epsilon(0.02));
    CHECK(std::abs(record.dipole[2] - start.dipole[2]) < 1e-6);
    CHECK(std::abs(record.current[2]) < 1e-9);
    CHECK(std::abs(record.spin_dipole[0]) < 1e-9);
  }
  Model without = model_of(isolated(14, 0.7, std::make_shared<SoftIon>(2.0, 0.8), 2, 2));
  State other = waves(without);
  CHECK_THROWS_AS(Propagator(without, other, field, {.time_step = dt}), core::InvalidArgument);
}

TEST_CASE("propagator: a kick beyond the largest momentum of the grid is refused, with both") {
  Model model = model_of(isolated(12, 1.0, std::make_shared<SoftIon>(2.0, 1.0, 0.4), 2, 1));
  State state = oscillator(model, 0.4);
  for (const Gauge gauge : {Gauge::length, Gauge::velocity}) {
    Field field;
    field.gauge = gauge;
    field.kick = {0, 0, 3.15};
    CHECK_THROWS_WITH_AS(Propagator(model, state, field, {.time_step = 0.1}),
                         doctest::Contains("along z given, below pi/h = 3.142"), core::InvalidArgument);
    field.kick = {0, 0, -3.13};
    CHECK_NOTHROW(Propagator(model, state, field, {.time_step = 0.01}));
  }
}
