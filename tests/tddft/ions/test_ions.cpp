// SPDX-License-Identifier: Apache-2.0
//
// What the ions do, on one process: potentials against plain sums, forces against differences, jellium.

#include "halocline/tddft/ions/detail/grid_potential.hpp"
#include "halocline/tddft/ions/ions.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/hartree/hartree.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"
#include "tddft/ions/ion_systems.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace halocline::tddft {
namespace {

using namespace test;

constexpr double pi = std::numbers::pi;

std::vector<double> potential_of(const System& system) { return ion_potential(system, alone(system)); }

double local_energy(const System& system, const std::vector<double>& density) {
  const auto potential = potential_of(system);
  double sum = 0;
  for (std::size_t i = 0; i < density.size(); ++i) sum += density[i] * potential[i];
  return sum * system.grid.point_volume();
}

/// The definition, one vector and atom at a time: the mean of both waves where n = +-N/2.
double plain_sum(const System& system, const Vec3& r) {
  const Grid& grid = system.grid;
  double sum = 0;
  std::array<std::int64_t, 3> n{}, half{};
  for (std::size_t axis = 0; axis < 3; ++axis) half[axis] = grid.extent[axis] / 2;
  for (n[0] = -half[0]; n[0] <= half[0]; ++n[0])
    for (n[1] = -half[1]; n[1] <= half[1]; ++n[1])
      for (n[2] = -half[2]; n[2] <= half[2]; ++n[2]) {
        double weight = 1 / grid.volume(), g2 = 0;
        Vec3 g{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          g[axis] = 2 * pi * static_cast<double>(n[axis]) / grid.length(static_cast<int>(axis));
          g2 += g[axis] * g[axis];
          if (2 * std::abs(n[axis]) == grid.extent[axis]) weight /= 2;
        }
        for (const Atom& atom : system.atoms) {
          const auto& species = *system.species[static_cast<std::size_t>(atom.species)];
          double phase = 0;
          for (std::size_t axis = 0; axis < 3; ++axis) phase += g[axis] * (r[axis] - atom.position[axis]);
          const double v = species.local_fourier(std::sqrt(g2)) - (g2 > 0 ? 4 * pi * species.valence() / g2 : 0.0);
          sum += weight * v * std::cos(phase);
        }
      }
  return sum;
}

}  // namespace

TEST_CASE("ions: the periodic potential is the plain sum over the grid's reciprocal vectors") {
  for (const auto& extent : {std::array<std::int64_t, 3>{6, 5, 8}, std::array<std::int64_t, 3>{5, 7, 5}}) {
    const System system = ion_system(Boundary::periodic, extent, 0.9);
    const auto potential = potential_of(system);
    const Box box = alone(system).box();
    for (const auto& at : {std::array<std::int64_t, 3>{0, 0, 0}, std::array<std::int64_t, 3>{3, 1, 2},
                           std::array<std::int64_t, 3>{4, 4, 4}}) {
      const Vec3 r{system.grid.position(0, at[0]), system.grid.position(1, at[1]), system.grid.position(2, at[2])};
      CHECK(potential[static_cast<std::size_t>(box.index(at[0], at[1], at[2]))] ==
            doctest::Approx(plain_sum(system, r)).epsilon(1e-12));
    }
  }
}

/// The definition in a cell that is not orthogonal: the weighted mean of the shortest waves of each class.
double plain_skew_sum(const System& system, const Vec3& r) {
  const Grid& grid = system.grid;
  const std::array<Vec3, 3> inverse = dual(grid.edges());
  double sum = 0;
  for (std::int64_t i = 0; i < grid.points(); ++i) {
    const std::array<std::int64_t, 3> k{i % grid.extent[0], i / grid.extent[0] % grid.extent[1],
                                        i / (grid.extent[0] * grid.extent[1])};
    std::vector<std::pair<double, Vec3>> images;
    double least = 1e300;
    for (int image = 0; image < 125; ++image) {
      const std::array<int, 3> cell{image % 5 - 3, image / 5 % 5 - 3, image / 25 - 3};
      Vec3 n{};
      for (std::size_t a = 0; a < 3; ++a) n[a] = 2 * pi * static_cast<double>(k[a] + (cell[a] + 1) * grid.extent[a]);
      const Vec3 g = combined(n, inverse);
      images.emplace_back(dot(g, g), g);
      least = std::min(least, dot(g, g));
    }
    double weights = 0;
    const auto weight = [&](double g2) { return std::exp(-(g2 - least) / (0.01 * least + 1e-300)); };
    std::erase_if(images, [&](const auto& each) { return each.first > least * 1.12 + 1e-12; });
    for (const auto& image : images) weights += weight(image.first);
    for (const auto& [g2, g] : images)
      for (const Atom& atom : system.atoms) {
        const auto& species = *system.species[static_cast<std::size_t>(atom.species)];
        const Vec3 apart{r[0] - atom.position[0], r[1] - atom.position[1], r[2] - atom.position[2]};
        const double v = species.local_fourier(std::sqrt(g2)) - (g2 > 1e-12 ? 4 * pi * species.valence() / g2 : 0.0);
        sum += v * std::cos(dot(g, apart)) * weight(g2) / (weights * grid.volume());
      }
  }
  return sum;
}

TEST_CASE("ions: in a cell that is not orthogonal the potential is the plain sum over the shortest vectors") {
  for (const auto& extent : {std::array<std::int64_t, 3>{6, 6, 6}, std::array<std::int64_t, 3>{6, 5, 8}})
    for (const System& system : skew_ion_systems(extent, 0.9)) {
      const auto potential = potential_of(system);
      const Box box = alone(system).box();
      for (const auto& at : {std::array<std::int64_t, 3>{0, 0, 0}, std::array<std::int64_t, 3>{3, 1, 2},
                             std::array<std::int64_t, 3>{4, 4, 4}})
        CHECK(potential[static_cast<std::size_t>(box.index(at[0], at[1], at[2]))] ==
              doctest::Approx(plain_skew_sum(system, system.grid.point(at))).epsilon(1e-11));
    }
}

TEST_CASE("ions: moving all atoms by one step of the grid moves the potential by one point") {
  const System system = ion_system(Boundary::periodic);
  System moved = system;
  for (Atom& atom : moved.atoms) atom.position[1] += system.grid.spacing[1];
  const auto before = potential_of(system), after = potential_of(moved);
  const Box box = alone(system).box();
  double most = 0;
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x)
        most = std::max(most, std::abs(after[static_cast<std::size_t>(box.index(x, (y + 1) % box.extent[1], z))] -
                                       before[static_cast<std::size_t>(box.index(x, y, z))]));
  CHECK(most < 1e-12 * 40);
}

TEST_CASE("ions: the mean of the periodic potential is the short-range part at G = 0") {
  const System system = ion_system(Boundary::periodic);
  double mean = 0, expected = 0;
  for (const double v : potential_of(system)) mean += v / static_cast<double>(system.grid.points());
  for (const Atom& atom : system.atoms)
    expected += system.species[static_cast<std::size_t>(atom.species)]->local_fourier(0) / system.grid.volume();
  CHECK(mean == doctest::Approx(expected).epsilon(1e-11));
}

TEST_CASE("ions: in a cubic cell the periodic potential is the isolated one and the field of the uniform background") {
  // A constant apart: v = -Z/r - 2 pi Z r^2/(3 V) + O(r^4). Sodium is soft enough for the grid to hold all its waves.
  System periodic = ion_system(Boundary::periodic, {36, 36, 36});
  periodic.grid.spacing = {0.4, 0.4, 0.4};
  periodic.species = {goedecker("Na")};
  periodic.atoms = {{0, {7.0, 7.1, 6.9}}};
  System isolated = periodic;
  isolated.grid.boundary = Boundary::isolated;
  for (double& r : isolated.atoms[0].position) r += isolated.grid.position(0, 0);
  const auto a = potential_of(periodic), b = potential_of(isolated);
  const Box box = alone(periodic).box();
  double first = 0;
  for (const auto& at : {std::array<std::int64_t, 3>{17, 17, 17}, std::array<std::int64_t, 3>{19, 17, 18},
                         std::array<std::int64_t, 3>{15, 19, 16}, std::array<std::int64_t, 3>{20, 20, 20}}) {
    double r2 = 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      r2 += std::pow(periodic.grid.position(0, at[axis]) - periodic.atoms[0].position[axis], 2);
    const auto i = static_cast<std::size_t>(box.index(at[0], at[1], at[2]));
    const double rest = a[i] - b[i] + 2 * pi * r2 / (3 * periodic.grid.volume());
    if (first == 0) first = rest;
    CHECK(std::abs(rest - first) < 1e-4);
  }
}

TEST_CASE("ions: an isolated potential is the sum of the atoms', finite where a grid point meets an ion") {
  System system = ion_system(Boundary::isolated, {9, 9, 9});
  system.atoms = {{0, {0, 0, 0}}, {1, {1.5, 0.2, 0.3}}};
  const auto potential = potential_of(system);
  const Box box = alone(system).box();
  const double at_ion = potential[static_cast<std::size_t>(box.index(4, 4, 4))];
  const double other = std::sqrt(1.5 * 1.5 + 0.2 * 0.2 + 0.3 * 0.3), h = std::ranges::max(system.grid.spacing);
  const detail::GridPotential first(*system.species[0], h), second(*system.species[1], h);
  CHECK(at_ion == doctest::Approx(first(0) + second(other)).epsilon(1e-13));
  for (const double v : potential) CHECK(std::isfinite(v));
}

TEST_CASE("ions: the potential that a fine grid can carry is the ion's, and -Z/r from its radius on") {
  for (const char* symbol : {"H", "C", "Si"}) {
    CAPTURE(symbol);
    const auto ion = goedecker(symbol);
    const detail::GridPotential fine(*ion, 0.03);
    CHECK(fine.radius() >= ion->local_radius());
    for (const double part : {0.0, 0.005, 0.1, 0.3, 0.5, 0.8, 0.99}) {
      const double r = part * ion->local_radius();
      CAPTURE(r);
      CHECK(fine(r) == doctest::Approx(ion->local(r)).epsilon(1e-6));
    }
    const detail::GridPotential coarse(*ion, 0.6);
    const double end = coarse.radius() * (1 - 1e-9);
    CHECK(coarse(end) == doctest::Approx(-ion->valence() / end).epsilon(1e-7));
  }
  // Hydrogen at 0.6 bohr: its well is ten times as deep as the grid can carry.
  CHECK(detail::GridPotential(*goedecker("H"), 0.6)(0) > 0.6 * goedecker("H")->local(0));
}

TEST_CASE("ions: a potential of a coarse grid has no waves beyond it, and below them those of the ion") {
  const auto ion = goedecker("C");
  const double h = 0.5, shortest = std::numbers::pi / h;
  const detail::GridPotential potential(*ion, h);
  // 4 pi integral (V + Z/r) sin(q r) r / q dr, by Simpson's rule.
  const auto transform = [&](double q) {
    const int n = 40000;
    const double step = potential.radius() * (1 - 1e-12) / n;
    double sum = 0;
    for (int i = 0; i <= n; ++i) {
      const double r = i * step, weight = i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2;
      sum += weight * (r * potential(r) + ion->valence()) * std::sin(q * r) / q;
    }
    return 4 * std::numbers::pi * step / 3 * sum;
  };
  const auto coulomb = [&](double q) { return 4 * std::numbers::pi * ion->valence() / (q * q); };
  for (const double q : {0.3, 1.1, 2.9, 0.6 * shortest})
    CHECK(transform(q) == doctest::Approx(ion->local_fourier(q)).epsilon(1e-5).scale(1));
  for (const double q : {1.4 * shortest, 1.7 * shortest})
    CHECK(std::abs(transform(q) - coulomb(q)) < 1e-4 * std::abs(ion->local_fourier(q) - coulomb(q)) + 1e-5);
}

TEST_CASE("ions: a local force is minus the ion's potential times the gradient of the density, summed") {
  for (const System& system : all_ion_systems({8, 7, 10}, 0.7)) {
    const auto gradient = some_gradient(system.grid, alone(system).box());
    const auto forces = local_forces(system, alone(system), gradient);
    REQUIRE(forces.size() == system.atoms.size());
    for (std::size_t a = 0; a < system.atoms.size(); ++a) {
      System one = system;
      one.atoms = {system.atoms[a]};
      const auto potential = potential_of(one);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        double sum = 0;
        for (std::size_t i = 0; i < potential.size(); ++i) sum += potential[i] * gradient[axis * potential.size() + i];
        CHECK(std::abs(forces[a][axis] + sum * system.grid.point_volume()) < 1e-11);
      }
    }
  }
}

TEST_CASE("ions: of a smooth density the local force is minus the derivative of the local energy") {
  for (System system : all_ion_systems({28, 26, 30}, 0.5)) {
    system.species = {goedecker("Na"), goedecker("Na")};  // soft enough for this grid
    const Grid& grid = system.grid;
    const Box box = alone(system).box();
    const double width = 0.6;
    const Vec3 centre = grid.point({14, 13, 15});
    for (Atom& atom : system.atoms)
      for (std::size_t axis = 0; axis < 3; ++axis) atom.position[axis] += centre[axis];
    std::vector<double> density(static_cast<std::size_t>(box.points())), gradient(3 * density.size());
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y)
        for (std::int64_t x = 0; x < box.extent[0]; ++x) {
          const auto i = static_cast<std::size_t>(box.index(x, y, z));
          const Vec3 at = grid.point({x, y, z});
          const Vec3 r{at[0] - centre[0] - 0.2, at[1] - centre[1], at[2] - centre[2] + 0.3};
          density[i] = std::exp(-width * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
          for (std::size_t axis = 0; axis < 3; ++axis)
            gradient[axis * density.size() + i] = -2 * width * r[axis] * density[i];
        }
    const auto forces = local_forces(system, alone(system), gradient);
    for (std::size_t a = 0; a < system.atoms.size(); ++a)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double h = 0.01, start = system.atoms[a].position[axis];
        std::array<double, 4> energy{};
        for (int k = 0; k < 4; ++k) {
          system.atoms[a].position[axis] = start + h * std::array{-2, -1, 1, 2}[static_cast<std::size_t>(k)];
          energy[static_cast<std::size_t>(k)] = local_energy(system, density);
        }
        system.atoms[a].position[axis] = start;
        const double slope = (8 * (energy[2] - energy[1]) - (energy[3] - energy[0])) / (12 * h);
        CHECK(std::abs(forces[a][axis] + slope) < 1e-5);
      }
  }
}

TEST_CASE("ions: forces between ions are minus the derivatives of their energy") {
  for (System system : all_ion_systems()) {
    const auto forces = ion_ion_forces(system);
    for (std::size_t a = 0; a < system.atoms.size(); ++a)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double h = 1e-3, start = system.atoms[a].position[axis];
        std::array<double, 2> energy{};
        for (std::size_t side = 0; side < 2; ++side) {
          system.atoms[a].position[axis] = start + (side == 0 ? -h : h);
          energy[side] = ion_ion_energy(system, alone(system));
        }
        system.atoms[a].position[axis] = start;
        CHECK(std::abs(forces[a][axis] - (energy[0] - energy[1]) / (2 * h)) < 1e-5);
      }
  }
}

TEST_CASE("ions: the start density holds the electrons and is nowhere negative") {
  for (const System& system : all_ion_systems()) {
    double charge = 0;
    for (const double n : start_density(system, alone(system))) {
      CHECK(n >= 0);
      charge += n * system.grid.point_volume();
    }
    CHECK(charge == doctest::Approx(system.electrons).epsilon(1e-12));
  }
}

TEST_CASE("ions: jellium is a uniform ball of its charge, and its potential attracts") {
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated}) {
    const System system = jellium_system(boundary);
    const Decomposition decomposition = alone(system);
    const auto density = jellium_density(system, decomposition);
    double charge = 0, filled = 0;
    for (const double n : density) {
      charge += n * system.grid.point_volume();
      CHECK((n == 0 || n == *std::ranges::max_element(density)));
      filled += n > 0;
    }
    CHECK(charge == doctest::Approx(6).epsilon(1e-13));
    // 4 pi/3 r_s^3 6 is the volume; the grid resolves it to some points.
    CHECK(filled * system.grid.point_volume() == doctest::Approx(4 * pi / 3 * std::pow(1.2, 3) * 6).epsilon(0.1));
    std::vector<double> repulsion(density.size());
    Hartree(decomposition, HartreeShare::redundant).solve(repulsion, density);
    const auto potential = ion_potential(system, decomposition);
    double energy = 0;
    for (std::size_t i = 0; i < density.size(); ++i) {
      CHECK(potential[i] == doctest::Approx(-repulsion[i]).epsilon(1e-12));
      energy += 0.5 * density[i] * repulsion[i] * system.grid.point_volume();
    }
    CHECK(ion_ion_energy(system, decomposition) == doctest::Approx(energy).epsilon(1e-12));
    CHECK(local_forces(system, decomposition, some_gradient(system.grid, decomposition.box())).empty());
    if (boundary == Boundary::isolated)  // 3/5 Q^2/R of a ball
      CHECK(energy == doctest::Approx(0.6 * 36 / (1.2 * std::cbrt(6.0))).epsilon(0.05));
  }
}

TEST_CASE("ions: a jellium sphere that misses every grid point, and jellium that is not there, are refused") {
  System system = jellium_system(Boundary::periodic);
  CHECK_THROWS_AS(jellium_density(ion_system(Boundary::periodic), alone(ion_system(Boundary::periodic))),
                  core::InvalidArgument);
  system.jellium = JelliumSphere{0.05, 1, {0.3, 0.35, 0.3}};
  CHECK_THROWS_AS(jellium_density(system, alone(system)), core::InvalidArgument);
}

}  // namespace halocline::tddft
