// SPDX-License-Identifier: Apache-2.0
#pragma once
// Grids, matter and processes that several tests of Maxwell's equations use.

#include "halocline/comm/group/communicator.hpp"
#include "halocline/maxwell/simulation/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace halocline::maxwell::test {

inline comm::ProcessGrid alone(const YeeGrid& grid) {
  return {comm::Communicator::self(), {1, 1, 1}, {grid.periodic(0), grid.periodic(1), grid.periodic(2)}};
}

/// Walls of one kind at all ends, or periodic. Steps differ along the axes.
inline YeeGrid grid_of(const Index3& cells, Boundary ends, double courant = 0.95) {
  YeeGrid grid;
  grid.cells = cells;
  grid.step = {1.0, 1.1, 0.9};
  for (int a = 0; a < 3; ++a)
    grid.ends[at(a)] = cells[at(a)] == 1 ? std::array{Boundary::periodic, Boundary::periodic} : std::array{ends, ends};
  grid.layer.cells = 3;
  grid.time_step = courant * grid.courant_limit();
  return grid;
}

/// A ball of a Lorentz medium over a conducting slab with a Drude pole, in glass.
inline Matter mixed_matter(const YeeGrid& grid) {
  Matter matter(Medium{1.5, 0, {}});
  const double x = grid.length(0), y = grid.length(1), z = grid.length(2);
  matter.add(cuboid({-1e9, -1e9, 0.55 * z}, {1e9, 1e9, 0.7 * z}), Medium{2, 0.05, {{0, 0.02, 0.09}}});
  matter.add(sphere({x / 2, y / 2, z / 2}, 0.22 * std::min({x, y, z})),
             Medium{2.25, 0, {{0.3, 0.05, 0.1}, {0.2, 0, 0.05}}});
  return matter;
}

template <class T>
void fill_randomly(State<T>& state, unsigned seed) {
  for (int copy = 0; copy < state.copies(); ++copy)
    for (int c = 0; c < components; ++c) {
      // The same number at a point of the grid on any division.
      const Box box = state.part().changing(c, 0, 0);
      for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
        for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
          for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) {
            const Index3 p = state.part().global({x, y, z});
            std::minstd_rand random(
                static_cast<unsigned>(seed + 7919 * (p[0] + 211 * (p[1] + 223 * p[2])) + 1000003 * (c + 6 * copy)));
            random.discard(3);
            state.field(c, copy).at(x, y, z) =
                static_cast<T>(static_cast<double>(random()) / std::minstd_rand::max() - 0.5);
          }
    }
}

}  // namespace halocline::maxwell::test
