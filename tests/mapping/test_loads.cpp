// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads by walking: the printed placement of 432 nodes, and networks small enough to count by hand.

#include "halocline/core/error.hpp"
#include "halocline/mapping/loads.hpp"

#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <vector>

using namespace halocline::mapping;

namespace {

using Cell = std::array<int, 2>;

/// The nodes of a ring of 2 x n, from (0, 0) along the second coordinate and back.
std::vector<Cell> there_and_back(int n) {
  std::vector<Cell> ring;
  for (int i = 0; i < n; ++i) ring.push_back({0, i});
  for (int i = n - 1; i >= 0; --i) ring.push_back({1, i});
  return ring;
}

/// IPSJ 2020-HPC-177, section 3.3: x on A and Z mod 3, y on C and Z div 3, z on B, t on X and Y. Exchanged: x on A and
/// Z div 3, y on C and Z mod 3.
RankMap printed(const Network& network, bool exchanged) {
  RankMap map{{6, 12, 6, 4}, {1, 2, 2, 1}, {}};
  const auto three = there_and_back(3), two = there_and_back(2);
  for (int t = 0; t < 4; ++t) {
    for (int z = 0; z < 6; ++z) {
      for (int y = 0; y < 12; ++y) {
        for (int x = 0; x < 6; ++x) {
          const Cell qx = three[static_cast<std::size_t>(x)], qy = three[static_cast<std::size_t>(y / 2)],
                     qt = two[static_cast<std::size_t>(t)];
          const int zz = exchanged ? qy[1] + 3 * qx[1] : qx[1] + 3 * qy[1];
          map.node.push_back(network.node_of(std::array{qt[0], qt[1], zz, qx[0], z / 2, qy[0]}));
        }
      }
    }
  }
  return map;
}

const std::array<int, 4> local{32, 6, 4, 3};

}  // namespace

TEST_CASE("loads: the printed placement has the printed loads, with six interfaces and with four") {
  Network network = tofu_d(std::array{4, 6, 18});
  CHECK(network.shape() == "2x2x9x2x3x2");
  const Messages messages = qcd_domain_solver(local);
  CHECK(messages.bytes == std::vector<Bytes>{3456, 9216, 13824, 18432});
  const RankMap map = printed(network, false);

  const Loads six = evaluate(network, map, messages);
  CHECK(six.interface_bytes == std::vector<Bytes>{73728, 73728, 73728, 73728, 69120, 69120});
  CHECK(six.axis_bytes == std::vector<Bytes>{73728, 73728, 69120, 13824, 27648, 18432});
  CHECK(six.unused_nodes == 0);
  network.interfaces = 4;
  CHECK(evaluate(network, map, messages).interface_bytes == std::vector<Bytes>{115200, 115200, 101376, 101376});
}

TEST_CASE("loads: the two roles of Z exchanged load the interfaces less") {
  Network network = tofu_d(std::array{4, 6, 18});
  const Messages messages = qcd_domain_solver(local);
  const RankMap map = printed(network, true);
  CHECK(evaluate(network, map, messages).interface_bytes ==
        std::vector<Bytes>{73728, 73728, 73728, 73728, 59904, 59904});
  network.interfaces = 4;
  CHECK(evaluate(network, map, messages).interface_bytes == std::vector<Bytes>{105984, 105984, 101376, 101376});
}

TEST_CASE("loads: every node is of one kind, every item has one owner, and owners' loads are sums of their items") {
  const Network network = tofu_d(std::array{4, 6, 18});
  const RankMap map = natural_order(network, {6, 12, 6, 4}, {1, 2, 2, 1});
  for (const Count count : {Count::hops, Count::injected}) {
    const Loads loads = evaluate(network, map, qcd_domain_solver(local), count);
    std::vector<std::int64_t> nodes(loads.node_types.size(), 0);
    for (const std::int32_t type : loads.node_type) ++nodes[static_cast<std::size_t>(type)];
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const NodeType& type = loads.node_types[i];
      CHECK(type.nodes == nodes[i]);
      CHECK(type.nodes > 0);
      std::vector<Bytes> load(6, 0);
      REQUIRE(type.owner.size() == type.items.size());
      for (std::size_t k = 0; k < type.items.size(); ++k)
        load[static_cast<std::size_t>(type.owner[k])] += type.items[k].bytes;
      CHECK(load == type.interface);
      CHECK(type.interface.front() <= loads.busiest_interface);
    }
  }
}

TEST_CASE("loads: a ring of four, counted by hand") {
  Network network = torus(std::array{4}, tofu_d(std::array{4, 6, 18}));
  network.interfaces = 2;
  const Messages both{"test", {10}, {2}}, turns{"test", {10}, {1}};
  const RankMap map = natural_order(network, {4}, {1});
  Loads loads = evaluate(network, map, both);
  CHECK(loads.axis_bytes == std::vector<Bytes>{10});
  CHECK(loads.link_bytes == 20);
  CHECK(loads.hops == 8);
  CHECK(loads.longest_route == 1);
  CHECK(loads.interface_bytes == std::vector<Bytes>{10, 10});
  CHECK(evaluate(network, map, turns).hops == 4);

  // Open: the last process is three hops from the first.
  network.axes[0].wraps = false;
  loads = evaluate(network, map, both);
  CHECK(loads.axis_bytes == std::vector<Bytes>{20});
  CHECK(loads.longest_route == 3);
  CHECK(loads.hops == 12);
  CHECK(loads.busiest_interface == 40);  // an end sends everything by its only link: 3 hops and 1 hop
  CHECK(evaluate(network, map, both, Count::injected).busiest_interface == 20);
  CHECK(link_loads(network, map, both) == std::vector<Bytes>{20, 0, 20, 20, 20, 20, 0, 20});
}

TEST_CASE("loads: two processes meet twice on a link of two nodes, and once where they take turns") {
  const Network network = torus(std::array{2}, tofu_d(std::array{4, 6, 18}));
  const RankMap map = natural_order(network, {2}, {1});
  CHECK(evaluate(network, map, {"test", {10}, {2}}).busiest_interface == 20);
  CHECK(evaluate(network, map, {"test", {10}, {1}}).busiest_interface == 10);
  // Both ways round are as long: upwards, so the downward links are idle.
  CHECK(evaluate(network, map, {"test", {10}, {2}}).link_bytes == 20);
}

TEST_CASE("loads: a process axis of one process sends nothing; one inside a node loops back whole") {
  const Network network = torus(std::array{3}, tofu_d(std::array{4, 6, 18}));
  const Messages messages{"test", {1, 10, 100}, {2, 2, 2}};
  const Loads loads = evaluate(network, natural_order(network, {1, 2, 3}, {1, 2, 1}), messages);
  REQUIRE(loads.node_types.size() == 1);
  const std::vector<SendItem> expected{{0, 1, false, 200}, {0, -1, false, 200}, {1, 1, true, 20}, {1, -1, true, 20}};
  CHECK(loads.node_types[0].items == expected);
}

TEST_CASE("loads: behind a fat tree no link counts, and every message is one hop") {
  const Network network = network_named("fat-tree", std::array{8});
  const Loads loads = evaluate(network, natural_order(network, {4, 4}, {2, 1}), {"test", {10, 100}, {2, 2}});
  CHECK(loads.busiest_link == 0);
  CHECK(loads.longest_route == 1);
  CHECK(loads.hops == 8 * 2 + 16 * 2);
  CHECK(loads.interface_bytes == std::vector<Bytes>{2 * (10 + 10) + 2 * 200});
}

TEST_CASE("loads: maps and messages that cannot be are refused") {
  using halocline::core::InvalidArgument;
  const Network network = torus(std::array{4}, tofu_d(std::array{4, 6, 18}));
  const Messages messages{"test", {10}, {2}};
  CHECK_THROWS_WITH_AS(
      evaluate(network, {{4}, {1}, {0, 1, 1, 3}}, messages),
      "rank 2 sits on node 1 (1) as number 2 there; 1 a node leave room for 1: place it elsewhere, or give more a node",
      InvalidArgument);
  CHECK_THROWS_AS(evaluate(network, {{4}, {1}, {0, 1, 2, 4}}, messages), InvalidArgument);
  CHECK_THROWS_AS(evaluate(network, {{4}, {1}, {0, 1, 2}}, messages), InvalidArgument);
  CHECK_THROWS_AS(evaluate(network, {{4}, {3}, {0, 1, 2, 3}}, messages), InvalidArgument);
  CHECK_THROWS_AS(evaluate(network, {{4}, {1}, {0, 1, 2, 3}}, {"test", {10, 10}, {2, 2}}), InvalidArgument);
  CHECK_THROWS_AS(natural_order(network, {5}, {1}), InvalidArgument);
}
