// SPDX-License-Identifier: Apache-2.0
//
// Links and clover blocks of a split lattice are those of the whole one, site by site.

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <memory>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "qcd/device/halo_links_definition.hpp"
#include "qcd/random_fields.hpp"

using namespace halocline;

TEST_CASE("device halo: links and clover blocks do not depend on the process grid") {
  const comm::Communicator world = comm::world();
  const int n = world.size();
  const lattice::Coordinates<4> extents{8, 6, n == 3 ? 6 : 4, 4};
  const std::vector<int> dims = n == 8   ? std::vector{2, 2, 2, 1}
                                : n == 3 ? std::vector{1, 1, 3, 1}
                                         : std::vector{n, 1, 1, 1};
  const auto split = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, dims));
  const auto whole = test::one_process(extents);
  qcd::WilsonCloverAction action;
  action.csw = 1.3;
  const auto a = test::random_host_data(split, 0, action), b = test::random_host_data(whole, 0, action);
  const auto &here = a.links.box, &there = b.links.box;
  double links = 0, blocks = 0;
  for (int parity = 0; parity < 2; ++parity)
    for (int site = 0; site < here.sites; ++site) {
      auto c = here.coordinates(parity, site);
      for (int axis = 0; axis < 4; ++axis) c.x[axis] += static_cast<int>(split->offset()[axis]);
      const int other = there.index(c);
      for (int d = 0; d < 8; ++d)
        for (int k = 0; k < 18; ++k)
          links = std::max(links,
                           std::abs(a.links.matrices[18 * ((8 * parity + d) * std::size_t(here.sites) + site) + k] -
                                    b.links.matrices[18 * ((8 * parity + d) * std::size_t(there.sites) + other) + k]));
      for (int k = 0; k < 72; ++k)
        blocks = std::max(blocks, std::abs(a.clover.blocks[72 * (parity * std::size_t(here.sites) + site) + k] -
                                           b.clover.blocks[72 * (parity * std::size_t(there.sites) + other) + k]));
    }
  CHECK(links == 0);
  CHECK(blocks < 1e-14);
}
