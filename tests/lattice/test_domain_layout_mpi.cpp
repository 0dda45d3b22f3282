// SPDX-License-Identifier: Apache-2.0
//
// Domains over many processes: both sides of a face list the same sites in the same order. Every process writes the
// global index of each site that leaves it, in the order of the lists, and the reader computes what it should find. Of
// two halves along x the colour is that of the published solver: x-half xor (py + pz + pt) mod 2.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/lattice/domain_layout.hpp"

using namespace halocline;
using lattice::Coordinates;
using lattice::DomainLayout;

namespace {

int colour_of(const lattice::Geometry4& geometry, const Coordinates<4>& block, const Coordinates<4>& global) {
  std::int64_t sum = 0;
  for (int axis = 0; axis < 4; ++axis)
    sum += (global[axis] + geometry.global()[axis]) % geometry.global()[axis] / block[axis];
  return static_cast<int>(sum % 2);
}

/// Global indices of what leaves towards the process that sees it in its direction d.
std::vector<std::int64_t> sent(const DomainLayout& layout, int d, int colour) {
  std::vector<std::int64_t> sites;
  for (const auto domain : layout.leaving(d, colour))
    for (const auto tile : layout.seen_tiles(d))
      for (const auto lane : layout.seen_lanes(d))
        sites.push_back(layout.geometry().global_index(layout.coordinates({domain, tile, lane})));
  return sites;
}

/// Global indices of the sites that should arrive in direction d, found from the lanes that look for them.
std::vector<std::int64_t> expected(const DomainLayout& layout, int d, int colour) {
  const auto& geometry = layout.geometry();
  const int mu = d % 4;
  std::vector<std::int64_t> sites;
  for (const auto domain : layout.arriving(d, colour))
    for (std::int32_t tile = 0; tile < layout.tiles(); ++tile) {
      if (layout.of(tile)[d].slot == lattice::DomainNeighbour::inside) continue;
      for (const auto lane : layout.looking_lanes(d)) {
        auto x = layout.coordinates({domain, tile, lane});
        for (int axis = 0; axis < 4; ++axis) x[axis] += geometry.offset()[axis];
        x[mu] = (x[mu] + (d < 4 ? 1 : -1) + geometry.global()[mu]) % geometry.global()[mu];
        CHECK(colour_of(geometry, layout.block(), x) == colour);
        sites.push_back(lattice::linear_index<4>(x, geometry.global()));
      }
    }
  return sites;
}

/// `mine` to the neighbour behind `to`, and what comes from the other side.
std::vector<std::int64_t> shift(const lattice::Geometry4& geometry, comm::Face to,
                                const std::vector<std::int64_t>& mine, std::size_t count) {
  const auto& grid = geometry.grid();
  const int target = grid.neighbour(to), source = grid.neighbour({to.axis, -to.direction});
  std::vector<std::int64_t> theirs(count);
  const bool first = grid.coords()[static_cast<std::size_t>(to.axis)] % 2 == 0;
  for (const bool sending : {first, !first}) {
    if (sending)
      geometry.communicator().send(std::as_bytes(std::span(mine)), target, to.index());
    else
      geometry.communicator().receive(std::as_writable_bytes(std::span(theirs)), source, to.index());
  }
  return theirs;
}

}  // namespace

TEST_CASE("domain layout: what leaves one process is what the other expects, colour by colour") {
  const auto world = comm::world();
  const Coordinates<4> global{24, 12, 8, 6}, multiple{2, 1, 1, 1};
  for (const Coordinates<4>& blocks : {Coordinates<4>{2, 1, 1, 1}, {1, 1, 1, 1}, {1, 2, 1, 1}, {3, 1, 1, 1}})
    for (const auto& dims : comm::possible_grids(global, world.size(), multiple)) {
      const auto geometry = std::make_shared<const lattice::Geometry4>(global, comm::ProcessGrid(world, dims));
      bool divides = true;
      for (int axis = 0; axis < 4; ++axis) divides = divides && geometry->local()[axis] % blocks[axis] == 0;
      if (!divides) continue;
      const auto layout = DomainLayout::best(geometry, blocks, 4);
      std::int64_t arriving_faces = 0, remote_faces = 0;
      for (int d = 0; d < 8; ++d)
        for (int colour : {0, 1}) {
          const auto mine = sent(*layout, d, colour);
          const auto wanted = expected(*layout, d, colour);
          arriving_faces += std::ssize(layout->arriving(d, colour));
          if (!geometry->is_split(d % 4)) {
            CHECK(mine.empty());
            CHECK(wanted.empty());
            continue;
          }
          // Who sees us in its direction d stands on our other side.
          const comm::Face to{d % 4, d < 4 ? -1 : 1};
          REQUIRE(shift(*geometry, to, {std::ssize(mine)}, 1).front() == std::ssize(wanted));
          CHECK(shift(*geometry, to, mine, wanted.size()) == wanted);
        }
      for (std::int32_t domain = 0; domain < layout->domains(); ++domain)
        for (int d = 0; d < 8; ++d) remote_faces += layout->link(domain, d).domain < 0;
      CHECK(arriving_faces == remote_faces);
      if (blocks != Coordinates<4>{2, 1, 1, 1}) continue;
      for (std::int32_t domain = 0; domain < layout->domains(); ++domain)
        CHECK(layout->colour(domain) ==
              (layout->block_coordinates(domain)[0] ^
               (geometry->grid().coords()[1] + geometry->grid().coords()[2] + geometry->grid().coords()[3]) % 2));
    }
}
