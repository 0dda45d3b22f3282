// SPDX-License-Identifier: Apache-2.0
//
// The nonlinear core correction on the grid: its density, energy, potential and forces.

#include "halocline/tddft/model/forces.hpp"
#include "halocline/tddft/model/model.hpp"
#include "tddft/ions/core_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <string>

namespace halocline::tddft {
namespace {

using test::alone;
using test::core_system;
using test::some_density;

System with_spins(System system, int spins) {
  system.spins = spins;
  system.channels = monkhorst_pack(system.grid, {1, 1, 1}, {0, 0, 0}, true, spins);
  return system;
}

std::vector<double> densities(const System& system, const Box& box) {
  std::vector<double> n = some_density(system.grid, box);
  const std::size_t points = n.size();
  for (std::size_t i = 0; system.spins == 2 && i < points; ++i) n.push_back(0.4 * n[i] * n[i] / 0.05);
  return n;
}

Model model_of(const System& system, const char* xc) {
  return {system, comm::Communicator::self(), ProcessCounts{}, {.xc = xc}};
}

}  // namespace

TEST_CASE("core correction: the density on the grid is the sum over the ions and their images") {
  const System periodic = core_system(Boundary::periodic, {40, 36, 48}), isolated = core_system(Boundary::isolated);
  const Grid& grid = periodic.grid;
  double sum = 0, exact = 0;
  for (const double n : core_density(periodic, alone(periodic))) sum += n * grid.point_volume();
  for (const Atom& atom : periodic.atoms) {
    const Pseudopotential& p = *periodic.species[static_cast<std::size_t>(atom.species)];
    constexpr int steps = 4000;
    for (int i = 1; i < steps && p.core_radius() > 0; ++i) {
      const double r = p.core_radius() * i / steps;
      exact += 4 * std::numbers::pi * r * r * p.core_density(r) * p.core_radius() / steps;
    }
  }
  CHECK(sum == doctest::Approx(exact).epsilon(1e-3));
  const auto decomposition = alone(isolated);
  const auto density = core_density(isolated, decomposition);
  const std::int64_t i = 3, j = 4, k = 7;
  double expected = 0;
  for (const Atom& atom : isolated.atoms) {
    const double x = isolated.grid.position(0, i) - atom.position[0],
                 y = isolated.grid.position(1, j) - atom.position[1],
                 z = isolated.grid.position(2, k) - atom.position[2];
    expected +=
        isolated.species[static_cast<std::size_t>(atom.species)]->core_density(std::sqrt(x * x + y * y + z * z));
  }
  CHECK(density[static_cast<std::size_t>(decomposition.box().index(i, j, k))] == doctest::Approx(expected));
  CHECK(core_density(test::ion_system(Boundary::periodic), alone(test::ion_system(Boundary::periodic))).empty());
}

TEST_CASE("core correction: energy and potential are those of valence and core together, half of it to each spin") {
  for (const int spins : {1, 2}) {
    const System system = with_spins(core_system(Boundary::periodic), spins);
    Model model = model_of(system, "pz");
    const std::vector<double> n = densities(system, model.decomposition().box());
    std::vector<double> with_core = n, expected(n.size()), v(n.size()), without(n.size());
    const auto core = model.core_density();
    for (std::size_t i = 0; i < n.size(); ++i) with_core[i] += core[i % core.size()] / spins;
    const double energy = model.xc().evaluate(expected, with_core) * system.grid.point_volume();
    CHECK(model.potential_and_energies(v, n).xc == doctest::Approx(energy).epsilon(1e-13));
    System bare = system;
    bare.species = test::ion_system(Boundary::periodic).species;
    for (Atom& atom : bare.atoms) atom.species = std::min(atom.species, 1);
    std::vector<double> bare_xc(n.size()), bare_v(n.size());
    Model plain = model_of(bare, "pz");
    plain.effective_potential(bare_v, n);
    static_cast<void>(plain.xc().evaluate(bare_xc, n));
    // All but exchange and correlation is the same.
    for (std::size_t i = 0; i < n.size(); i += 13)
      CHECK(v[i] - expected[i] == doctest::Approx(bare_v[i] - bare_xc[i]).epsilon(1e-10));
  }
}

TEST_CASE("core correction: the force is the derivative of the energy on any grid") {
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated})
    for (const int spins : {1, 2})
      for (const char* xc : {"pw", "pbe"}) {
        const std::string name(xc);
        CAPTURE(name);
        CAPTURE(spins);
        const System system = with_spins(core_system(boundary), spins);
        Model model = model_of(system, xc);
        const std::vector<double> n = densities(system, model.decomposition().box());
        const auto force = core_forces(system, model.decomposition(), model.mean_xc_potential(n));
        for (std::size_t atom = 0; atom < 3; ++atom)
          for (std::size_t axis = 0; axis < 3; ++axis) {
            constexpr double step = 1e-3;
            std::array<double, 2> energy{};
            for (std::size_t side = 0; side < 2; ++side) {
              System moved = system;
              moved.atoms[atom].position[axis] += side == 0 ? step : -step;
              Model there = model_of(moved, xc);
              std::vector<double> v(n.size());
              energy[side] = there.potential_and_energies(v, n).xc;
            }
            const double expected = -(energy[0] - energy[1]) / (2 * step);
            CHECK(std::abs(force[atom][axis] - expected) < 1e-6);
            if (atom == 1) CHECK(force[atom][axis] == 0);
          }
      }
}

}  // namespace halocline::tddft
