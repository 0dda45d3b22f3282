// SPDX-License-Identifier: Apache-2.0
/// @file
/// Items and owners: the best division against all divisions, and the cost of rings against walking their maps.

#include "halocline/mapping/detail/objective.hpp"
#include "halocline/mapping/detail/packing.hpp"

#include "mapping/brute_force.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

using namespace halocline::mapping;
using namespace halocline::mapping::detail;

TEST_CASE("packing: no division of up to nine items has a smaller largest load") {
  std::mt19937 engine(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Bytes> items(engine() % 10);
    const int most = trial % 2 == 0 ? 6 : 1000, interfaces = 1 + static_cast<int>(engine() % 5);
    for (Bytes& item : items) item = 1 + static_cast<Bytes>(engine() % static_cast<unsigned>(most));
    const Packing packing = pack(items, interfaces);
    CHECK(packing.settled);
    CHECK(packing.largest == mapping_tests::packed_in_all_ways(items, interfaces));

    std::vector<Bytes> load(static_cast<std::size_t>(interfaces), 0);
    for (std::size_t i = 0; i < items.size(); ++i) load[static_cast<std::size_t>(packing.owner[i])] += items[i];
    CHECK(load == packing.load);
    CHECK(packing.largest == *std::max_element(load.begin(), load.end()));

    std::sort(items.begin(), items.end(), std::greater<>());
    CHECK(packing_bound(items, interfaces) <= packing.largest);
    CHECK(PackingTable(interfaces).largest(items) == packing.largest);
  }
}

TEST_CASE("packing: few steps give a division, if not the best, and say so") {
  std::mt19937 engine(11);
  std::vector<Bytes> items(20);
  for (Bytes& item : items) item = 1 + static_cast<Bytes>(engine() % 1000003);
  const Packing quick = pack(items, 5, 0, 21);
  CHECK_FALSE(quick.settled);
  CHECK(std::accumulate(quick.load.begin(), quick.load.end(), Bytes{0}) ==
        std::accumulate(items.begin(), items.end(), Bytes{0}));
  // The first division is good enough for who asks for no better one.
  CHECK(pack(items, 5, quick.largest).settled);
}

TEST_CASE("objective: what rings cost by formula is what their map costs when it is walked") {
  std::mt19937 engine(2021);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); };
  int maps = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Network network = tofu_d(std::array{2, 3, 2});
    const Axis like = network.axes.front();
    network.axes.clear();
    for (int t = 0, axes = pick(2, 4); t < axes; ++t) {
      network.axes.push_back(like);
      network.axes.back().length = std::array{2, 4, 6, 8, 9, 12}[static_cast<std::size_t>(pick(0, 5))];
      network.axes.back().wraps = pick(0, 1) == 1;
    }
    network.interfaces = pick(1, 4);
    std::vector<int> grid, per_node;
    Messages messages{"random", {}, {}};
    for (int q = 0, axes = pick(1, 4); q < axes; ++q) {
      per_node.push_back(pick(1, 2));
      grid.push_back(per_node.back() * std::array{1, 2, 3, 4, 5, 6, 8, 10}[static_cast<std::size_t>(pick(0, 7))]);
      messages.bytes.push_back(pick(1, 50));
      messages.directions.push_back(pick(1, 2));
    }
    const Count count = pick(0, 1) == 0 ? Count::hops : Count::injected;

    // Any rings that go together, not good ones.
    Objective objective(network, flows_of(grid, per_node, messages));
    std::vector<std::vector<Candidate>> candidates(grid.size());
    std::vector<const Candidate*> chosen(grid.size(), nullptr);
    std::vector<Piece> used;
    std::vector<Ring> rings;
    std::int64_t hops = 0;
    int id = 0;
    for (std::size_t q = 0; q < grid.size(); ++q) {
      candidates[q] = candidates_of(network, objective.flows()[q], count, 1);
      std::shuffle(candidates[q].begin(), candidates[q].end(), engine);
      for (Candidate& c : candidates[q]) {
        c.axis = static_cast<int>(q);
        c.id = id++;
        const bool fits = std::all_of(c.pieces.begin(), c.pieces.end(), [&](const Piece& mine) {
          const auto others =
              std::count_if(used.begin(), used.end(), [&](const Piece& p) { return p.axis == mine.axis; });
          return others == 0 || (others == 1 && std::all_of(used.begin(), used.end(), [&](const Piece& p) {
                                   return p.axis != mine.axis || can_share(p, mine);
                                 }));
        });
        if (!fits || chosen[q]) continue;
        chosen[q] = &c;
        used.insert(used.end(), c.pieces.begin(), c.pieces.end());
        rings.push_back(required_ring(network, c.pieces, objective.flows()[q].nodes));
        hops += objective.hops(c);
      }
    }
    if (rings.size() != grid.size()) continue;
    ++maps;
    const Loads walked = evaluate(network, map_of_rings(network, grid, per_node, rings), messages, count);
    CAPTURE(network.shape());
    CHECK(objective.interface(chosen) == walked.busiest_interface);
    CHECK(objective.links(chosen) == walked.link_bytes);
    CHECK(hops == walked.hops);
    // Fewer rings never cost more: what the search stands on.
    for (std::size_t q = grid.size(); q-- > 0;) {
      const Bytes interface = objective.interface(chosen), links = objective.links(chosen);
      chosen[q] = nullptr;
      CHECK(objective.interface(chosen) <= interface);
      CHECK(objective.links(chosen) <= links);
    }
  }
  CHECK(maps > 150);
}
