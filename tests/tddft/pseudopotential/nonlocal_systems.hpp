// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The systems on which the nonlocal part is tested: small, low in symmetry, each hard in another way.

#include "tddft/base/skew_grids.hpp"
#include "tddft/pseudopotential/toy_potential.hpp"

#include <string>
#include <vector>

namespace halocline::tddft::test {

struct NonlocalCase {
  std::string name;
  System system;
};

inline System toy_system(const Grid& grid, std::vector<Atom> atoms, int states = 6) {
  System system;
  system.grid = grid;
  system.species = toy_species();
  system.atoms = std::move(atoms);
  system.states = states;
  return system;
}

inline std::vector<NonlocalCase> nonlocal_cases() {
  // Atoms inside, on a point, on a corner, outside the cell, and two alike one grid step apart along each axis.
  const System general = toy_system({{12, 9, 10}, {0.6, 0.7, 0.55}, Boundary::periodic}, {{0, {3.1, 2.2, 2.7}},
                                                                                          {1, {0.0, 0.0, 0.0}},
                                                                                          {2, {1.8, 2.1, 1.1}},
                                                                                          {1, {-0.7, 7.1, 5.2}},
                                                                                          {0, {3.7, 2.9, 3.25}},
                                                                                          {3, {2.0, 2.0, 2.0}},
                                                                                          {2, {6.9, 0.3, 5.3}}});
  // Spheres of diameter 4.2 in a cell of length 2.5: a point belongs to several images.
  const System tiny =
      toy_system({{5, 6, 5}, {0.5, 0.45, 0.5}, Boundary::periodic}, {{1, {1.1, 0.3, 2.4}}, {2, {2.3, 1.9, 0.2}}}, 4);
  // A box whose walls cut spheres.
  const System isolated = toy_system({{9, 10, 12}, {0.6, 0.55, 0.45}, Boundary::isolated},
                                     {{0, {0.2, -0.1, 0.3}}, {1, {2.3, -2.2, 1.9}}, {2, {-1.0, 0.9, -2.0}}}, 5);
  // Cells that are not orthogonal, with an atom outside and two alike one step apart along each axis.
  std::vector<NonlocalCase> cases{{"general", general}, {"tiny", tiny}, {"isolated", isolated}};
  for (const Grid& grid : skew_grids({12, 9, 10}, {0.6, 0.7, 0.55})) {
    const Vec3 step = combined({1, 1, 1}, grid.steps());
    cases.push_back({"oblique", toy_system(grid, {{0, {3.1, 2.2, 2.7}},
                                                  {1, {-0.7, 7.1, 5.2}},
                                                  {0, {3.1 + step[0], 2.2 + step[1], 2.7 + step[2]}},
                                                  {2, {1.8, 2.1, 1.1}}})});
  }
  return cases;
}

}  // namespace halocline::tddft::test
