// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/detail/walk_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "halocline/lattice/domain_layout.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::schwarz {
namespace {

using lattice::DomainLayout;

/// Two domains along x, and tiles of two lanes there.
DomainLayout layout_of(lattice::Coordinates<4> extents) {
  return DomainLayout(test::one_process(extents), {2, 1, 1, 1}, {2, 1, 1, 1});
}

/// Goes through an order, stage by stage, and looks at what each tile needs: that the pass before has finished it and
/// its neighbours inside the domain in an earlier stage. A pass that writes where the pass before the last wrote then
/// destroys nothing that anybody still reads.
void check_laws(const DomainLayout& layout, const WalkOrder& order, int passes, bool by_parity) {
  const auto tiles = static_cast<std::size_t>(layout.tiles());
  std::vector<std::vector<int>> done(static_cast<std::size_t>(passes), std::vector<int>(tiles));
  const auto is_done = [&](int pass, std::int32_t tile) {
    return done[static_cast<std::size_t>(pass)][static_cast<std::size_t>(tile)] > 0;
  };
  bool ready = true;
  for (const auto& stage : order.stages()) {
    std::vector<std::int32_t> visited;
    for (int parity = 0; parity < 2; ++parity) {
      const auto& list = order.tiles(stage.pass, parity);
      const auto i = static_cast<std::size_t>(parity);
      for (std::int32_t at = stage.begin[i]; at < stage.end[i]; ++at)
        visited.push_back(list[static_cast<std::size_t>(at)]);
    }
    for (const auto tile : visited) {
      if (stage.pass == 0) continue;
      ready = ready && is_done(0, tile);
      for (int d = 0; d < 8; ++d) {
        const auto& there = layout.of(tile)[d];
        const bool inside = there.slot < 0 || layout.face_lanes(d % 4) < layout.lanes();
        if (inside && there.tile != tile) ready = ready && is_done(stage.pass - 1, there.tile);
      }
      if (!by_parity) ready = ready && is_done(stage.pass - 1, tile);
    }
    for (const auto tile : visited) ++done[static_cast<std::size_t>(stage.pass)][static_cast<std::size_t>(tile)];
  }
  CHECK(ready);
  bool once = true;
  for (int pass = 0; pass < passes; ++pass)
    for (std::int32_t tile = 0; tile < layout.tiles(); ++tile) {
      const bool takes = !by_parity || pass == 0 || layout.parity(tile) == pass % 2;
      once = once && done[static_cast<std::size_t>(pass)][static_cast<std::size_t>(tile)] == (takes ? 1 : 0);
    }
  CHECK(once);
}

}  // namespace

TEST_CASE("walk order: no tile is taken before the pass before has finished its neighbours") {
  for (const lattice::Coordinates<4> extents : {lattice::Coordinates<4>{8, 6, 5, 6}, {4, 7, 3, 2}, {16, 2, 8, 1}})
    for (int passes : {2, 3, 4, 7})
      for (bool by_parity : {false, true}) {
        const auto layout = layout_of(extents);
        if (by_parity && !layout.tiles_have_one_parity()) continue;
        check_laws(layout, WalkOrder(layout, passes, false, {1, 1}, by_parity), passes, by_parity);
        for (int y = 1; y <= layout.outer()[1]; ++y)
          for (int z = 1; z <= layout.outer()[2]; ++z) {
            CAPTURE(y);
            CAPTURE(z);
            check_laws(layout, WalkOrder(layout, passes, true, {y, z}, by_parity), passes, by_parity);
          }
      }
}

TEST_CASE("walk order: visits and window are those of the order") {
  const auto layout = layout_of({8, 6, 8, 9});
  for (int passes : {2, 3, 5})
    for (int y = 1; y <= 4; ++y)
      for (int z = 1; z <= 8; ++z) {
        const Pieces pieces{y, z};
        const WalkOrder order(layout, passes, true, pieces, false);
        // A piece begins where pass 0 begins again in the first slice; only pieces without tiles of pass 0 hide.
        std::vector<std::set<std::int32_t>> met;
        std::vector<std::int64_t> at_front;
        std::int32_t slice = layout.tiles() / static_cast<std::int32_t>(layout.outer()[3]), before = -1;
        bool hidden = false;
        for (const auto& stage : order.stages()) {
          const auto& list = order.tiles(stage.pass, 0);
          const std::int32_t first = list[static_cast<std::size_t>(stage.begin[0])];
          const std::int32_t front = first / slice + stage.pass;
          if (front < before) hidden = hidden || stage.pass > 0;
          if (met.empty() || front < before) {
            met.emplace_back();
            at_front.push_back(0);
          }
          before = front;
          if (front == 6) at_front.back() += stage.end[0] - stage.begin[0];
          for (std::int32_t i = stage.begin[0]; i < stage.end[0]; ++i)
            met.back().insert(list[static_cast<std::size_t>(i)]);
        }
        if (hidden) continue;
        std::size_t sum = 0;
        for (const auto& piece : met) sum += piece.size();
        CAPTURE(y);
        CAPTURE(z);
        CHECK(WalkOrder::visits(layout, passes, pieces) ==
              doctest::Approx(static_cast<double>(sum) / static_cast<double>(layout.tiles())));
        CHECK(WalkOrder::window(layout, passes, pieces) == *std::ranges::max_element(at_front));
      }
}

namespace {

/// How often a cache that forgets what was used longest ago reads links and clover blocks, and vectors, from outside:
/// bytes of them over the bytes that there are. Residual and two Jacobi steps, in steady state; lines of a tile
/// together.
struct Readings {
  double coefficients, vectors;
};
Readings readings(const DomainLayout& layout, Pieces pieces, std::int64_t cache_bytes) {
  enum Array { links, block, r, z, work };
  const std::int64_t pack = 4 * layout.lanes();
  const auto bytes = [&](Array array) { return (array == links || array == block ? 72 : 24) * pack; };
  std::list<std::pair<Array, std::int32_t>> kept;  // used last: first
  std::map<std::pair<Array, std::int32_t>, decltype(kept)::iterator> place;
  std::int64_t size = 0, coefficients = 0, vectors = 0;
  const auto touch = [&](Array array, std::int32_t tile) {
    const std::pair key{array, tile};
    if (const auto found = place.find(key); found != place.end()) {
      kept.splice(kept.begin(), kept, found->second);
      return;
    }
    (array == links || array == block ? coefficients : vectors) += bytes(array);
    kept.push_front(key);
    place[key] = kept.begin();
    for (size += bytes(array); size > cache_bytes; kept.pop_back()) {
      size -= bytes(kept.back().first);
      place.erase(kept.back());
    }
  };
  const WalkOrder order(layout, 3, true, pieces, false);
  for (int repeated = 0; repeated < 2; ++repeated) {
    coefficients = vectors = 0;
    for (const auto& stage : order.stages())
      for (std::int32_t i = stage.begin[0]; i < stage.end[0]; ++i) {
        const std::int32_t tile = order.tiles(stage.pass, 0)[static_cast<std::size_t>(i)];
        const Array own = std::array{z, r, work}[static_cast<std::size_t>(stage.pass)];
        touch(links, tile);
        for (int d = 0; d < 8; ++d) {
          const auto& there = layout.of(tile)[d];
          if (there.slot >= 0) continue;
          touch(own, there.tile);
          if (d >= 4) touch(links, there.tile);
        }
        touch(own, tile);
        touch(block, tile);
        touch(r, tile);
        touch(std::array{r, work, z}[static_cast<std::size_t>(stage.pass)], tile);
      }
  }
  const double tiles = layout.tiles();
  return {static_cast<double>(coefficients) / (144.0 * static_cast<double>(pack) * tiles),
          static_cast<double>(vectors) / (24.0 * static_cast<double>(pack) * tiles)};
}

}  // namespace

TEST_CASE("walk order: a cache whose size chose the pieces reads coefficients about half as often") {
  for (const lattice::Coordinates<4> extents : {lattice::Coordinates<4>{32, 6, 8, 6}, {32, 6, 8, 12}, {32, 12, 8, 12}})
    for (std::int64_t mebibytes : {1, 2}) {
      const auto layout = DomainLayout::best(test::one_process(extents), {2, 1, 1, 1}, 16);
      const std::int64_t cache = mebibytes << 20;
      const Pieces pieces = WalkOrder::fitting(*layout, 3, WalkOrder::tiles_in(cache, (144 + 72) * 64));
      const Readings cut = readings(*layout, pieces, cache), whole = readings(*layout, {1, 1}, cache);
      MESSAGE(extents[1] << "x" << extents[2] << "x" << extents[3] << ", " << mebibytes << " MiB: " << pieces[0]
                         << " x " << pieces[1] << " pieces, coefficients " << cut.coefficients << " instead of "
                         << whole.coefficients << " times, vectors " << cut.vectors << " instead of " << whole.vectors);
      CHECK(cut.coefficients < (mebibytes == 1 ? 2.1 : 1.6));
      CHECK(whole.coefficients > 2.3);
      CHECK(cut.vectors < 0.7 * whole.vectors);
    }
}

TEST_CASE("walk order: the pieces that fit have the fewest visits") {
  const auto layout = DomainLayout::best(test::one_process({32, 12, 8, 12}), {2, 1, 1, 1}, 16);
  REQUIRE(layout->outer() == lattice::Coordinates<4>{1, 12, 8, 12});
  CHECK(WalkOrder::fitting(*layout, 3, 3 * 12 * 8) == Pieces{1, 1});
  // 144 tiles hold half of three slices; the cut along y is between more tiles, so fewer of them are at it.
  CHECK(WalkOrder::fitting(*layout, 3, 144) == Pieces{2, 1});
  for (std::int64_t most : {30, 50, 75, 100, 200}) {
    const Pieces pieces = WalkOrder::fitting(*layout, 3, most);
    CAPTURE(most);
    CHECK(WalkOrder::window(*layout, 3, pieces) <= most);
    CHECK(WalkOrder::visits(*layout, 3, pieces) < 3);
  }
  // A window of a few tiles would be met by pieces that visit each tile in every pass anew.
  CHECK(WalkOrder::fitting(*layout, 3, 2) == Pieces{1, 1});
  // Four lanes along y: no piece there.
  const auto with_lanes = DomainLayout(test::one_process({8, 8, 6, 6}), {2, 1, 1, 1}, {4, 4, 1, 1});
  CHECK(WalkOrder::fitting(with_lanes, 3, 12)[0] == 1);
}

}  // namespace halocline::qcd::schwarz
