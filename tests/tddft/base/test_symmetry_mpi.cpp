// SPDX-License-Identifier: Apache-2.0
//
// Means over the images of symmetries do not depend on how space is divided.

#include "halocline/comm/group/world.hpp"
#include "halocline/tddft/base/symmetry.hpp"
#include "tddft/base/diamond.hpp"

#include <doctest/doctest.h>

namespace halocline::tddft {

using namespace test;

TEST_CASE("symmetry: every division of space gives the same bits") {
  const comm::Communicator world = comm::world();
  System system = diamond(24);
  system.states = 4 * 8;
  const Decomposition whole(comm::Communicator::self(), system, {});
  std::vector<double> expected = uneven(system.grid, whole.box());
  symmetrise(expected, whole, system.symmetries);
  const Box all{{}, system.grid.extent};
  for (const ProcessCounts& counts :
       {ProcessCounts{1, 1, {1, 1, world.size()}}, ProcessCounts{1, 1, {world.size(), 1, 1}},
        ProcessCounts{1, world.size(), {1, 1, 1}}}) {
    if (counts.space[0] > 6 || counts.space[2] > 6) continue;
    const Decomposition decomposition(world, system, counts);
    const Box& box = decomposition.box();
    std::vector<double> mine = uneven(system.grid, box);
    symmetrise(mine, decomposition, system.symmetries);
    bool same = true;
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y)
        for (std::int64_t x = 0; x < box.extent[0]; ++x)
          same = same && mine[static_cast<std::size_t>(box.index(x, y, z))] ==
                             expected[static_cast<std::size_t>(
                                 all.index(box.offset[0] + x, box.offset[1] + y, box.offset[2] + z))];
    CHECK(same);
  }
}

}  // namespace halocline::tddft
