// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/tile_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/lattice/neighbours.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::lattice {

TEST_CASE("layout: every site has one place, and the place gives the site back") {
  for (const Coordinates<4>& extents : {Coordinates<4>{4, 6, 8, 10}, {2, 2, 2, 2}, {8, 8, 8, 8}, {16, 4, 4, 4}})
    for (int lanes : {1, 2, 4, 8, 16}) {
      const auto layout = TileLayout::best(test::one_process(extents), lanes);
      CHECK(layout->lanes() <= lanes);
      CHECK(layout->lanes() * layout->tiles() * 2 == product<4>(extents));
      std::set<std::tuple<int, std::int64_t, int>> seen;
      for (std::int64_t site = 0; site < product<4>(extents); ++site) {
        const auto x = coordinates_of<4>(site, extents);
        const auto place = layout->locate(x);
        CHECK(place.parity == (x[0] + x[1] + x[2] + x[3]) % 2);
        CHECK(layout->coordinates(place) == x);
        seen.insert({place.parity, place.tile, place.lane});
      }
      CHECK(std::ssize(seen) == product<4>(extents));
    }
}

TEST_CASE("layout: the parts of a tile hold its lanes in order") {
  for (const Coordinates<4>& extents : {Coordinates<4>{4, 4, 4, 4}, {16, 4, 4, 4}, {16, 16, 6, 8}, {64, 2, 2, 2}}) {
    const auto whole = TileLayout::best(test::one_process(extents));
    REQUIRE(whole->lanes() == 16);
    for (int lanes : {1, 2, 4, 8}) {
      const auto layout = TileLayout::split(whole, lanes);
      CHECK(layout->lanes() == lanes);
      CHECK(TileLayout::same_order(*layout, *whole));
      CHECK(TileLayout::same_order(*layout, *TileLayout::split(whole, 2)));
      for (std::int64_t site = 0; site < product<4>(extents); ++site) {
        const auto x = coordinates_of<4>(site, extents);
        const auto in_whole = whole->locate(x), place = layout->locate(x);
        CHECK(place.parity == in_whole.parity);
        CHECK(place.tile == in_whole.tile * (16 / lanes) + in_whole.lane / lanes);
        CHECK(place.lane == in_whole.lane % lanes);
        CHECK(layout->coordinates(place) == x);
      }
    }
    CHECK(TileLayout::split(whole, 16) == whole);
    CHECK(TileLayout::same_order(*whole, *TileLayout::best(whole->geometry_ptr())));
    CHECK_FALSE(TileLayout::same_order(*whole, *TileLayout::best(whole->geometry_ptr(), 8)));
    CHECK_FALSE(*whole == *TileLayout::split(whole, 8));
    CHECK_THROWS_WITH_AS(TileLayout::split(TileLayout::split(whole, 4), 2), doctest::Contains("give the whole one"),
                         core::InvalidArgument);
    CHECK_THROWS_WITH_AS(TileLayout::split(whole, 3), doctest::Contains("3 lanes"), core::InvalidArgument);
  }
}

TEST_CASE(
    "layout: tiles have the lanes of a register, or half of them beyond the caches of a CPU that halves registers") {
  constexpr std::int64_t cache = 1000;
  CHECK(lanes_of_tiles(16, 1000, true, cache) == 16);
  CHECK(lanes_of_tiles(16, 1001, true, cache) == 8);
  CHECK(lanes_of_tiles(8, 1001, true, cache) == 4);
  CHECK(lanes_of_tiles(16, 1001, false, cache) == 16);
  CHECK(lanes_of_tiles(16, 0, true, cache) == 16);
  // Small fields stay within any last-level cache.
  const NeighboursByPrecision neighbours(TileLayout::best(test::one_process({4, 4, 4, 4})), 1, 192);
  CHECK(neighbours.in<float>()->layout().lanes() == std::min(16, core::native_lanes<float>));
  CHECK(neighbours.in<double>()->layout().lanes() == std::min(16, core::native_lanes<double>));
  CHECK(TileLayout::same_order(neighbours.in<float>()->layout(), neighbours.in<double>()->layout()));
}

TEST_CASE("layout: the neighbour table leads from a site to the site beside it") {
  const Coordinates<4> extents{4, 6, 8, 4};
  const auto whole = TileLayout::best(test::one_process(extents));
  for (const auto& layout :
       {TileLayout::best(test::one_process(extents), 1), TileLayout::best(test::one_process(extents), 4), whole,
        TileLayout::split(whole, 8), TileLayout::split(whole, 4), TileLayout::split(whole, 2)}) {
    const Neighbours neighbours(layout);
    for (int parity = 0; parity < 2; ++parity)
      for (std::int64_t tile = 0; tile < layout->tiles(); ++tile)
        for (int d = 0; d < 8; ++d)
          for (int lane = 0; lane < layout->lanes(); ++lane) {
            const Neighbour n = neighbours.of(parity, tile)[d];
            REQUIRE(n.slot < 0);
            auto x = layout->coordinates({parity, tile, lane});
            const int mu = axis_of(d);
            x[mu] = (x[mu] + step_of(d) + extents[mu]) % extents[mu];
            const int from = n.slot == Neighbour::rotated ? neighbours.rotation(d)[lane] : lane;
            CHECK(layout->coordinates({1 - parity, n.tile, from}) == x);
          }
  }
}

TEST_CASE("layout: sixteen lanes wherever the box allows them, fewer where it does not") {
  CHECK(TileLayout::best(test::one_process({4, 4, 4, 4}))->lanes() == 16);
  CHECK(TileLayout::best(test::one_process({2, 2, 2, 2}))->lanes() == 1);
  CHECK(TileLayout::best(test::one_process({6, 6, 6, 12}))->lanes() == 2);
  CHECK(TileLayout::best(test::one_process({24, 24, 24, 24}))->lanes() == 16);
}

TEST_CASE("layout: what does not fit is refused with what would do") {
  CHECK_THROWS_WITH_AS(TileLayout::best(test::one_process({4, 4, 4, 5})), doctest::Contains("5 sites along t"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(TileLayout(test::one_process({4, 4, 4, 6}), {1, 1, 1, 2}),
                       doctest::Contains("2 lanes along t need a local extent divisible by 4"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(TileLayout(test::one_process({4, 4, 4, 4}), {3, 1, 1, 1}), doctest::Contains("3 lanes"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(TileLayout::best(test::one_process({4, 4, 4, 4}), 7), doctest::Contains("7 lanes"),
                       core::InvalidArgument);
}

}  // namespace halocline::lattice
