// SPDX-License-Identifier: Apache-2.0
//
// Ghost sites over many processes: every ghost, corners included, is what its owner wrote.

#include "halocline/comm/group/world.hpp"
#include "halocline/lattice/ghost_field.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

using namespace halocline;
using lattice::Coordinates;

TEST_CASE("ghost field: every ghost holds its owner's number, on any grid of the processes") {
  const auto world = comm::world();
  const Coordinates<4> global = {4, 6, 8, 12};
  const Coordinates<4> multiple = {2, 1, 1, 1};
  for (const auto& dims : comm::possible_grids(global, world.size(), multiple)) {
    const auto geometry = std::make_shared<lattice::Geometry4>(global, comm::ProcessGrid(world, dims));
    const auto& local = geometry->local();
    const int depth = local[0] > 1 && local[1] > 1 && local[2] > 1 && local[3] > 1 ? 2 : 1;
    CAPTURE(depth);
    lattice::GhostField<double> field(geometry, 2, depth);
    for (std::int64_t site = 0; site < geometry->local_volume(); ++site) {
      const auto x = lattice::coordinates_of<4>(site, local);
      for (int c = 0; c < 2; ++c) field.at(x, c) = static_cast<double>(1 + 2 * geometry->global_index(x) + c);
    }
    field.exchange_ghosts();
    std::int64_t wrong = 0;
    Coordinates<4> wide = local;
    for (auto& extent : wide) extent += 2 * depth;
    for (std::int64_t index = 0; index < lattice::product<4>(wide); ++index) {
      Coordinates<4> x = lattice::coordinates_of<4>(index, wide), home;
      for (int axis = 0; axis < 4; ++axis) {
        x[axis] -= depth;
        home[axis] = (x[axis] + geometry->offset()[axis] + global[axis]) % global[axis];
      }
      for (int c = 0; c < 2; ++c)
        wrong += field.at(x, c) != static_cast<double>(1 + 2 * lattice::linear_index<4>(home, global) + c);
    }
    CHECK(wrong == 0);
  }
}
