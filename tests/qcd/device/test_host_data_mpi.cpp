// SPDX-License-Identifier: Apache-2.0
//
// What a device is given does not depend on the process grid: links, also those that come from a neighbour, phases
// where the lattice ends, clover blocks.

#include <doctest/doctest.h>

#include <complex>
#include <memory>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/clover/host_clover.hpp"
#include "halocline/qcd/device/host_data.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

constexpr lattice::Coordinates<4> extents{4, 6, 6, 8};
constexpr std::int64_t volume = 4 * 6 * 6 * 8;

/// Every grid of this many ranks that leaves x even and divides the lattice: extents of y, z and t may be odd.
std::vector<std::vector<int>> grids(int ranks) {
  std::vector<std::vector<int>> all;
  for (int x = 1; x <= 2; ++x)
    for (int y = 1; y <= 6; ++y)
      for (int z = 1; z <= 6; ++z)
        for (int t = 1; t <= 8; ++t)
          if (x * y * z * t == ranks && 6 % y == 0 && 6 % z == 0 && 8 % t == 0) all.push_back({x, y, z, t});
  return all;
}

}  // namespace

TEST_CASE("device host data: links, phases and clover blocks do not depend on the process grid") {
  const auto world = comm::world();
  const auto numbers = test::random_links(volume, 17);
  WilsonCloverAction action{.mass = 0.3, .csw = 1.1};
  action.boundary = {std::polar(1.0, 0.5), -1.0, std::polar(1.0, -2.0), -1.0};
  const auto alone = test::one_process(extents);
  const GaugeField whole = GaugeField::from_canonical(alone, numbers);
  const Box all = Box::of(*alone);
  const HostLinks expected = host_links(all, whole, action);
  const HostClover expected_clover = host_clover(all, whole, action);

  for (const auto& dims : grids(world.size())) {
    CAPTURE(dims[0] * 1000 + dims[1] * 100 + dims[2] * 10 + dims[3]);
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, dims));
    const GaugeField gauge = GaugeField::from_canonical(geometry, test::local_part(*geometry, numbers, 36));
    const Box box = Box::of(*geometry);
    const HostLinks links = host_links(box, gauge, action);
    const HostClover clover = host_clover(box, gauge, action);
    CHECK(links.unitarity_violation == expected.unitarity_violation);
    int wrong = 0;
    for (int axis = 0; axis < 4; ++axis) CHECK(box.is_split(axis) == (dims[axis] > 1));
    for (int parity = 0; parity < 2; ++parity)
      for (int site = 0; site < box.sites; ++site) {
        const Coordinates c = box.coordinates(parity, site);
        Coordinates global = c;
        for (int axis = 0; axis < 4; ++axis) global.x[axis] += static_cast<int>(geometry->offset()[axis]);
        if ((global.x[0] + global.x[1] + global.x[2] + global.x[3]) % 2 != parity) ++wrong;
        const int place = all.index(global);
        for (int d = 0; d < 8; ++d) {
          for (int i = 0; i < 18; ++i)
            if (links.matrices[((std::int64_t{8 * parity + d} * box.sites) + site) * 18 + i] !=
                expected.matrices[((std::int64_t{8 * parity + d} * all.sites) + place) * 18 + i])
              ++wrong;
          // What a hop multiplies with, coefficient apart.
          const auto here = box.at_edge(c, d) ? links.edge[d] : 1.0;
          const auto there = all.at_edge(global, d) ? expected.edge[d] : 1.0;
          if (here != there) ++wrong;
        }
        for (int i = 0; i < 72; ++i) {
          const auto at = 72 * (std::int64_t{parity} * box.sites + site) + i;
          const auto from = 72 * (std::int64_t{parity} * all.sites + place) + i;
          // Field strengths are summed in packs of sites, whose widths depend on the box.
          if (!(std::abs(clover.blocks[at] - expected_clover.blocks[from]) <= 1e-14)) ++wrong;
          if (!(std::abs(clover.inverse[at] - expected_clover.inverse[from]) <= 1e-13)) ++wrong;
        }
      }
    CHECK(wrong == 0);
  }
}

}  // namespace halocline::qcd::device
