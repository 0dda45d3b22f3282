// SPDX-License-Identifier: Apache-2.0
// Numbers that another code publishes: SALMON's test 301, a ball of gold after an impulse.

#include "maxwell/boxes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numbers>

using namespace halocline;
using namespace halocline::maxwell;

namespace {

/// A ball as SALMON's test sees it: a component of E is inside where the nodes of both of its ends are. Lengths are in
/// steps of the grid.
class BallOfNodes final : public Shape {
public:
  BallOfNodes(double centre, double radius) : centre_(centre), square_(radius * radius) {}
  bool contains(const Vector3& place) const noexcept override {
    for (const double end : {-0.5, 0.5}) {
      double sum = 0;
      for (const double x : place) {
        const bool at_node = std::abs(x - std::round(x)) < 0.25;
        const double node = at_node ? std::round(x) : std::round(x + end);
        sum += (node - centre_) * (node - centre_);
      }
      if (sum > square_) return false;
    }
    return true;
  }

private:
  double centre_, square_;
};

constexpr double bohr = 0.529177210903;              // angstrom
constexpr double light = 137.035999084;              // atomic units
constexpr double light_in_fs = 2997.92458;           // angstrom/fs
constexpr double hbar_c = 1973.269804593025;         // eV angstrom
constexpr double printed = -0.456180603062217E+001;  // e angstrom, SALMON's test 301 after 20 steps

/// Gold as in the test: A. D. Rakic and others, Appl. Opt. 37, 5271 (1998).
Medium gold(double step) {
  const double plasma = 9.03;
  const double terms[6][3] = {{0.760, 0.053, 0.0},   {0.024, 0.241, 0.415}, {0.010, 0.345, 0.830},
                              {0.071, 0.870, 2.969}, {0.601, 2.494, 4.304}, {4.384, 2.214, 13.32}};
  const double unit = step / hbar_c;
  Medium medium;
  for (const auto& [strength, damping, resonance] : terms)
    medium.poles.push_back({resonance * unit, damping * unit, strength * plasma * plasma * unit * unit});
  return medium;
}

}  // namespace

TEST_CASE("a ball of gold after an impulse has the dipole moment of SALMON's test 301") {
  // 100^3 nodes at 1.2 angstrom, radius 15 angstrom, 20 steps of 0.23 attoseconds. The field does not reach the ends.
  const double step = 1.2;
  YeeGrid grid;
  grid.cells = {101, 101, 101};
  grid.ends.fill({Boundary::electric, Boundary::electric});
  grid.time_step = light_in_fs * 2.3e-4 / step;
  Matter matter;
  matter.add(std::make_shared<BallOfNodes>(50.5, 15 / step), gold(step));
  const double to_dipole = -0.01 * light / (4 * std::numbers::pi) / bohr * step * step;  // of an impulse of 0.01

  SUBCASE("started like theirs") {
    Simulation<double> simulation(grid, matter, test::alone(grid), SimulationOptions{1, "auto", false});
    // They begin with currents half a step before the first field, and polarisations of a step of them.
    for (Polarisation<double>& pole : simulation.state().polarisations(2)) {
      const Box& box = pole.strength.box();
      for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
        for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
          for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) {
            pole.j[0].at(x, y, z) = pole.strength.at(x, y, z);
            pole.p[0].at(x, y, z) = grid.time_step * pole.strength.at(x, y, z);
          }
    }
    simulation.touch(2);
    simulation.run(19);
    const double found = dipole_of(simulation.state())[2] * to_dipole;
    MESSAGE("dipole moment ", found, " e angstrom; printed ", printed);
    CHECK(std::abs(found / printed - 1) < 1e-6);
  }
  SUBCASE("a kick of ours differs by a part of a step") {
    Simulation<double> simulation(grid, matter, test::alone(grid), SimulationOptions{0, "auto", false});
    simulation.keep_dipole(20);
    simulation.kick({0, 0, 1});
    simulation.run(20);
    const double found = simulation.dipole()[2] * to_dipole;
    MESSAGE("dipole moment ", found);
    CHECK(std::abs(found / printed - 1) < 2e-2);
  }
}
