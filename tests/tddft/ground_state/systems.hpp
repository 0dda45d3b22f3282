// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Systems that the tests of the ground state solve.

#include "halocline/tddft/model/model.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "halocline/tddft/pseudopotential/ky.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halocline::tests {

using namespace halocline::tddft;

inline constexpr double bohr_per_angstrom = 1 / 0.52917721067;
inline constexpr double ev_per_hartree = 27.21138505;

/// Where the reference data are, next to the repository; empty where they are not.
inline std::string electrons_data() {
  const std::string folder = "../shared/data/electrons/";
  return std::filesystem::exists(folder + "reference.json") ? folder : std::string();
}

/// Atoms of one element, by its built-in pseudopotential, in a box about the origin.
inline System molecule(const std::vector<std::pair<std::string_view, Vec3>>& atoms, double box, double spacing,
                       int states, int spins = 1) {
  System system;
  system.grid.boundary = Boundary::isolated;
  const auto points = static_cast<std::int64_t>(box / spacing + 0.5);
  system.grid.extent = {points, points, points};
  system.grid.spacing = {spacing, spacing, spacing};
  std::vector<std::string> symbols;
  for (const auto& [symbol, position] : atoms) {
    auto found = std::find(symbols.begin(), symbols.end(), symbol);
    if (found == symbols.end()) {
      system.species.push_back(goedecker(symbol));
      found = symbols.insert(symbols.end(), std::string(symbol));
    }
    const auto species = static_cast<int>(found - symbols.begin());
    system.atoms.push_back({species, position});
    system.electrons += system.species[static_cast<std::size_t>(species)]->valence();
  }
  system.states = states;
  system.spins = spins;
  system.channels.assign(static_cast<std::size_t>(spins), Channel{});
  for (int spin = 0; spin < spins; ++spin) system.channels[static_cast<std::size_t>(spin)].spin = spin;
  return system;
}

/// The eight-atom cell of silicon in the reference: a = 10.26 bohr, 2 x 2 x 2 k-points.
inline System silicon(std::int64_t points, int states) {
  constexpr double a = 10.26;
  System system;
  system.grid.extent = {points, points, points};
  const double spacing = a / static_cast<double>(points);
  system.grid.spacing = {spacing, spacing, spacing};
  system.species.push_back(read_ky(electrons_data() + "Si_rps.dat", "Si", 2));
  for (const Vec3& r : {Vec3{0, 0, 0}, Vec3{0, .5, .5}, Vec3{.5, 0, .5}, Vec3{.5, .5, 0}})
    for (const double shift : {0.0, 0.25})
      system.atoms.push_back({0, {a * (r[0] + shift), a * (r[1] + shift), a * (r[2] + shift)}});
  system.electrons = 32;
  system.states = states;
  system.channels = monkhorst_pack(system.grid, {2, 2, 2});
  return system;
}

/// The jellium sphere of the reference: ten electrons in a periodic cube of 16 angstrom.
inline System jellium() {
  System system;
  const double spacing = 0.25 * bohr_per_angstrom, centre = 7.75 * bohr_per_angstrom;
  system.grid.extent = {64, 64, 64};
  system.grid.spacing = {spacing, spacing, spacing};
  system.jellium = JelliumSphere{1.0, 10.0, {centre, centre, centre}};
  system.electrons = 10;
  system.states = 8;
  system.channels = monkhorst_pack(system.grid, {1, 1, 2});
  return system;
}

/// Acetylene of the reference: an isolated box of 10 angstrom.
inline System acetylene() {
  System system;
  system.filtered = false;  // as the reference
  const double spacing = 0.25 * bohr_per_angstrom;
  system.grid.boundary = Boundary::isolated;
  system.grid.extent = {40, 40, 40};
  system.grid.spacing = {spacing, spacing, spacing};
  system.species = {read_ky(electrons_data() + "C_rps.dat", "C", 1),
                    read_ky(electrons_data() + "H_rps.dat", "H", 0, 0)};
  const double carbon = 0.599672 * bohr_per_angstrom, hydrogen = 1.662257 * bohr_per_angstrom;
  system.atoms = {{0, {0, 0, carbon}}, {0, {0, 0, -carbon}}, {1, {0, 0, hydrogen}}, {1, {0, 0, -hydrogen}}};
  system.electrons = 10;
  system.states = 8;
  return system;
}

}  // namespace halocline::tests
