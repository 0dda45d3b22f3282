// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/io/orbital_file.hpp"

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/io/cube.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

using namespace soft;

namespace {

/// A path that all ranks know, removed by rank 0 at the end.
class Scratch {
public:
  Scratch(const comm::Communicator& world, const std::string& name) : world_(world) {
    int number = static_cast<int>(::getpid());
    world.broadcast(std::as_writable_bytes(std::span(&number, 1)), 0);
    path = (std::filesystem::temp_directory_path() / ("halocline-" + std::to_string(number) + "-" + name)).string();
  }
  ~Scratch() {
    world_.barrier();
    if (world_.rank() == 0) std::filesystem::remove(path);
  }
  std::string path;

private:
  comm::Communicator world_;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

System system_here() {
  System system = periodic(std::make_shared<SoftIon>(2.0, 1.0, 0.4), 12, 6, {2, 1, 1});
  system.grid.extent[2] = 12;
  system.grid.spacing[2] = 0.7;
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  return system;
}

Field field_here() {
  Field field;
  field.kick = {0.01, 0.02, -0.03};
  field.pulses.resize(1);
  field.pulses[0] = {.amplitude = 0.05, .frequency = 0.3, .duration = 2, .centre = 0.8};
  return field;
}

/// Divisions of this many processes that differ from each other as much as can be.
std::vector<ProcessCounts> divisions(int ranks) {
  switch (ranks) {
  case 1:
    return {{1, 1, {1, 1, 1}}};
  case 2:
    return {{2, 1, {1, 1, 1}}, {1, 2, {1, 1, 1}}, {1, 1, {2, 1, 1}}};
  case 3:
    return {{1, 1, {1, 1, 3}}};
  case 8:
    return {{2, 2, {1, 1, 2}}, {1, 1, {2, 2, 2}}};
  default:
    return {choose_counts(ranks, system_here())};
  }
}

bool same_bits(const Record& a, const Record& b) {
  const auto equal = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  bool same = a.step == b.step && equal(a.time, b.time) && equal(a.norm, b.norm) &&
              equal(a.energy.total, b.energy.total) && a.has_energy == b.has_energy;
  for (std::size_t axis = 0; axis < 3; ++axis)
    same = same && equal(a.current[axis], b.current[axis]) && equal(a.vector_potential[axis], b.vector_potential[axis]);
  return same;
}

}  // namespace

TEST_CASE("restart: ten steps are some, a file and the others, bit for bit on the same division") {
  const comm::Communicator world = comm::world();
  const Scratch file(world, "restart.orbitals");
  for (const ProcessCounts& counts : divisions(world.size()))
    for (const auto& way : {std::pair<std::string, int>{"midpoint", 5}, {"midpoint", 1}, {"taylor4", 5}, {"etrs", 5}}) {
      const std::string& scheme = way.first;
      const int cut = way.second;
      const bool first_division = counts.text() == divisions(world.size()).front().text();
      if ((scheme != "midpoint" || cut != 5) && !first_division) continue;
      const PropagateOptions options{.time_step = 0.05, .scheme = scheme, .energy_every = 5};
      std::vector<Record> straight, interrupted;
      State whole, resumed;
      {
        Model model(system_here(), world, counts, no_trial);
        whole = waves(model);
        Propagator run(model, whole, field_here(), options);
        for (int i = 0; i < 10; ++i) straight.push_back(run.step());
      }
      {
        Model model(system_here(), world, counts, no_trial);
        State state = waves(model);
        Propagator run(model, state, field_here(), options);
        for (int i = 0; i < cut; ++i) interrupted.push_back(run.step());
        write_orbitals(file.path, model, state, {run.steps_done(), interrupted.back().time, run.time_step(), true, {}});
      }
      {
        Model model(system_here(), world, counts, no_trial);
        resumed = model.empty_state();
        const RunPoint point = read_orbitals(file.path, model, resumed);
        Propagator run(model, resumed, field_here(),
                       {.time_step = point.time_step, .scheme = scheme, .energy_every = 5});
        run.resume(point.step);
        CHECK(run.observe().current == interrupted.back().current);
        for (int i = cut; i < 10; ++i) interrupted.push_back(run.step());
      }
      const std::string division = counts.text();
      CAPTURE(division);
      CAPTURE(scheme);
      CAPTURE(cut);
      CHECK(std::ranges::equal(whole.earlier_potentials, resumed.earlier_potentials));
      CHECK(std::ranges::equal(whole.orbitals.values(), resumed.orbitals.values()));
      CHECK(std::ranges::equal(whole.density, resumed.density));
      for (std::size_t i = 0; i < 10; ++i) CHECK(same_bits(straight[i], interrupted[i]));
    }
}

TEST_CASE("restart: another division goes on with the same motion, and writes the same file") {
  const comm::Communicator world = comm::world();
  const Scratch first(world, "first.orbitals"), again(world, "again.orbitals");
  const PropagateOptions options{.time_step = 0.05, .energy_every = 1};
  std::vector<Record> straight;
  {
    // Every rank runs alone; rank 0 writes what all of them then read.
    Model model = model_of(system_here());
    State state = waves(model);
    Propagator run(model, state, field_here(), options);
    for (int i = 0; i < 10; ++i) {
      straight.push_back(run.step());
      if (i == 4 && world.rank() == 0) write_orbitals(first.path, model, state, {5, 0.25, 0.05, true, "here"});
    }
  }
  world.barrier();
  for (const ProcessCounts& counts : divisions(world.size())) {
    Model model(system_here(), world, counts, no_trial);
    State state = model.empty_state();
    const RunPoint point = read_orbitals(first.path, model, state);
    CHECK(point.note == "here");
    write_orbitals(again.path, model, state, point);
    world.barrier();
    CHECK(contents(again.path) == contents(first.path));
    Propagator run(model, state, field_here(), options);
    run.resume(point.step);
    for (std::size_t i = 5; i < 10; ++i) {
      const Record record = run.step();
      CHECK(record.step == straight[i].step);
      for (std::size_t axis = 0; axis < 3; ++axis)
        CHECK(std::abs(record.current[axis] - straight[i].current[axis]) < 1e-12);
      CHECK(record.norm == doctest::Approx(straight[i].norm).epsilon(1e-12));
      CHECK(record.energy.total == doctest::Approx(straight[i].energy.total).epsilon(1e-12));
    }
    world.barrier();
  }
}

TEST_CASE("restart: damage that one rank sees is everybody's error") {
  const comm::Communicator world = comm::world();
  const Scratch file(world, "bad.orbitals");
  Model model(system_here(), world, divisions(world.size()).back(), no_trial);
  State state = waves(model);
  model.sum_density(state);
  write_orbitals(file.path, model, state);
  if (world.rank() == 0) {
    std::fstream bytes(file.path, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(4096 + 16 * 777);
    bytes.put('!');
  }
  world.barrier();
  State back = model.empty_state();
  CHECK_THROWS_AS(read_orbitals(file.path, model, back), core::FileError);
  CHECK_THROWS_AS(write_orbitals("/nowhere/at/all.orbitals", model, state), core::FileError);
}

TEST_CASE("cube: every division writes the same file") {
  const comm::Communicator world = comm::world();
  const Scratch file(world, "density.cube"), whole(world, "whole.cube");
  Model alone = model_of(system_here());
  State state = waves(alone);
  alone.sum_density(state);
  if (world.rank() == 0) write_cube(whole.path, alone.system(), alone.decomposition(), state.density, "n");
  for (const ProcessCounts& counts : divisions(world.size())) {
    Model model(system_here(), world, counts, no_trial);
    const Box& box = model.decomposition().box();
    std::vector<double> part;
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y)
        for (std::int64_t x = 0; x < box.extent[0]; ++x)
          part.push_back(state.density[static_cast<std::size_t>(
              alone.decomposition().box().index(box.offset[0] + x, box.offset[1] + y, box.offset[2] + z))]);
    write_cube(file.path, model.system(), model.decomposition(), part, "n");
    world.barrier();
    CHECK(contents(file.path) == contents(whole.path));
    world.barrier();
  }
}
