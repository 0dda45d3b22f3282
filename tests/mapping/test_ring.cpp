// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rings: every length that a grid of pieces has, and none that it cannot have.

#include "halocline/core/error.hpp"
#include "halocline/mapping/ring.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

using namespace halocline::mapping;
using halocline::core::InvalidArgument;

namespace {

Network box(std::vector<int> lengths, unsigned wraps) {
  Network network = torus(lengths, tofu_d(std::array{2, 3, 2}));
  for (std::size_t t = 0; t < lengths.size(); ++t) network.axes[t].wraps = (wraps >> t & 1U) != 0;
  return network;
}

std::vector<Piece> whole_axes(const Network& network) {
  std::vector<Piece> pieces;
  for (int t = 0; t < network.ndim(); ++t) {
    const Axis& axis = network.axes[static_cast<std::size_t>(t)];
    pieces.push_back({t, axis.length, axis.wraps, 1});
  }
  return pieces;
}

std::string refusal(const Network& network, const std::vector<Ring>& rings, const std::vector<int>& grid) {
  try {
    map_of_rings(network, grid, std::vector<int>(grid.size(), 1), rings);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("ring: all lengths that parity allows, each node once, each step to a neighbour, every piece used") {
  const std::vector<std::vector<int>> shapes{{2, 2},    {2, 7},    {3, 3},    {3, 4},    {5, 3},       {6, 6},
                                             {2, 3, 4}, {3, 3, 3}, {5, 2, 3}, {4, 3, 5}, {2, 3, 2, 3}, {3, 3, 3, 3}};
  for (const auto& shape : shapes) {
    for (unsigned wraps = 0; wraps < 1U << shape.size(); ++wraps) {
      const Network network = box(shape, wraps);
      const auto pieces = whole_axes(network);
      int all = 1, odd = 1000, longest = 0;
      for (const Piece& piece : pieces) {
        all *= piece.length;
        longest = std::max(longest, piece.length);
        if (piece.wraps && piece.length % 2 == 1) odd = std::min(odd, piece.length);
      }
      for (int n = 1; n <= all + 2; ++n) {
        CAPTURE(network.shape());
        CAPTURE(wraps);
        CAPTURE(n);
        const auto ring = ring_through(network, pieces, n);
        if (n > all || n == 1 || n == 2 || (n % 2 == 1 && n < odd + 2)) {
          CHECK_FALSE(ring);
          continue;
        }
        // Lengths that need every piece; shorter ones may have rings of fewer pieces instead.
        if (n > all / 2 || shape.size() == 2) REQUIRE(ring);
        if (!ring) continue;
        CHECK(ring->steps.size() == static_cast<std::size_t>(n));
        CHECK(ring->steps[0] == std::vector<int>(shape.size(), 0));
        // Refuses what is no ring: visits, steps, closure.
        const RankMap map = map_of_rings(network, {n}, {1}, {*ring});
        CHECK(std::set(map.node.begin(), map.node.end()).size() == static_cast<std::size_t>(n));
        for (std::size_t k = 0; k < shape.size(); ++k) {
          CHECK(std::any_of(ring->steps.begin(), ring->steps.end(), [&](const auto& step) { return step[k] != 0; }));
        }
      }
    }
  }
}

TEST_CASE("ring: one piece makes the closed ring, or a pair") {
  CHECK(ring_through(box({5}, 1), whole_axes(box({5}, 1)), 5)->steps.size() == 5);
  CHECK(ring_through(box({5}, 1), whole_axes(box({5}, 1)), 2)->steps.size() == 2);
  CHECK(ring_through(box({5}, 0), whole_axes(box({5}, 0)), 2)->steps.size() == 2);
  CHECK_FALSE(ring_through(box({5}, 0), whole_axes(box({5}, 0)), 5));
  CHECK_FALSE(ring_through(box({5}, 1), whole_axes(box({5}, 1)), 4));
  CHECK(ring_through(box({5}, 1), {}, 1));
}

TEST_CASE("ring: pieces have names, and names pieces") {
  const Network network = tofu_d(std::array{4, 6, 18});
  for (const Piece& piece : pieces_of(network)) CHECK(piece_named(network, piece.name(network)) == piece);
  CHECK(piece_named(network, "Z%3") == Piece{2, 3, false, 1});
  CHECK(piece_named(network, "Z/3") == Piece{2, 3, false, 3});
  CHECK(piece_named(network, "B") == Piece{4, 3, true, 1});
  // The slow piece closes where its axis does, the fast one never.
  const Network closed = tofu_d(std::array{4, 6, 48});
  CHECK(piece_named(closed, "Z/3") == Piece{2, 8, true, 3});
  CHECK(piece_named(closed, "Z%3") == Piece{2, 3, false, 1});
  CHECK_THROWS_WITH_AS(
      piece_named(network, "Z%2"),
      "'Z%2' is no piece of network tofu-d of shape 2x2x9x2x3x2; its pieces are X, Y, Z, Z%3, Z/3, A, B, C",
      InvalidArgument);
}

TEST_CASE("ring: the printed rings make the printed map") {
  const Network network = tofu_d(std::array{4, 6, 18});
  const auto ring = [&](std::vector<std::string> names, int nodes) {
    std::vector<Piece> pieces;
    for (const auto& name : names) pieces.push_back(piece_named(network, name));
    return required_ring(network, pieces, nodes);
  };
  const RankMap map = map_of_rings(network, {6, 12, 6, 4}, {1, 2, 2, 1},
                                   {ring({"A", "Z%3"}, 6), ring({"C", "Z/3"}, 6), ring({"B"}, 3), ring({"X", "Y"}, 4)});
  check(map, network);
  // Rank (0, 0, 0, 0) shares its node with the next along y and z.
  CHECK(map.node[0] == 0);
  CHECK(map.node[6] == 0);
  CHECK(map.node[6 * 12] == 0);
  CHECK(map.node[1] != 0);
}

TEST_CASE("ring: what is none is refused") {
  const Network network = tofu_d(std::array{4, 6, 18});
  const Piece z{2, 9, false, 1}, fast{2, 3, false, 1}, a{3, 2, false, 1};
  CHECK_THROWS_AS(required_ring(network, std::array{fast, a}, 5), InvalidArgument);
  CHECK_THROWS_AS(required_ring(network, std::array{z}, 9), InvalidArgument);
  CHECK_THROWS_AS(ring_through(network, std::array{z, fast}, 6), InvalidArgument);
  const Ring good = required_ring(network, std::array{fast, a}, 6);
  CHECK(refusal(network, {good}, {6}).empty());
  CHECK(refusal(network, {good}, {4}).find("has 6 nodes; grid and processes a node ask for 4") != std::string::npos);
  CHECK(refusal(network, {good, good}, {6, 6}).find("share no nodes") != std::string::npos);
  CHECK(refusal(network, {good}, {6, 1}).find("1 rings given for 2 process axes") != std::string::npos);
  Ring bad = good;
  bad.steps[1] = bad.steps[0];
  CHECK(refusal(network, {bad}, {6}).find("visits a node twice") != std::string::npos);
  bad = good;
  std::swap(bad.steps[1], bad.steps[4]);
  CHECK(refusal(network, {bad}, {6}).find("a step changes one coordinate by one") != std::string::npos);
  bad = {{z}, {{0}, {1}, {2}}};
  CHECK(refusal(network, {bad}, {3}).find("does not close") != std::string::npos);
  bad = {{{2, 4, false, 3}}, {{0}, {1}}};
  CHECK(refusal(network, {bad}, {2}).find("reaches 12 nodes along axis Z, which has 9") != std::string::npos);
}
