// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ground states for several positions between two grid points.

#include "halocline/tddft/ground_state/egg_box.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace halocline::tddft {

System lone_atom(std::shared_ptr<const Pseudopotential> species, double spacing, double length) {
  if (!(spacing > 0) || !(length > 0))
    throw core::InvalidArgument(
        fmt::format("a spacing of {} and a length of {} bohr were given; both must be positive", spacing, length));
  System system;
  const auto points = std::max<std::int64_t>(5, std::llround(length / spacing));
  system.grid = {{points, points, points}, {spacing, spacing, spacing}, Boundary::periodic};
  system.electrons = species->valence();
  const double centre = 0.5 * system.grid.length(0);
  system.atoms = {{0, {centre, centre, centre}}};
  system.species = {std::move(species)};
  // s and p shells are completed in sixths, d shells in tenths: five states more than the filled ones suffice for each.
  system.states = static_cast<int>(std::ceil(system.electrons / 2)) + 5;
  return system;
}

EggBox egg_box(const System& system, const comm::Communicator& world, ProcessCounts counts, ModelOptions model,
               const ScfOptions& options, int steps, const Vec3& direction) {
  comm::on_every_rank(world, [&] {
    if (steps < 2)
      throw core::InvalidArgument(fmt::format("{} positions of an atom were asked for; at least 2 are needed", steps));
    if (std::all_of(direction.begin(), direction.end(), [](double d) { return d == 0; }))
      throw core::InvalidArgument("the direction in which the atoms move is zero; give one, such as {1, 0, 0}");
    if (!system.symmetries.empty())
      throw core::InvalidArgument("k-points reduced by symmetry were given; atoms that move between grid points break "
                                  "the symmetries of the grid: give all k-points");
    if (system.jellium) throw core::InvalidArgument("a jellium sphere has no atoms to move; give a system of atoms");
  });
  model.odd_allowed = true;
  const Vec3 way = combined(direction, system.grid.steps());
  EggBox result;
  State state;
  for (int step = 0; step < steps; ++step) {
    System moved = system;
    Vec3 shift = way;
    for (double& component : shift) component *= static_cast<double>(step) / steps;
    for (Atom& atom : moved.atoms)
      for (std::size_t axis = 0; axis < 3; ++axis) atom.position[axis] += shift[axis];
    Model here(std::move(moved), world, counts, model);
    State next = here.empty_state();
    if (step > 0) next.orbitals = std::move(state.orbitals);  // the density starts from the atoms again
    state = std::move(next);
    const GroundState ground = solve_ground_state(here, state, options);
    if (!ground.converged)
      throw core::Error(fmt::format(
          "the ground state with the atoms moved by {} of {} steps through a grid cell does not converge ({}); raise "
          "max_iterations or the tolerances",
          step, steps, ground.reason));
    result.shifts.push_back(shift);
    result.energies.push_back(ground.energy.total);
  }
  const auto [least, most] = std::minmax_element(result.energies.begin(), result.energies.end());
  result.spread = *most - *least;
  for (int step = 0; step < steps; ++step) {  // the last point's neighbour is the first one, one cell further
    const double change =
        result.energies[static_cast<std::size_t>((step + 1) % steps)] - result.energies[static_cast<std::size_t>(step)];
    result.largest_force = std::max(result.largest_force, std::abs(change) * steps / norm(way));
  }
  return result;
}

}  // namespace halocline::tddft
