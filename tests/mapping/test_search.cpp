// SPDX-License-Identifier: Apache-2.0
/// @file
/// The search: against all maps there are, against the printed results, and what it says when it stops early or
/// refuses.

#include "halocline/core/error.hpp"
#include "halocline/mapping/search.hpp"

#include "mapping/brute_force.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace halocline::mapping;
using halocline::core::InvalidArgument;
using mapping_tests::BruteForce;

namespace {

const std::array<int, 4> local{32, 6, 4, 3};

struct Problem {
  Network network;
  std::vector<int> grid, per_node;
  Messages messages;
  Count count = Count::hops;
};

/// A network of at most `nodes` nodes, and a grid that it has room for, were it only for the number.
class Problems {
public:
  Problem next(int nodes) {
    Problem p;
    p.network = tofu_d(std::array{2, 3, 2});
    const Axis like = p.network.axes.front();
    p.network.axes.clear();
    const std::vector<int> lengths{1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 8, 8, 9, 12, 16};
    int left = nodes;
    for (int t = 0, axes = pick(1, 6); t < axes; ++t) {
      std::vector<int> fit;
      std::copy_if(lengths.begin(), lengths.end(), std::back_inserter(fit), [&](int l) { return l <= left; });
      Axis axis = like;
      axis.name = std::string(1, static_cast<char>('P' + t));
      axis.length = fit[static_cast<std::size_t>(pick(0, static_cast<int>(fit.size()) - 1))];
      axis.wraps = pick(0, 1) == 1;
      left /= axis.length;
      p.network.axes.push_back(axis);
    }
    p.network.interfaces = pick(1, 4);
    std::int64_t room = p.network.nodes();
    p.messages.name = "random";
    for (int q = 0, axes = pick(1, 5); q < axes; ++q) {
      const std::vector<int> rings{1, 2, 2, 3, 4, 4, 4, 4, 6, 6, 8, 9, 10, 12, 15, 16};
      int n = rings[static_cast<std::size_t>(pick(0, 15))];
      if (n > room) n = 1;
      room /= n;
      p.per_node.push_back(pick(1, 3) == 1 ? 2 : 1);
      p.grid.push_back(n * p.per_node.back());
      p.messages.bytes.push_back(pick(1, 30));
      p.messages.directions.push_back(pick(1, 2));
    }
    p.count = pick(0, 2) == 0 ? Count::injected : Count::hops;
    return p;
  }

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

private:
  std::mt19937 engine_{20211};
};

/// Checks the search against all maps. @return whether there is any
bool agrees_with_brute_force(const Problem& p) {
  SearchOptions options;
  options.count = p.count;
  BruteForce brute{p.network, p.grid, p.per_node, p.messages, p.count};
  brute.run();
  if (!brute.best) {
    CHECK_THROWS_AS(search(p.network, p.grid, p.per_node, p.messages, options), InvalidArgument);
    return false;
  }
  const SearchResult result = search(p.network, p.grid, p.per_node, p.messages, options);
  CHECK(result.proven);
  CHECK(result.gap == 0);
  CHECK(result.lower_bound == result.loads.busiest_interface);
  CHECK(result.floor <= result.lower_bound);
  CHECK(result.loads.busiest_interface == std::get<0>(*brute.best));
  CHECK(result.loads.link_bytes == std::get<1>(*brute.best));
  CHECK(result.loads.hops == std::get<2>(*brute.best));
  CHECK(result.map.node == std::get<3>(*brute.best));
  return true;
}

/// A network of so many closed (or open) axes, of other messages along each process axis.
Problem problem(std::vector<int> shape, std::vector<bool> wraps, std::vector<int> grid, int interfaces) {
  Problem p;
  p.network = torus(shape, tofu_d(std::array{2, 3, 2}));
  for (std::size_t t = 0; t < wraps.size(); ++t) p.network.axes[t].wraps = wraps[t];
  p.network.interfaces = interfaces;
  p.grid = std::move(grid);
  p.per_node.assign(p.grid.size(), 1);
  for (std::size_t q = 0; q < p.grid.size(); ++q) {
    p.messages.bytes.push_back(static_cast<Bytes>(7 + 5 * q));
    p.messages.directions.push_back(q == 0 ? 1 : 2);
  }
  return p;
}

}  // namespace

TEST_CASE("search: finds what trying every map finds, to the last rank") {
  Problems problems;
  int found = 0, refused = 0;
  for (int trial = 0; trial < 600; ++trial) {
    CAPTURE(trial);
    ++(agrees_with_brute_force(problems.next(64)) ? found : refused);
  }
  CHECK(found > 300);
  CHECK(refused > 100);
}

TEST_CASE("search: finds what trying every map finds on full machines of 48 to 64 nodes") {
  CHECK(agrees_with_brute_force(problem({4, 4, 4}, {}, {4, 4, 4}, 4)));
  CHECK(agrees_with_brute_force(problem({4, 4, 4}, {false, false, false}, {4, 4, 4}, 4)));
  CHECK(agrees_with_brute_force(problem({4, 4, 4}, {true, false, true}, {8, 8}, 3)));
  CHECK(agrees_with_brute_force(problem({4, 4, 4}, {true, true, false}, {4, 2, 8}, 4)));
  CHECK(agrees_with_brute_force(problem({2, 2, 2, 2, 2, 2}, {}, {4, 4, 4}, 4)));
  CHECK(agrees_with_brute_force(problem({2, 2, 2, 2, 2, 2}, {false, false, false}, {8, 8}, 3)));
  CHECK(agrees_with_brute_force(problem({8, 8}, {false, true}, {8, 8}, 3)));
  CHECK_FALSE(agrees_with_brute_force(problem({8, 8}, {false, false}, {4, 4, 2, 2}, 4)));
  CHECK(agrees_with_brute_force(problem({12, 2, 2}, {false, false, true}, {6, 6}, 3)));
  CHECK(agrees_with_brute_force(problem({2, 2, 2, 3, 2}, {false, false, false, true, false}, {6, 8}, 3)));
  CHECK(agrees_with_brute_force(problem({4, 3, 4}, {true, true, true}, {3, 4, 4}, 4)));
  CHECK(agrees_with_brute_force(problem({5, 3, 4}, {true, true, true}, {15, 2, 2}, 4)));
  CHECK(agrees_with_brute_force(problem({64}, {true}, {64}, 1)));
  CHECK_FALSE(agrees_with_brute_force(problem({4, 16}, {true, true}, {4, 4, 4}, 2)));
}

TEST_CASE("search: 432 nodes: no interface carries more than the T messages of a node, which is a bound") {
  Network network = tofu_d(std::array{4, 6, 18});
  const Messages messages = qcd_domain_solver(local);
  SearchResult result = search(network, {6, 12, 6, 4}, {1, 2, 2, 1}, messages);
  CHECK(result.loads.interface_bytes == std::vector<Bytes>{73728, 73728, 73728, 73728, 59904, 59904});
  CHECK(result.loads.busiest_link == 73728);
  CHECK(result.lower_bound == 73728);
  CHECK(result.floor == 73728);
  CHECK(result.gap == 0);
  CHECK(result.proven);
  CHECK(result.loads.unused_nodes == 0);
  network.interfaces = 4;
  result = search(network, {6, 12, 6, 4}, {1, 2, 2, 1}, messages);
  CHECK(result.loads.interface_bytes == std::vector<Bytes>{105984, 105984, 101376, 101376});
  CHECK(result.proven);
}

TEST_CASE("search: the node shapes of IPSJ 2020-HPC-177, table 5, all reach the bound") {
  struct Row {
    std::array<int, 3> shape;
    std::vector<int> grid;
  };
  const Row rows[]{{{4, 6, 18}, {6, 12, 6, 4}},    {{4, 6, 24}, {6, 16, 6, 4}},    {{4, 6, 30}, {6, 20, 6, 4}},
                   {{4, 6, 36}, {6, 24, 6, 4}},    {{4, 6, 42}, {6, 28, 6, 4}},    {{4, 6, 48}, {6, 32, 6, 4}},
                   {{4, 12, 48}, {6, 32, 6, 8}},   {{16, 12, 48}, {6, 32, 6, 32}}, {{20, 12, 48}, {6, 32, 6, 40}},
                   {{24, 12, 48}, {6, 32, 6, 48}}, {{24, 24, 48}, {6, 32, 6, 96}}, {{48, 12, 48}, {6, 32, 48, 12}}};
  const Messages messages = qcd_domain_solver(local);
  for (const Row& row : rows) {
    const Network network = tofu_d(row.shape);
    CAPTURE(network.shape());
    const SearchResult result = search(network, row.grid, {1, 2, 2, 1}, messages);
    CHECK(result.loads.busiest_interface == 73728);
    CHECK(result.proven);
    CHECK(result.loads.unused_nodes == 0);
    const Loads natural = evaluate(network, natural_order(network, row.grid, {1, 2, 2, 1}), messages);
    CHECK(natural.busiest_interface >= 4 * result.loads.busiest_interface);
  }
}

TEST_CASE("search: the full machine, 192^4 on 147456 of its nodes") {
  const Network network = tofu_d(std::array{24, 23, 24, 2, 3, 2});
  const SearchResult result = search(network, {6, 32, 48, 64}, {1, 2, 2, 1}, qcd_domain_solver(local));
  CHECK(result.loads.busiest_interface == 73728);
  CHECK(result.lower_bound == 73728);
  CHECK(result.proven);
  CHECK(result.loads.unused_nodes == 158976 - 147456);
  // Neighbours are one axis apart, at most three hops: nothing crosses the machine.
  CHECK(result.loads.longest_route == 3);
}

TEST_CASE("search: every rank is placed once, and rings are what they are said to be") {
  const Network network = tofu_d(std::array{8, 12, 24});
  const SearchResult result = search(network, {6, 16, 12, 8}, {1, 2, 2, 1}, qcd_domain_solver(local));
  std::vector<int> held(static_cast<std::size_t>(network.nodes()), 0);
  for (const std::int64_t node : result.map.node) ++held[static_cast<std::size_t>(node)];
  for (std::size_t node = 0; node < held.size(); ++node) {
    CHECK(held[node] == (result.loads.node_type[node] < 0 ? 0 : 4));
  }
  CHECK(map_of_rings(network, result.map.grid, result.map.per_node, result.rings).node == result.map.node);
}

TEST_CASE("search: stopped early it has a map, and a bound that the whole search confirms") {
  // A torus with room to choose from, and messages that make the best map hard to see.
  Network network = torus(std::array{8, 6, 12, 4}, tofu_d(std::array{2, 3, 2}));
  network.interfaces = 3;
  const Messages messages{"uneven", {1000, 1700, 2900, 400}, {1, 2, 2, 2}};
  const std::vector<int> grid{4, 12, 8, 4}, per_node{1, 1, 2, 1};
  const SearchResult whole = search(network, grid, per_node, messages);
  REQUIRE(whole.proven);
  Bytes last = std::numeric_limits<Bytes>::max();
  for (const std::int64_t steps : {1, 10, 100, 1000, 10000}) {
    SearchOptions options;
    options.steps = steps;
    const SearchResult early = search(network, grid, per_node, messages, options);
    CHECK(early.lower_bound <= whole.loads.busiest_interface);
    CHECK(early.lower_bound >= early.floor);
    CHECK(early.loads.busiest_interface >= whole.loads.busiest_interface);
    CHECK(early.loads.busiest_interface <= last);
    CHECK(early.gap == doctest::Approx(static_cast<double>(early.loads.busiest_interface - early.lower_bound) /
                                       static_cast<double>(early.lower_bound)));
    last = early.loads.busiest_interface;
  }

  std::int64_t calls = 0;
  Bytes seen = 0;
  SearchOptions watched;
  watched.progress = [&](std::int64_t, Bytes best) {
    ++calls;
    seen = best;
    return false;
  };
  const SearchResult stopped = search(network, grid, per_node, messages, watched);
  CHECK(calls >= 1);
  CHECK(seen == stopped.loads.busiest_interface);
  CHECK_FALSE(stopped.proven);
}

TEST_CASE("search: behind a fat tree nodes are taken in order") {
  const Network network = network_named("fat-tree", std::array{10});
  const SearchResult result = search(network, {4, 4}, {2, 1}, {"test", {10, 100}, {2, 2}});
  CHECK(result.map.node == std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7});
  CHECK(result.proven);
  CHECK(result.loads.unused_nodes == 2);
}

TEST_CASE("search: one process axis to six, on tori of one axis to five") {
  const Network like = tofu_d(std::array{2, 3, 2});
  const auto best = [&](std::vector<int> shape, std::vector<int> grid) {
    const Messages messages{"even", std::vector<Bytes>(grid.size(), 100), std::vector<int>(grid.size(), 2)};
    const SearchResult result = search(torus(shape, like), grid, std::vector<int>(grid.size(), 1), messages);
    CHECK(result.proven);
    return result.loads.busiest_link;
  };
  CHECK(best({12}, {12}) == 100);
  CHECK(best({4, 4, 4}, {64}) == 100);
  CHECK(best({6, 6, 6}, {6, 6, 6}) == 100);
  CHECK(best({4, 4, 4, 4}, {4, 4, 4, 4}) == 100);
  CHECK(best({4, 4, 4, 4, 4}, {4, 4, 4, 4, 4}) == 100);
  CHECK(best({4, 4, 4, 4, 4}, {32, 32}) == 300);        // one axis is halved: a fast ring's hop, two of a slow one's
  CHECK(best({4, 4, 4, 4}, {4, 4, 2, 2, 2, 2}) > 100);  // rings of two meet on one link
}

TEST_CASE("search: what does not fit is refused with the nearest that does") {
  const Messages four = qcd_domain_solver(local);
  const auto sentence = [&](const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                            const Messages& messages) -> std::string {
    try {
      search(network, grid, per_node, messages);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const Network tofu = tofu_d(std::array{4, 6, 18});
  CHECK(sentence(tofu, {6, 12, 6, 5}, {1, 2, 2, 1}, four) ==
        "network tofu-d of shape 2x2x9x2x3x2 cannot hold process grid 6x12x6x5 with 1x2x2x1 a node: 2160 processes are "
        "more than its 1728 slots at 4 a node; the nearest grid that fits is 6x12x6x4");
  // Axes closed but even: no way around them is odd.
  const Messages one{"test", {10}, {2}}, two{"test", {10, 10}, {2, 2}};
  const Network even = torus(std::array{4, 8}, tofu);
  CHECK(sentence(even, {5, 2}, {1, 1}, two) ==
        "network torus-2d of shape 4x8 cannot hold process grid 5x2 with 1x1 a node: no ring of 5 nodes, which process "
        "axis 0 needs, runs through its axes (an odd ring needs a closed axis of odd length, whole or as a factor of "
        "one); the nearest grid that fits is 6x2");
  // B closes with three nodes, and rings of five wind around it; but QZ needs it too.
  CHECK(sentence(tofu, {5, 12, 6, 4}, {1, 2, 2, 1}, four)
            .find("rings of 5, 6, 3, 4 nodes do not fit beside each other") != std::string::npos);
  // Fifteen nodes through X and Y, both open; the one odd axis that closes is taken.
  CHECK(sentence(tofu_d(std::array{6, 15, 18}), {6, 12, 6, 15}, {1, 2, 2, 1}, four) ==
        "network tofu-d of shape 3x5x9x2x3x2 cannot hold process grid 6x12x6x15 with 1x2x2x1 a node: rings of 6, 6, 3, "
        "15 "
        "nodes do not fit beside each other (2 are odd, and each needs an axis of its own with a closed piece of odd "
        "length: only B has one); the nearest grid that fits is 6x12x6x14");
  // Far too many: smaller along every axis.
  CHECK(sentence(tofu, {60, 120, 60, 40}, {1, 2, 2, 1}, four).find("the nearest grid that fits is") !=
        std::string::npos);
  // A line of prime length, open, and one node wide.
  Network line = torus(std::array{7, 1}, tofu);
  line.axes[0].wraps = false;
  CHECK(sentence(line, {7}, {1}, one).find("the nearest grid that fits is 2") != std::string::npos);
  CHECK(sentence(line, {2}, {1}, one).empty());
  CHECK(sentence(tofu, {6, 12, 6, 4}, {1, 5, 2, 1}, four).find("the nearest grids have 10 or 15 there") !=
        std::string::npos);
  CHECK(sentence(tofu, {6, 12, 6}, {1, 2, 2}, four).find("give one of each for every axis") != std::string::npos);
}
