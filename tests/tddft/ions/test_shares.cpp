// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shares of a field between atoms, against sums point by point.

#include "halocline/tddft/ions/ions.hpp"
#include "tddft/ions/ion_systems.hpp"

#include <cmath>
#include <doctest/doctest.h>

namespace halocline::tddft {
namespace {

using namespace test;

/// The density of a pseudo-atom at a point, with the images of its cell.
double density_at(const System& system, const DensityTable& table, const Vec3& centre, const Vec3& point) {
  const int images = system.grid.boundary == Boundary::periodic ? 3 : 0;
  const std::array<Vec3, 3> edges = system.grid.edges();
  double sum = 0;
  for (int a = -images; a <= images; ++a)
    for (int b = -images; b <= images; ++b)
      for (int c = -images; c <= images; ++c) {
        const Vec3 shift = combined({double(a), double(b), double(c)}, edges);
        const Vec3 d{point[0] - centre[0] + shift[0], point[1] - centre[1] + shift[1], point[2] - centre[2] + shift[2]};
        if (norm(d) <= table.radius()) sum += table(norm(d));
      }
  return sum;
}

}  // namespace

TEST_CASE("shares: each atom gets the field times its part of the densities, points beyond all atoms in equal parts") {
  std::vector<System> systems = all_ion_systems({10, 9, 12}, 0.8);
  systems.push_back(ion_system(Boundary::isolated, {30, 11, 12}, 0.8));  // with points beyond all atoms
  for (const System& system : systems) {
    const Decomposition decomposition = alone(system);
    const Grid& grid = system.grid;
    const IonTables tables(system);
    const std::vector<double> field = some_gradient(grid, decomposition.box());
    const std::vector<Vec3> found = share_between_atoms(system, decomposition, tables, field);
    std::vector<Vec3> expected(system.atoms.size(), Vec3{});
    std::size_t i = 0, beyond = 0;
    const std::size_t points = field.size() / 3;
    for (std::int64_t z = 0; z < grid.extent[2]; ++z)
      for (std::int64_t y = 0; y < grid.extent[1]; ++y)
        for (std::int64_t x = 0; x < grid.extent[0]; ++x, ++i) {
          std::vector<double> densities;
          double sum = 0;
          for (const Atom& atom : system.atoms) {
            densities.push_back(density_at(system, tables.densities()[static_cast<std::size_t>(atom.species)],
                                           atom.position, grid.point({x, y, z})));
            sum += densities.back();
          }
          if (sum <= 0) ++beyond;
          for (std::size_t a = 0; a < expected.size(); ++a)
            for (std::size_t axis = 0; axis < 3; ++axis)
              expected[a][axis] += grid.point_volume() * field[axis * points + i] *
                                   (sum > 0 ? densities[a] / sum : 1.0 / static_cast<double>(expected.size()));
        }
    if (&system == &systems.back()) CHECK(beyond > 0);
    for (std::size_t a = 0; a < expected.size(); ++a)
      for (std::size_t axis = 0; axis < 3; ++axis) CHECK(std::abs(found[a][axis] - expected[a][axis]) < 1e-11);
  }
}

}  // namespace halocline::tddft
