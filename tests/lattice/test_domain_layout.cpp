// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/domain_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/lattice/domain_field.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::lattice {
namespace {

struct Case {
  Coordinates<4> extents, blocks;
};

const std::vector<Case> cases{
    {{32, 6, 4, 3}, {2, 1, 1, 1}}, {{8, 8, 8, 8}, {2, 2, 2, 2}},  {{4, 4, 4, 4}, {1, 1, 1, 1}},
    {{24, 4, 4, 4}, {3, 1, 1, 1}}, {{16, 4, 4, 6}, {1, 2, 1, 3}}, {{6, 3, 1, 7}, {1, 1, 1, 1}},
    {{2, 2, 2, 2}, {2, 2, 2, 2}},  {{12, 6, 2, 1}, {2, 3, 1, 1}},
};

/// Calls action(layout) for every case with at most 1, 2, ... 16 lanes, and with 32 where they can be doubled.
template <class Action>
void for_each_layout(Action&& action) {
  for (const Case& c : cases)
    for (int lanes : {1, 2, 4, 8, 16}) {
      const auto layout = DomainLayout::best(test::one_process(c.extents), c.blocks, lanes);
      CAPTURE(c.extents[0]);
      CAPTURE(c.extents[3]);
      CAPTURE(lanes);
      action(*layout, lanes);
      if (lanes != 16) continue;
      if (const auto twice = layout->doubled()) action(*twice, 32);
    }
}

/// Where the site beside x in direction d is, and whether a face of the domain of x lies between.
struct Beside {
  Coordinates<4> x;
  bool crosses;
};

Beside beside(const DomainLayout& layout, Coordinates<4> x, int d) {
  const int mu = d % 4, step = d < 4 ? 1 : -1;
  const auto extent = layout.geometry().local()[mu];
  const auto within = x[mu] % layout.block()[mu] + step;
  x[mu] = (x[mu] + step + extent) % extent;
  return {x, within < 0 || within >= layout.block()[mu]};
}

}  // namespace

TEST_CASE("domain layout: every site has one place, and the place gives the site back") {
  for_each_layout([](const DomainLayout& layout, int lanes) {
    const auto& extents = layout.geometry().local();
    CHECK(layout.lanes() <= lanes);
    CHECK(std::int64_t{layout.lanes()} * layout.tiles() * layout.domains() == product<4>(extents));
    std::set<std::tuple<int, int, int>> seen;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < product<4>(extents); ++i) {
      const auto x = coordinates_of<4>(i, extents);
      const auto place = layout.locate(x);
      wrong += place.domain < 0 || place.domain >= layout.domains() || place.tile < 0 || place.tile >= layout.tiles() ||
               place.lane < 0 || place.lane >= layout.lanes();
      wrong += layout.coordinates(place) != x;
      seen.insert({place.domain, place.tile, place.lane});
    }
    CHECK(wrong == 0);
    CHECK(std::ssize(seen) == product<4>(extents));
  });
}

TEST_CASE("domain layout: domains are boxes coloured like a chess board, colour 0 first") {
  for_each_layout([](const DomainLayout& layout, int) {
    const auto& extents = layout.geometry().local();
    CHECK(layout.first_domain(0) == 0);
    CHECK(layout.first_domain(2) == layout.domains());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < product<4>(extents); ++i) {
      const auto x = coordinates_of<4>(i, extents);
      const auto domain = layout.locate(x).domain;
      std::int64_t sum = 0;
      for (int axis = 0; axis < 4; ++axis) {
        const auto b = x[axis] / (extents[axis] / layout.blocks()[axis]);
        wrong += layout.block_coordinates(domain)[axis] != b;
        sum += b;
      }
      wrong += layout.colour(domain) != sum % 2;
      wrong += domain < layout.first_domain(layout.colour(domain));
      wrong += domain >= layout.first_domain(layout.colour(domain) + 1);
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("domain layout: the tables lead from every lane to the site beside it, or to the slot of a face") {
  for_each_layout([](const DomainLayout& layout, int) {
    std::int64_t wrong = 0;
    for (std::int32_t domain = 0; domain < layout.domains(); ++domain)
      for (std::int32_t tile = 0; tile < layout.tiles(); ++tile)
        for (int lane = 0; lane < layout.lanes(); ++lane)
          for (int d = 0; d < 8; ++d) {
            const auto [there, crosses] = beside(layout, layout.coordinates({domain, tile, lane}), d);
            const DomainNeighbour n = layout.of(tile)[d];
            const bool at_edge = n.slot != DomainNeighbour::inside;
            wrong += crosses && !at_edge;
            if (!at_edge) {
              wrong += layout.coordinates({domain, n.tile, lane}) != there;
              continue;
            }
            wrong += crosses != (layout.stays_inside(d)[lane] == 0);
            const auto& looking = layout.looking_lanes(d);
            const auto place = std::find(looking.begin(), looking.end(), lane) - looking.begin();
            wrong += crosses != (place < std::ssize(looking));
            if (!crosses) {
              wrong += layout.coordinates({domain, n.tile, layout.moved(d)[lane]}) != there;
              continue;
            }
            // What the slot carries at that place is the same site, in the domain behind the face.
            const auto behind = layout.link(domain, d).domain;
            wrong += behind != layout.locate(there).domain;
            wrong += layout.coordinates({behind, layout.seen_tiles(d)[n.slot], layout.seen_lanes(d)[place]}) != there;
          }
    CHECK(wrong == 0);
  });
}

TEST_CASE("domain layout: a face has one slot for every tile of its edge, in increasing order") {
  for_each_layout([](const DomainLayout& layout, int) {
    for (int d = 0; d < 8; ++d) {
      const int mu = d % 4;
      CHECK(std::int64_t{layout.face_slots(mu)} * layout.face_lanes(mu) * layout.block()[mu] ==
            product<4>(layout.block()));
      CHECK(std::ssize(layout.seen_tiles(d)) == layout.face_slots(mu));
      CHECK(std::ssize(layout.seen_lanes(d)) == layout.face_lanes(mu));
      CHECK(std::ssize(layout.looking_lanes(d)) == layout.face_lanes(mu));
      std::int32_t next = 0;
      for (std::int32_t tile = 0; tile < layout.tiles(); ++tile)
        if (layout.of(tile)[d].slot != DomainNeighbour::inside) CHECK(layout.of(tile)[d].slot == next++);
      CHECK(next == layout.face_slots(mu));
      for (const auto& list : {layout.seen_tiles(d), layout.seen_lanes(d), layout.looking_lanes(d)})
        CHECK(std::is_sorted(list.begin(), list.end()));
    }
  });
}

TEST_CASE("domain layout: on one process nothing travels, and an odd ring ends beside its own colour") {
  for_each_layout([](const DomainLayout& layout, int) {
    for (int d = 0; d < 8; ++d)
      for (int colour : {0, 1}) {
        CHECK(layout.arriving(d, colour).empty());
        CHECK(layout.leaving(d, colour).empty());
      }
    for (std::int32_t domain = 0; domain < layout.domains(); ++domain)
      for (int d = 0; d < 8; ++d) {
        const auto& link = layout.link(domain, d);
        REQUIRE(link.domain >= 0);
        CHECK(link.same_colour == (layout.colour(domain) == layout.colour(link.domain)));
        // The way back.
        CHECK(layout.link(link.domain, (d + 4) % 8).domain == domain);
      }
  });
}

TEST_CASE("domain layout: as many lanes as the domain allows, along the axes where they cost least") {
  const auto lanes = [](const Coordinates<4>& extents, const Coordinates<4>& blocks) {
    return DomainLayout::best(test::one_process(extents), blocks)->lanes();
  };
  CHECK(lanes({32, 6, 4, 3}, {2, 1, 1, 1}) == 16);
  CHECK(lanes({4, 4, 4, 4}, {2, 2, 2, 2}) == 16);
  CHECK(lanes({4, 3, 5, 7}, {2, 1, 1, 1}) == 2);
  CHECK(lanes({2, 3, 5, 7}, {2, 1, 1, 1}) == 1);
  // A long x carries them all: three axes then have no lanes to move.
  CHECK(DomainLayout::best(test::one_process({128, 4, 4, 4}), {2, 1, 1, 1})->tile() == Coordinates<4>{16, 1, 1, 1});
}

TEST_CASE("domain layout: tiles of one parity where they are asked for, and neighbours inside have the other") {
  int with_lanes = 0;
  for (const Case& c : cases) {
    const auto layout = DomainLayout::best(test::one_process(c.extents), c.blocks, 16, true);
    REQUIRE(layout->tiles_have_one_parity());
    if (layout->lanes() > 1) ++with_lanes;
    for (std::int32_t tile = 0; tile < layout->tiles(); ++tile) {
      for (int lane = 0; lane < layout->lanes(); ++lane) {
        const auto x = layout->coordinates({0, tile, lane});
        std::int64_t within = 0;
        for (int axis = 0; axis < 4; ++axis) within += x[axis] % layout->block()[axis];
        CHECK(within % 2 == layout->parity(tile));
      }
      for (int d = 0; d < 8; ++d) {
        const auto& neighbour = layout->of(tile)[d];
        const bool inside = neighbour.slot == DomainNeighbour::inside || layout->tile()[d % 4] > 1;
        if (inside) CHECK(layout->parity(neighbour.tile) != layout->parity(tile));
      }
    }
  }
  CHECK(with_lanes > 2);
  CHECK(!DomainLayout(test::one_process({4, 4, 4, 4}), {1, 1, 1, 1}, {4, 1, 1, 1}).tiles_have_one_parity());
  CHECK(DomainLayout::best(test::one_process({4, 4, 4, 4}), {1, 1, 1, 1}, 16, true)->lanes() == 16);
}

TEST_CASE("domain layout: a tile of twice the lanes holds two whole tiles, where any axis can be divided again") {
  int doubled = 0;
  for (const Case& c : cases)
    for (int lanes : {1, 2, 4, 8, 16}) {
      const auto layout = DomainLayout::best(test::one_process(c.extents), c.blocks, lanes);
      const auto twice = layout->doubled();
      const auto& outer = layout->outer();
      CHECK((twice != nullptr) == std::ranges::any_of(outer, [](std::int64_t n) { return n % 2 == 0; }));
      if (!twice) continue;
      ++doubled;
      CHECK(twice->lanes() == 2 * layout->lanes());
      CHECK(twice->blocks() == layout->blocks());
      for (std::int32_t tile = 0; tile < twice->tiles(); ++tile) {
        std::set<std::int32_t> found;
        for (int lane = 0; lane < twice->lanes(); ++lane) {
          const DomainSite there = layout->locate(twice->coordinates({0, tile, lane}));
          CHECK(there.domain == 0);
          found.insert(there.tile);
        }
        CHECK(found.size() == 2);
      }
    }
  CHECK(doubled > 10);
  // Twice is as often as it goes: 32 lanes are the most that any number has.
  const auto most = DomainLayout::best(test::one_process({8, 8, 8, 8}), {1, 1, 1, 1});
  CHECK(most->doubled()->doubled() == nullptr);
}

TEST_CASE("domain layout: what does not fit is refused with what would do") {
  const auto box = test::one_process({12, 6, 4, 5});
  CHECK_THROWS_WITH_AS(DomainLayout(box, {5, 1, 1, 1}, {1, 1, 1, 1}),
                       doctest::Contains("5 domains along x were asked for, but a process holds 12 sites there"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DomainLayout::best(box, {2, 1, 1, 2}), doctest::Contains("give a number that divides 5"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DomainLayout::best(box, {2, 0, 1, 1}), doctest::Contains("0 domains along y"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DomainLayout(box, {2, 1, 1, 1}, {3, 1, 1, 1}),
                       doctest::Contains("3 lanes along x were asked for; give 1, 2, 4, 8 or 16"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DomainLayout(box, {2, 1, 1, 1}, {4, 1, 1, 1}),
                       doctest::Contains("4 lanes along x need domains whose extent they divide, but a domain has 6"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DomainLayout(test::one_process({8, 8, 8, 8}), {1, 1, 1, 1}, {8, 4, 1, 1}),
                       doctest::Contains("has 32 lanes; give a product of at most 16"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DomainLayout::best(box, {2, 1, 1, 1}, 12), doctest::Contains("12 lanes were asked for"),
                       core::InvalidArgument);
}

TEST_CASE("domain field: zero at first, one stretch of memory a domain, columns of a tile side by side") {
  const auto layout = DomainLayout::best(test::one_process({8, 4, 4, 6}), {2, 1, 1, 1}, 4);
  DomainField<float> field(layout, 24, 3);
  CHECK(std::all_of(field.span().begin(), field.span().end(), [](float v) { return v == 0; }));
  CHECK(field.size() == 8 * 4 * 4 * 6 * 24 * 3);
  CHECK(field.column_stride() == 24 * layout->lanes());
  CHECK(field.tile_stride() == 3 * field.column_stride());
  CHECK(field.domain(1) - field.domain(0) == layout->tiles() * field.tile_stride());
  CHECK_THROWS_WITH_AS(DomainField<float>(layout, 0), doctest::Contains("give at least 1"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DomainField<float>(layout, 24, 0), doctest::Contains("0 columns"), core::InvalidArgument);
}

}  // namespace halocline::lattice
