// SPDX-License-Identifier: Apache-2.0
//
// Whatever is split, and over how many processes, the electrons move the same way: every rank also runs the whole
// system alone and compares.

#include "halocline/tddft/propagate/propagator.hpp"

#include "comm/counting_backend.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/propagate/populations.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace soft;

namespace {

struct Run {
  std::vector<Record> records;
  std::vector<double> populations;
  double limit = 0;
};

Run run_on(const comm::Communicator& world, const System& system, ProcessCounts counts, const Field& field,
           const PropagateOptions& options, int steps, std::optional<IonOptions> ions = {},
           const std::string& functional = "pz") {
  ModelOptions of_model = no_trial;
  of_model.xc = functional;
  Model model(system, world, counts, of_model);
  State state = system.grid.boundary == Boundary::isolated ? oscillator(model, 0.5) : waves(model);
  const State start = state;
  Propagator run(model, state, field, options, std::move(ions));
  Run result;
  result.limit = run.step_limit();
  for (int i = 0; i < steps; ++i) result.records.push_back(run.step());
  const Vec3 a = result.records.back().vector_potential;
  result.populations = populations(model, state, model, start.orbitals, system.states, a);
  return result;
}

void check_equal(const Run& a, const Run& b, double tolerance = 1e-9) {
  REQUIRE(a.records.size() == b.records.size());
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    const Record &x = a.records[i], &y = b.records[i];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      CHECK(std::abs(x.current[axis] - y.current[axis]) < tolerance);
      CHECK(std::abs(x.vector_potential[axis] - y.vector_potential[axis]) < tolerance);
      CHECK(std::abs(x.electric_field[axis] - y.electric_field[axis]) < tolerance);
      CHECK(std::abs(x.dipole[axis] - y.dipole[axis]) < tolerance);
      CHECK(std::abs(x.angular_momentum[axis] - y.angular_momentum[axis]) < tolerance);
    }
    CHECK(std::abs(x.norm - y.norm) < tolerance);
    REQUIRE(x.has_energy);
    CHECK(std::abs(x.energy.total - y.energy.total) < tolerance);
    CHECK(std::abs(x.energy.ion_nonlocal - y.energy.ion_nonlocal) < tolerance);
    REQUIRE(x.ions.has_value() == y.ions.has_value());
    if (!x.ions) continue;
    for (std::size_t atom = 0; atom < y.ions->positions.size(); ++atom)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        CHECK(std::abs(x.ions->positions[atom][axis] - y.ions->positions[atom][axis]) < tolerance);
        CHECK(std::abs(x.ions->forces[atom][axis] - y.ions->forces[atom][axis]) < tolerance);
      }
  }
  REQUIRE(a.populations.size() == b.populations.size());
  for (std::size_t i = 0; i < a.populations.size(); ++i)
    CHECK(std::abs(a.populations[i] - b.populations[i]) < tolerance);
  CHECK(a.limit == doctest::Approx(b.limit).epsilon(1e-9));
}

/// Every way to divide `ranks` processes that the system allows.
std::vector<ProcessCounts> divisions(int ranks, const System& system) {
  const int blocks = (system.states + orbital_lanes - 1) / orbital_lanes;
  std::vector<ProcessCounts> all;
  for (int k = 1; k <= static_cast<int>(system.channels.size()); ++k)
    for (int orbitals = 1; orbitals <= blocks; ++orbitals)
      for (int x = 1; x <= system.grid.extent[0] / 4; ++x)
        for (int y = 1; y <= system.grid.extent[1] / 4; ++y)
          for (int z = 1; z <= system.grid.extent[2] / 4; ++z) {
            const ProcessCounts counts{k, orbitals, {x, y, z}};
            if (counts.ranks() == ranks) all.push_back(counts);
          }
  return all;
}

}  // namespace

TEST_CASE("propagator: every division of a cell with k-points and projectors gives the same motion") {
  System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 8, 6, {2, 1, 1});
  system.grid.extent[2] = 12;  // three parts are possible
  system.grid.spacing[2] = 0.7;
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  Field field;
  field.kick = {0.01, 0.02, -0.03};
  field.pulses.resize(1);
  field.pulses[0] = {.amplitude = 0.05, .frequency = 0.3, .duration = 2, .centre = 1};
  const PropagateOptions options{.time_step = 0.05, .energy_every = 1};
  const comm::Communicator world = comm::world();
  using Geometry = Response::Geometry;
  for (const Response& response :
       {Response{}, Response{Geometry::longitudinal}, Response{Geometry::film, 300, 1, 1.5}}) {
    field.response = response;
    const Run alone = run_on(comm::Communicator::self(), system, {}, field, options, 6);
    const auto all = divisions(world.size(), system);
    REQUIRE(!all.empty());
    for (const ProcessCounts& counts : all) {
      const std::string division = counts.text();
      CAPTURE(division);
      check_equal(run_on(world, system, counts, field, options, 6), alone);
    }
  }
}

TEST_CASE("propagator: every division of an oblique cell gives the same motion") {
  System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 8, 6, {2, 1, 1});
  system.grid = tddft::test::skew_grid(tddft::test::Lattice::triclinic, {8, 9, 12}, {0.9, 0.8, 0.7});
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  Field field;
  field.kick = {0.01, 0.02, -0.03};
  const PropagateOptions options{.time_step = 0.05, .energy_every = 1};
  const Run alone = run_on(comm::Communicator::self(), system, {}, field, options, 4);
  const comm::Communicator world = comm::world();
  for (const ProcessCounts& counts : divisions(world.size(), system)) {
    const std::string division = counts.text();
    CAPTURE(division);
    check_equal(run_on(world, system, counts, field, options, 4), alone);
  }
}

TEST_CASE("propagator: every division gives the same motion of orbitals in float, within their rounding") {
  System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 20, 11, {2, 1, 1});
  system.grid.extent[2] = 12;
  system.grid.spacing[2] = 0.7;
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  System oblique = system;
  oblique.grid = tddft::test::skew_grid(tddft::test::Lattice::triclinic, {8, 9, 12}, {0.9, 0.8, 0.7});
  oblique.channels = monkhorst_pack(oblique.grid, {2, 1, 1});
  Field field;
  field.kick = {0.01, 0.02, -0.03};
  const PropagateOptions options{.time_step = 0.05, .energy_every = 1, .precision = "float"};
  PropagateOptions in_double = options;
  in_double.precision = "double";
  // Energies of some hartree from orbitals with 6e-8 of rounding in each application of H, sixteen in all.
  const comm::Communicator world = comm::world();
  for (const System& each : {system, oblique}) {
    const Run alone = run_on(comm::Communicator::self(), each, {}, field, options, 4);
    check_equal(alone, run_on(comm::Communicator::self(), each, {}, field, in_double, 4), 2e-5);
    for (const ProcessCounts& counts : divisions(world.size(), each)) {
      const std::string division = counts.text();
      CAPTURE(division);
      check_equal(run_on(world, each, counts, field, options, 4), alone, 2e-5);
    }
  }
}

TEST_CASE("propagator: every division gives the same motion with functionals of the kinetic energy density") {
  System crystal = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 8, 6, {2, 1, 1}, 2);
  crystal.grid.extent[2] = 12;
  crystal.grid.spacing[2] = 0.7;
  crystal.channels = monkhorst_pack(crystal.grid, {2, 1, 1}, {}, false, 2);
  System oblique = crystal;
  oblique.grid = tddft::test::skew_grid(tddft::test::Lattice::triclinic, {8, 9, 12}, {0.9, 0.8, 0.7});
  oblique.channels = monkhorst_pack(oblique.grid, {2, 1, 1}, {}, false, 2);
  System box = isolated(12, 0.9, std::make_shared<SoftIon>(1.0, 1.2, 0.3), 2, 4);
  box.atoms = {{0, {0.2, -0.1, 0.9}}, {0, {-0.3, 0.4, -1.2}}};
  Field field;
  field.kick = {0.01, 0.02, -0.03};
  const PropagateOptions options{.time_step = 0.05, .energy_every = 1};
  const IonOptions ions{{50.0, 90.0}, {{6.0, -2.0, 7.0}, {1.0, 3.0, -6.0}}, 2};
  const comm::Communicator world = comm::world();
  using Case = std::tuple<const System*, std::string, std::optional<IonOptions>>;
  for (const auto& [system, name, moving] : {Case{&crystal, "r2scan", ions}, Case{&oblique, "r2scan", {}},
                                             Case{&box, "r2scan", ions}, Case{&crystal, "tb-mbj", {}}}) {
    CAPTURE(name);
    const Run alone = run_on(comm::Communicator::self(), *system, {}, field, options, 4, moving, name);
    for (const ProcessCounts& counts : divisions(world.size(), *system)) {
      const std::string division = counts.text();
      CAPTURE(division);
      check_equal(run_on(world, *system, counts, field, options, 4, moving, name), alone);
    }
  }
}

TEST_CASE("propagator: every division of a box has the same angular momentum, and absorbs the same") {
  System box = isolated(12, 0.9, std::make_shared<SoftIon>(1.0, 1.2, 0.3), 2, 4);
  box.atoms = {{0, {0.2, -0.1, 0.9}}, {0, {-0.3, 0.4, -1.2}}};
  Field field;
  field.gauge = Gauge::length;
  field.kick = {0.1, 0.2, -0.3};
  const PropagateOptions options{
      .time_step = 0.05, .energy_every = 1, .absorber = {.width = 3, .strength = 0.5}, .angular_momentum = true};
  const Run alone = run_on(comm::Communicator::self(), box, {}, field, options, 4);
  CHECK(alone.records.back().norm < alone.records.front().norm - 1e-4);
  CHECK(norm(alone.records.back().angular_momentum) > 1e-4);
  const comm::Communicator world = comm::world();
  for (const ProcessCounts& counts : divisions(world.size(), box)) {
    const std::string division = counts.text();
    CAPTURE(division);
    check_equal(run_on(world, box, counts, field, options, 4), alone);
  }
}

TEST_CASE("propagator: every division gives the same motion of atoms that fly from process to process") {
  const comm::Communicator world = comm::world();
  System cell = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 4, 4, {2, 1, 1});
  cell.grid.extent[2] = 12;
  cell.grid.spacing[2] = 0.7;
  cell.channels = monkhorst_pack(cell.grid, {2, 1, 1});
  System box = isolated(12, 0.9, std::make_shared<SoftIon>(1.0, 1.2, 0.3), 2, 4);
  box.atoms = {{0, {0.2, -0.1, 0.9}}, {0, {-0.3, 0.4, -1.2}}};
  for (const System& system : {cell, box}) {
    Field field;
    field.kick = {0.01, 0.02, -0.03};
    const PropagateOptions options{.time_step = 0.05, .energy_every = 1};
    // Fast enough to cross several grid points, and one face of the cell.
    const IonOptions ions{{50.0, 90.0}, {{6.0, -2.0, 7.0}, {1.0, 3.0, -6.0}}, 2};
    const Run alone = run_on(comm::Communicator::self(), system, {}, field, options, 6, ions);
    const auto all = divisions(world.size(), system);
    REQUIRE(!all.empty());
    for (const ProcessCounts& counts : all) {
      const std::string division = counts.text();
      CAPTURE(division);
      check_equal(run_on(world, system, counts, field, options, 6, ions), alone);
    }
  }
}

TEST_CASE("propagator: every division of a box gives the same motion in both gauges") {
  const comm::Communicator world = comm::world();
  System system = isolated(12, 0.9, std::make_shared<SoftIon>(8.0, 1.2, 0.3), 8, 5);
  system.atoms[0].position = {0.2, -0.1, 0.4};
  for (const Gauge gauge : {Gauge::length, Gauge::velocity}) {
    Field field;
    field.gauge = gauge;
    field.kick = {0.01, 0.02, -0.03};
    field.table_times = {0, 10};
    field.table_fields = {{0, 0.01, 0}, {0.02, 0, 0.01}};
    const PropagateOptions options{
        .time_step = 0.05, .scheme = "etrs", .energy_every = 1, .exponential_tolerance = 1e-12};
    const Run alone = run_on(comm::Communicator::self(), system, {}, field, options, 3);
    const auto all = divisions(world.size(), system);
    REQUIRE(!all.empty());
    check_equal(run_on(world, system, all.front(), field, options, 3), alone);
    check_equal(run_on(world, system, all.back(), field, options, 3), alone);
  }
}

TEST_CASE("propagator: a step waits for the same few sums, however many blocks of orbitals there are") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;  // one process waits for nobody
  const auto waits_of_a_step = [&](int states) {
    System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 2.0 * states, states);
    system.grid.extent = {8, 9, 8 * world.size()};
    const auto waits = std::make_shared<int>(0);
    const comm::Communicator counted(std::make_shared<counting::CountingBackend>(world, waits));
    ModelOptions options = no_trial;
    options.transport = "shared_memory";  // which needs no MPI below
    Model model(system, counted, {1, 1, {1, 1, world.size()}}, options);
    State state = waves(model);
    Propagator run(model, state, {}, {.time_step = 0.01, .energy_every = 0});
    run.step();
    *waits = 0;
    run.step();
    return *waits;
  };
  const int one = waits_of_a_step(4), five = waits_of_a_step(20);
  CHECK(five == one);
  // The density's way into the Hartree potential and back, and one sum of all that is measured.
  CHECK(one <= 4);
}

TEST_CASE("propagator: every division gives the same motion in light that depends on the place") {
  Field field;
  field.way = Way{2, 1};
  field.pulses.resize(1);
  field.pulses[0] = {.amplitude = 0.05, .frequency = 0.6, .duration = 2, .centre = 1, .direction = {1, 0.5, 0}};
  const PropagateOptions options{.time_step = 0.05, .energy_every = 1};
  const comm::Communicator world = comm::world();
  System cell = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 8, 6, {2, 1, 1}, 2);
  cell.grid.extent[2] = 12;
  cell.grid.spacing[2] = 0.7;
  cell.channels = monkhorst_pack(cell.grid, {2, 1, 1}, {}, false, 2);
  System box = isolated(12, 0.8, std::make_shared<SoftIon>(2.0, 1.0, 0.4), 2, 1);
  for (const System& system : {cell, box}) {
    const Run alone = run_on(comm::Communicator::self(), system, {}, field, options, 4);
    const LightRecord& there = *alone.records.back().light;
    for (const ProcessCounts& counts : divisions(world.size(), system)) {
      CAPTURE(counts.text());
      const Run divided = run_on(world, system, counts, field, options, 4);
      check_equal(divided, alone);
      const LightRecord& here = *divided.records.back().light;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        CHECK(std::abs(here.reflected[axis] - there.reflected[axis]) < 1e-13);
        CHECK(std::abs(here.transmitted[axis] - there.transmitted[axis]) < 1e-13);
      }
      CHECK(here.near_field == doctest::Approx(there.near_field).epsilon(1e-9));
    }
  }
}

TEST_CASE("cell currents: groups of processes know the currents of each other's cells, in the same bits") {
  const comm::Communicator world = comm::world();
  const int groups = std::min(2, world.size()), colour = world.rank() % groups;
  const comm::Communicator group = world.split(colour, world.rank());
  System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 8, 6, {2, 1, 1});
  system.grid.extent[2] = 16;  // eight processes can divide it
  system.grid.spacing[2] = 0.6;
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  Model model(system, group, choose_counts(group.size(), system), no_trial);
  // Three cells: the first group has the first and the last.
  std::vector<std::int64_t> mine{colour};
  if (colour == 0) mine.push_back(groups);
  CellCurrents sum(world, groups + 1, static_cast<std::int64_t>(mine.size()));
  std::vector<State> states(mine.size(), waves(model));
  std::vector<Propagator> cells;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    Field field;
    field.kick = {0.01 * static_cast<double>(1 + mine[i]), 0.02, -0.01};
    cells.emplace_back(model, states[i], field, PropagateOptions{.time_step = 0.05, .energy_every = 0});
    cells.back().give_current_to(&sum, mine[i]);
  }
  CHECK_THROWS_AS(sum.wait(), core::InvalidArgument);
  for (int step = 0; step < 3; ++step) {
    for (Propagator& cell : cells) cell.step();
    const std::vector<double> all = sum.wait();
    REQUIRE(all.size() == static_cast<std::size_t>(3 * (groups + 1)));
    for (std::size_t i = 0; i < mine.size(); ++i)
      for (std::size_t axis = 0; axis < 3; ++axis)
        CHECK(all[3 * static_cast<std::size_t>(mine[i]) + axis] ==
              doctest::Approx(cells[i].driving_current()[axis]).epsilon(1e-12));
    std::vector<double> low(all), high(all);
    world.min(std::span(low));
    world.max(std::span(high));
    CHECK(low == high);
    CHECK(all[0] != all[3 * static_cast<std::size_t>(groups)]);
  }
  sum.put(mine.front(), {});
  CHECK_THROWS_AS(sum.put(groups + 1, {}), core::InvalidArgument);
  if (mine.size() == 2) sum.put(mine.back(), {});
  CHECK(sum.wait() == std::vector<double>(static_cast<std::size_t>(3 * (groups + 1)), 0.0));
  const Field still;
  Propagator etrs(model, states.front(), still, PropagateOptions{.time_step = 0.05, .scheme = "etrs"});
  CHECK_THROWS_AS(etrs.give_current_to(&sum, 0), core::InvalidArgument);
}

TEST_CASE("propagator: a step that is refused is refused on every rank") {
  const comm::Communicator world = comm::world();
  const System system = periodic(std::make_shared<SoftIon>(2.0, 1.0), 4, 8, {2, 2, 2});
  Model model(system, world, divisions(world.size(), system).front(), no_trial);
  State state = waves(model);
  CHECK_THROWS_AS(Propagator(model, state, {}, {.time_step = 5}), core::InvalidArgument);
  world.barrier();
}
