// SPDX-License-Identifier: Apache-2.0
//
// Sites, neighbours and face slots of a device's box against loops over coordinates, for even and odd extents, both
// parities of the origin, and against the lattice's own layout.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/lattice/tile_layout.hpp"
#include "halocline/qcd/device/box.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

/// Boxes as a process may hold them: odd extents of y, z and t, even of one site, and origins of either parity.
std::vector<Box> boxes() {
  std::vector<Box> all;
  for (const std::array<int, 4>& extent : {std::array<int, 4>{4, 4, 4, 4},
                                           {8, 4, 6, 2},
                                           {2, 2, 2, 2},
                                           {6, 3, 5, 1},
                                           {4, 1, 1, 3},
                                           {2, 5, 4, 3},
                                           {4, 3, 2, 2}})
    for (int origin = 0; origin < 2; ++origin) {
      Box box{};
      std::copy(extent.begin(), extent.end(), box.extent);
      box.sites = extent[0] * extent[1] * extent[2] * extent[3] / 2;
      box.origin_parity = origin;
      all.push_back(box);
    }
  return all;
}

template <class Visit>
void for_each_site(const Box& box, const Visit& visit) {
  for (int t = 0; t < box.extent[3]; ++t)
    for (int z = 0; z < box.extent[2]; ++z)
      for (int y = 0; y < box.extent[1]; ++y)
        for (int x = 0; x < box.extent[0]; ++x) visit(Coordinates{{x, y, z, t}});
}
int parity_of(const Box& box, const Coordinates& c) {
  return (c.x[0] + c.x[1] + c.x[2] + c.x[3] + box.origin_parity) % 2;
}
bool same(const Coordinates& a, const Coordinates& b) { return std::equal(a.x, a.x + 4, b.x); }

}  // namespace

TEST_CASE("device box: a site's index counts those of its parity before it, x fastest") {
  for (const Box& box : boxes()) {
    std::array<int, 2> before{0, 0};
    int wrong = 0;
    for_each_site(box, [&](const Coordinates& c) {
      const int parity = parity_of(box, c);
      const int site = before[parity]++;
      if (box.index(c) != site || !same(box.coordinates(parity, site), c)) ++wrong;
    });
    CHECK(wrong == 0);
    CHECK(before[0] == box.sites);
    CHECK(before[1] == box.sites);
  }
}

TEST_CASE("device box: neighbours are one step away, periodic, and of the other parity inside") {
  for (const Box& box : boxes()) {
    int wrong = 0;
    for_each_site(box, [&](const Coordinates& c) {
      for (int d = 0; d < 8; ++d) {
        const int axis = d % 4, extent = box.extent[axis];
        Coordinates to = c;
        to.x[axis] = (c.x[axis] + (d < 4 ? 1 : extent - 1)) % extent;
        if (box.neighbour(c, d) != box.index(to)) ++wrong;
        const bool edge = d < 4 ? c.x[axis] + 1 == extent : c.x[axis] == 0;
        if (box.at_edge(c, d) != edge) ++wrong;
        // With an odd extent the periodic image has the same parity: such an axis must be split, and is not asked.
        if (!edge && parity_of(box, to) == parity_of(box, c)) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("device box: every site of a face has a slot of its own, and the slot gives it back") {
  for (const Box& box : boxes())
    for (int axis = 0; axis < 4; ++axis)
      for (bool upper : {false, true})
        for (int parity = 0; parity < 2; ++parity) {
          CAPTURE(axis);
          std::set<int> slots;
          int on_face = 0, wrong = 0;
          for_each_site(box, [&](const Coordinates& c) {
            if (parity_of(box, c) != parity || c.x[axis] != (upper ? box.extent[axis] - 1 : 0)) return;
            ++on_face;
            const int slot = box.slot(c, axis);
            slots.insert(slot);
            Coordinates found{};
            if (slot < 0 || slot >= box.face_sites(axis)) ++wrong;
            if (!box.face_site(parity, axis, upper, slot, found) || !same(found, c)) ++wrong;
          });
          CHECK(wrong == 0);
          CHECK(static_cast<int>(slots.size()) == on_face);
          // All slots but perhaps the last of a face with an odd number of sites are taken.
          const int face = 2 * box.sites / box.extent[axis];
          CHECK(box.face_sites(axis) == (face + 1) / 2);
          CHECK(on_face >= face / 2);
          CHECK(on_face <= (face + 1) / 2);
          int taken = 0;
          for (int slot = 0; slot < box.face_sites(axis); ++slot) {
            Coordinates found{};
            if (box.face_site(parity, axis, upper, slot, found)) ++taken;
          }
          CHECK(taken == on_face);
        }
}

TEST_CASE("device box: sender and receiver count the slots of a face alike") {
  // Two boxes side by side along each axis: the second one's origin has the parity that many steps give it.
  for (const Box& lower : boxes())
    for (int axis = 0; axis < 4; ++axis) {
      CAPTURE(axis);
      Box upper = lower;
      upper.origin_parity = (lower.origin_parity + lower.extent[axis]) % 2;
      int wrong = 0, pairs = 0;
      for_each_site(lower, [&](const Coordinates& c) {
        if (!lower.at_edge(c, axis)) return;
        Coordinates across = c;
        across.x[axis] = 0;
        ++pairs;
        if (parity_of(lower, c) == parity_of(upper, across)) ++wrong;
        if (lower.slot(c, axis) != upper.slot(across, axis)) ++wrong;
      });
      CHECK(wrong == 0);
      CHECK(pairs == 2 * lower.sites / lower.extent[axis]);
    }
}

TEST_CASE("device box: Box::of takes extents and parity from the geometry, in the order of one-lane tiles") {
  for (const lattice::Coordinates<4>& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, {8, 4, 6, 2}}) {
    const auto geometry = test::one_process(extents);
    const Box box = Box::of(*geometry);
    const lattice::TileLayout layout(geometry, {1, 1, 1, 1});
    CHECK(box.sites == layout.tiles());
    CHECK(box.origin_parity == 0);
    CHECK(box.split == 0);
    int wrong = 0;
    for_each_site(box, [&](const Coordinates& c) {
      const lattice::Coordinates<4> x{c.x[0], c.x[1], c.x[2], c.x[3]};
      const auto place = layout.locate(x);
      if (place.tile != box.index(c) || place.parity != parity_of(box, c) || geometry->parity(x) != place.parity)
        ++wrong;
    });
    CHECK(wrong == 0);
    for (unsigned emulated = 0; emulated < 16; ++emulated) {
      const Box split = Box::of(*geometry, emulated);
      for (int axis = 0; axis < 4; ++axis) CHECK(split.is_split(axis) == ((emulated >> axis & 1u) != 0));
    }
  }
}

TEST_CASE("device box: what cannot be counted even-odd is refused") {
  CHECK_THROWS_WITH_AS(Box::of(*test::one_process({4, 4, 3, 4})), doctest::Contains("3 sites along z"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(Box::of(*test::one_process({4, 4, 4, 4}), 16), doctest::Contains("bits 0 to 3"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(Box::of(*test::one_process({1 << 10, 1 << 10, 1 << 10, 2})), doctest::Contains("2147483648"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd::device
