// SPDX-License-Identifier: Apache-2.0
// The same bits on any number of processes.

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "maxwell/boxes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

using namespace halocline;
using namespace halocline::maxwell;

namespace {

/// Divisions of the processes over the axes of a grid, each axis in turn and the most even one.
std::vector<std::vector<int>> divisions(const YeeGrid& grid, int ranks) {
  std::vector<std::vector<int>> all;
  for (int a = 0; a < 3; ++a) {
    std::vector<int> dims{1, 1, 1};
    dims[at(a)] = ranks;
    if (grid.cells[at(a)] / ranks >= 3) all.push_back(dims);
  }
  if (ranks == 8 && !grid.flat(1) && !grid.flat(2)) all.push_back({2, 2, 2});
  return all;
}

template <class T>
std::unique_ptr<Simulation<T>> simulated(const YeeGrid& grid, const comm::ProcessGrid& processes, int depth) {
  SimulationOptions options;
  options.depth = depth;
  auto simulation = std::make_unique<Simulation<T>>(grid, test::mixed_matter(grid), processes, options);
  test::fill_randomly(simulation->state(), 17);
  for (int c = 0; c < components; ++c) simulation->touch(c);
  simulation->add_current(1, {grid.cells[0] / 3, grid.cells[1] / 2, grid.cells[2] / 2}, Waveform::gaussian(0.5, 3, 4));
  simulation->add_probe(2, {grid.cells[0] - 2, 0, grid.cells[2] / 2});
  simulation->add_spectrum({{2, 0, 0}, {grid.cells[0], grid.cells[1], grid.cells[2] / 2 + 1}}, {0, 4}, {0.3, 0.5}, 2);
  simulation->run(11);
  return simulation;
}

}  // namespace

TEST_CASE_TEMPLATE("maxwell: a division over processes changes no bit", T, float, double) {
  const comm::Communicator world = comm::world();
  std::vector<YeeGrid> grids{
      test::grid_of({26, 24, 25}, Boundary::absorbing), test::grid_of({24, 25, 26}, Boundary::magnetic),
      test::grid_of({24, 27, 26}, Boundary::periodic), test::grid_of({30, 26, 1}, Boundary::absorbing)};
  grids.push_back(test::grid_of({26, 1, 25}, Boundary::absorbing));
  grids.back().cylindrical = true;
  grids.back().azimuthal = 1;
  grids.back().ends[0][0] = Boundary::magnetic;
  grids[1].ends[0] = {Boundary::periodic, Boundary::periodic};
  grids[1].ends[2] = {Boundary::absorbing, Boundary::electric};
  for (YeeGrid& grid : grids) grid.time_step = 0.9 * grid.courant_limit();
  for (const YeeGrid& grid : grids) {
    const auto alone = simulated<T>(grid, test::alone(grid), 1);
    for (const std::vector<int>& dims : divisions(grid, world.size()))
      for (const int depth : {1, 2, 3}) {
        CAPTURE(dims[0]);
        CAPTURE(dims[1]);
        CAPTURE(depth);
        const comm::ProcessGrid processes(world, dims, {grid.periodic(0), grid.periodic(1), grid.periodic(2)});
        const auto shared = simulated<T>(grid, processes, depth);
        for (int c = 0; c < components; ++c) CHECK(shared->field(c) == alone->field(c));
        CHECK(shared->probe(0) == alone->probe(0));
        for (const int component : {0, 4}) CHECK(shared->spectrum(0, component, 1) == alone->spectrum(0, component, 1));
        CHECK(shared->energy().total() == doctest::Approx(alone->energy().total()).epsilon(1e-6));
      }
  }
}

TEST_CASE("maxwell: waves enter a divided grid, and phases cross its ends") {
  const comm::Communicator world = comm::world();
  YeeGrid grid = test::grid_of({30, 28, 26}, Boundary::absorbing);
  const auto wave = [&](const comm::ProcessGrid& processes) {
    Simulation<double> simulation(grid, Matter(), processes);
    simulation.add_plane_wave({2, -1, {0.6, 0.8, 0}, {8, 8, 8}, {21, 19, 17}, Waveform::gaussian(0.4, 4, 24)}, {0.4});
    simulation.run(90);
    return simulation.field(0);
  };
  const auto alone = wave(test::alone(grid));
  for (const std::vector<int>& dims : divisions(grid, world.size()))
    CHECK(wave(comm::ProcessGrid(world, dims, {false, false, false})) == alone);

  YeeGrid round = test::grid_of({28, 1, 26}, Boundary::absorbing);
  round.cylindrical = true;
  round.azimuthal = 1;
  round.ends[0][0] = Boundary::magnetic;
  round.time_step = 0.9 * round.courant_limit();
  const auto about_axis = [&](const comm::ProcessGrid& processes) {
    Simulation<double> simulation(round, Matter(), processes);
    simulation.add_plane_wave({2, 1, {1, 0, 0}, {0, 0, 6}, {20, 1, 19}, Waveform::gaussian(0.4, 4, 24)}, {0.4});
    simulation.run(60);
    return simulation.field(1);
  };
  const auto whole = about_axis(test::alone(round));
  CHECK(*std::max_element(whole.begin(), whole.end()) > 1e-3);
  for (const std::vector<int>& dims : divisions(round, world.size()))
    CHECK(about_axis(comm::ProcessGrid(world, dims, {false, true, false})) == whole);

  YeeGrid bloch = test::grid_of({24, 24, 26}, Boundary::periodic);
  bloch.bloch = {0.5, -1, 0.2};
  bloch.time_step = 0.9 * bloch.courant_limit();
  const auto first = simulated<double>(bloch, test::alone(bloch), 1);
  for (const std::vector<int>& dims : divisions(bloch, world.size())) {
    const auto other = simulated<double>(bloch, comm::ProcessGrid(world, dims, {true, true, true}), 1);
    for (int copy = 0; copy < 2; ++copy) {
      const auto a = first->field(1, copy), b = other->field(1, copy);
      double worst = 0;
      for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
      CHECK(worst < 1e-13);
    }
  }
}

TEST_CASE("maxwell: light through a plane, kicks and dipole moments on a divided grid") {
  const comm::Communicator world = comm::world();
  YeeGrid grid = test::grid_of({27, 24, 25}, Boundary::absorbing);
  grid.ends[1] = {Boundary::periodic, Boundary::periodic};
  grid.time_step = 0.9 * grid.courant_limit();
  Matter matter;
  matter.add(sphere({13, 13, 11}, 5), Medium{1, 0, {{0.3, 0.05, 0.1}, {0, 0.02, 0.2}}});
  const auto run = [&](const comm::ProcessGrid& processes, int depth) {
    SimulationOptions options;
    options.depth = depth;
    auto simulation = std::make_unique<Simulation<double>>(grid, matter, processes, options);
    const Box plane{{7, 0, 4}, {8, 24, 22}};
    std::array<std::vector<double>, 4> profiles;
    for (std::size_t p = 0; p < 4; ++p)
      for (std::int64_t i = 0; i < plane.points(); ++i)
        profiles[p].push_back(std::sin(0.3 * static_cast<double>(i) + static_cast<double>(p)));
    simulation->add_sheet({0, 1, 7, plane, profiles, Waveform::gaussian(0.5, 3, 6)});
    simulation->keep_dipole(5);
    simulation->kick({0.2, 0.5, -1});
    simulation->run(23);
    return simulation;
  };
  const auto alone = run(test::alone(grid), 1);
  CHECK(std::abs(alone->dipole().back()) > 1);
  for (const std::vector<int>& dims : divisions(grid, world.size()))
    for (const int depth : {1, 3}) {
      const auto shared = run(comm::ProcessGrid(world, dims, {false, true, false}), depth);
      for (int c = 0; c < components; ++c) CHECK(shared->field(c) == alone->field(c));
      const Box part{{3, 5, 2}, {20, 6, 19}};
      CHECK(shared->field(1, 0, part) == alone->field(1, 0, part));
      const std::vector<double> one = alone->dipole(), other = shared->dipole();
      REQUIRE(one.size() == 12);
      REQUIRE(other.size() == 12);
      for (std::size_t i = 0; i < 12; ++i) CHECK(other[i] == doctest::Approx(one[i]).epsilon(1e-12));
    }
}

TEST_CASE("maxwell: a part thinner than its ghosts is refused on every rank") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;
  const YeeGrid grid = test::grid_of({4 * world.size(), 12, 12}, Boundary::electric);
  SimulationOptions options;
  options.depth = 5;
  CHECK_THROWS_WITH_AS(
      (Simulation<double>(grid, Matter(), comm::ProcessGrid(world, {world.size(), 1, 1}, {false, false, false}),
                          options)),
      doctest::Contains("steps between exchanges"), core::InvalidArgument);
}
