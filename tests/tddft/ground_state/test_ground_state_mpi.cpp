// SPDX-License-Identifier: Apache-2.0

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/dense_problem.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/model/forces.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/ground_state/systems.hpp"

#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <span>
#include <vector>

namespace halocline::tests {
namespace {

/// Silicon and hydrogen in a periodic cell without symmetry; two k-points, three blocks of states, extents that do not
/// divide evenly.
System small_crystal() {
  System system;
  system.grid = {{9, 10, 11}, {0.8, 0.75, 0.7}, Boundary::periodic};
  system.species = {goedecker("Si"), goedecker("H")};
  system.atoms = {{0, {0.3, 0.2, 0.1}}, {0, {3.4, 2.9, 3.6}}, {1, {5.9, 1.8, 4.8}}, {1, {1.2, 6.0, 5.5}}};
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  system.electrons = 10;
  system.states = 9;
  return system;
}

/// A molecule in a box, one block of orbitals, so that only space divides.
System small_molecule() { return molecule({{"H", {0.1, -0.07, 0.75}}, {"H", {-0.05, 0.13, -0.71}}}, 9.6, 0.6, 2, 2); }

struct Solved {
  GroundState ground;
  std::vector<double> eigenvalues, occupations;
  std::vector<Vec3> forces;
};

Solved solve(const System& system, const comm::Communicator& world, const ProcessCounts& counts,
             const ScfOptions& options) {
  ModelOptions model_options;
  model_options.xc = "pade";
  Model model(system, world, counts, model_options);
  State state = model.empty_state();
  Solved out;
  out.ground = solve_ground_state(model, state, options);
  out.eigenvalues = state.eigenvalues;
  out.occupations = state.occupations;
  out.forces = forces(model, state);
  return out;
}

/// What rank 0 finds by itself, on every rank.
Solved solve_alone(const comm::Communicator& world, const System& system, const ScfOptions& options) {
  Solved out;
  if (world.rank() == 0) out = solve(system, comm::Communicator::self(), {}, options);
  const std::size_t states = system.channels.size() * static_cast<std::size_t>(system.states);
  out.eigenvalues.resize(states);
  out.occupations.resize(states);
  out.forces.resize(system.atoms.size());
  std::array<double, 4> numbers{out.ground.energy.total, out.ground.energy.kinetic, out.ground.fermi_level,
                                out.ground.converged ? 1.0 : 0.0};
  world.broadcast(std::as_writable_bytes(std::span(numbers)), 0);
  world.broadcast(std::as_writable_bytes(std::span(out.eigenvalues)), 0);
  world.broadcast(std::as_writable_bytes(std::span(out.occupations)), 0);
  world.broadcast(std::as_writable_bytes(std::span(out.forces)), 0);
  out.ground.energy.total = numbers[0];
  out.ground.energy.kinetic = numbers[1];
  out.ground.fermi_level = numbers[2];
  out.ground.converged = numbers[3] == 1.0;
  return out;
}

void check_equal(const Solved& a, const Solved& b) {
  REQUIRE(a.ground.converged == b.ground.converged);
  CHECK(std::abs(a.ground.energy.total - b.ground.energy.total) < 1e-9);
  CHECK(std::abs(a.ground.energy.kinetic - b.ground.energy.kinetic) < 1e-6);  // first order in the density's residual
  CHECK(std::abs(a.ground.fermi_level - b.ground.fermi_level) < 1e-7);
  REQUIRE(a.eigenvalues.size() == b.eigenvalues.size());
  for (std::size_t i = 0; i < a.eigenvalues.size(); ++i)
    if (a.occupations[i] > 0.5) CHECK(std::abs(a.eigenvalues[i] - b.eigenvalues[i]) < 1e-7);
  for (std::size_t atom = 0; atom < a.forces.size(); ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis) CHECK(std::abs(a.forces[atom][axis] - b.forces[atom][axis]) < 1e-6);
}

/// Divisions of a number of ranks of which each splits something else.
std::vector<ProcessCounts> divisions_of_crystal(int ranks) {
  switch (ranks) {
  case 1:
    return {{1, 1, {1, 1, 1}}};
  case 2:
    return {{2, 1, {1, 1, 1}}, {1, 2, {1, 1, 1}}, {1, 1, {1, 1, 2}}};
  case 3:
    return {{1, 3, {1, 1, 1}}};
  default:
    return {{2, 2, {1, 2, 1}}, {1, 1, {2, 2, 2}}};
  }
}

}  // namespace

TEST_CASE("ground state: every division over k, orbitals and space gives the same crystal") {
  const comm::Communicator world = comm::world();
  const ScfOptions options{.temperature = 0.005};
  const Solved alone = solve_alone(world, small_crystal(), options);
  REQUIRE(alone.ground.converged);
  for (const ProcessCounts& counts : divisions_of_crystal(world.size())) {
    CAPTURE(counts.text());
    check_equal(alone, solve(small_crystal(), world, counts, options));
  }
}

TEST_CASE("ground state: every division gives the same crystal of oblique edges") {
  const comm::Communicator world = comm::world();
  const ScfOptions options{.temperature = 0.005};
  System system = small_crystal();
  system.grid = tddft::test::skew_grid(tddft::test::Lattice::triclinic, {9, 10, 11}, {0.8, 0.75, 0.7});
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  const Solved alone = solve_alone(world, system, options);
  REQUIRE(alone.ground.converged);
  for (const ProcessCounts& counts : divisions_of_crystal(world.size())) {
    CAPTURE(counts.text());
    check_equal(alone, solve(system, world, counts, options));
  }
}

TEST_CASE("ground state: the dense eigenproblem by ScaLAPACK gives the same crystal") {
  const comm::Communicator world = comm::world();
  if (!world.all(tddft::find_scalapack().problem.empty())) return;
  ScfOptions options{.temperature = 0.005};
  const Solved alone = solve_alone(world, small_crystal(), options);
  options.dense = "scalapack";
  for (const ProcessCounts& counts : divisions_of_crystal(world.size())) {
    CAPTURE(counts.text());
    check_equal(alone, solve(small_crystal(), world, counts, options));
  }
}

TEST_CASE("ground state: lobpcg divides as the filter does") {
  const comm::Communicator world = comm::world();
  const ScfOptions options{.max_iterations = 2, .eigensolver = "lobpcg"};  // far from the end, and yet alike
  const Solved alone = solve_alone(world, small_crystal(), options);
  const ProcessCounts counts = world.size() == 8 ? ProcessCounts{1, 1, {2, 2, 2}} : ProcessCounts{1, world.size()};
  check_equal(alone, solve(small_crystal(), world, counts, options));
}

TEST_CASE("ground state: a box divided over spins and space is the box undivided") {
  const comm::Communicator world = comm::world();
  if (world.size() > 3) return;  // covered by 2 and 3; a box of 16 points holds no 8 parts worth the time
  const Solved alone = solve_alone(world, small_molecule(), {});
  REQUIRE(alone.ground.converged);
  const std::vector<ProcessCounts> all = world.size() == 2
                                             ? std::vector<ProcessCounts>{{2, 1, {1, 1, 1}}, {1, 1, {1, 2, 1}}}
                                             : std::vector<ProcessCounts>{{1, 1, {1, 1, world.size()}}};
  for (const ProcessCounts& counts : all) {
    CAPTURE(counts.text());
    check_equal(alone, solve(small_molecule(), world, counts, {}));
  }
}

TEST_CASE("ground state: one rank that wants to stop stops all") {
  const comm::Communicator world = comm::world();
  Model model(small_crystal(), world, choose_counts(world.size(), small_crystal()), {.xc = "pade"});
  State state = model.empty_state();
  const GroundState ground = solve_ground_state(
      model, state, {}, [&](const ScfStep& step) { return step.iteration < 2 || world.rank() != world.size() - 1; });
  CHECK(ground.reason == "stopped");
  CHECK(ground.history.size() == 2);
}

TEST_CASE("ground state: wrong options are every rank's error") {
  const comm::Communicator world = comm::world();
  Model model(small_crystal(), world, choose_counts(world.size(), small_crystal()), {.xc = "pade"});
  State state = model.empty_state();
  CHECK_THROWS_AS(solve_ground_state(model, state, {.eigensolver = "none"}), core::InvalidArgument);
  CHECK_THROWS_AS(solve_ground_state(model, state, {.temperature = -1}), core::InvalidArgument);
}

}  // namespace halocline::tests
