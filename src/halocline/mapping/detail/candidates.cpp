// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lists the rings, and examines each vertex of a ring.

#include "halocline/mapping/detail/candidates.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace halocline::mapping::detail {
namespace {

/// The route of a message from one point of a piece to another.
struct Way {
  int exit = 0;
  std::int64_t hops = 0;
};

Way way(const Network& network, const std::vector<Piece>& pieces, const std::vector<int>& from,
        const std::vector<int>& to) {
  std::size_t k = 0;
  while (from[k] == to[k]) ++k;
  const Piece& piece = pieces[k];
  const Axis& axis = network.axes[static_cast<std::size_t>(piece.axis)];
  int ahead = (to[k] - from[k]) * piece.stride;
  if (axis.wraps) {  // as messages are routed: the shorter way, upwards if both are equally long
    if (ahead < 0) ahead += axis.length;
    if (2 * ahead > axis.length) ahead -= axis.length;
  }
  return {2 * piece.axis + (ahead < 0 ? 1 : 0), std::abs(ahead)};
}

/// The routes from a vertex to the next one and to the one before.
using Ways = std::array<Way, 2>;

Kind kind_of(const Ways& ways, const Flow& flow, Count count) {
  Kind kind;
  for (const Way& w : ways) {
    const Bytes bytes = flow.off_node * (count == Count::hops ? w.hops : 1);
    if (!kind.empty() && kind[0].exit == w.exit) {
      kind[0].bytes = flow.directions == 2 ? kind[0].bytes + bytes : std::max(kind[0].bytes, bytes);
    } else {
      kind.push_back({w.exit, bytes});
    }
  }
  std::sort(kind.begin(), kind.end());
  return kind;
}

/// The lines along one piece, without repetitions.
std::vector<Line> lines_of(const Ring& ring, const std::vector<Ways>& ways, std::size_t piece, const Flow& flow) {
  // Group the vertices by line; the number of a line is made of its other coordinates.
  std::vector<std::pair<std::int64_t, std::size_t>> vertices;
  for (std::size_t i = 0; i < ring.steps.size(); ++i) {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < ring.pieces.size(); ++k) {
      if (k != piece) number = number * ring.pieces[k].length + ring.steps[i][k];
    }
    vertices.emplace_back(number, i);
  }
  std::sort(vertices.begin(), vertices.end());
  std::set<Line> different;
  Line line;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (v == 0 || vertices[v].first != vertices[v - 1].first) {
      if (v > 0) different.insert(line);
      line.assign(static_cast<std::size_t>(ring.pieces[piece].length), {});
    }
    const std::size_t i = vertices[v].second;
    Point& point = line[static_cast<std::size_t>(ring.steps[i][piece])];
    point.used = true;
    for (std::size_t sign = 0; sign < 2; ++sign) {
      if (ways[i][sign].exit / 2 != ring.pieces[piece].axis) continue;
      point.bytes[sign][static_cast<std::size_t>(ways[i][sign].exit % 2)] += flow.off_node;
    }
  }
  different.insert(line);
  return {different.begin(), different.end()};
}

std::array<Bytes, 2> busiest_alone(const std::vector<Line>& lines, const Flow& flow) {
  std::array<Bytes, 2> busiest{};
  for (const Line& line : lines) {
    for (const Point& point : line) {
      for (std::size_t side = 0; side < 2; ++side) {
        const Bytes plus = point.bytes[0][side], minus = point.bytes[1][side];
        busiest[side] = std::max(busiest[side], flow.directions == 2 ? plus + minus : std::max(plus, minus));
      }
    }
  }
  return busiest;
}

/// Collects everything that a ring sends, vertex by vertex.
void look_at_vertices(const Network& network, const Flow& flow, Count count, const Ring& ring, Candidate& out) {
  const std::size_t n = ring.steps.size();
  std::vector<Ways> ways;
  std::set<std::array<int, 4>> seen;  // exits and hops; most vertices repeat those of an earlier vertex
  std::set<Kind> kinds;
  for (std::size_t i = 0; i < n; ++i) {
    ways.push_back({way(network, ring.pieces, ring.steps[i], ring.steps[(i + 1) % n]),
                    way(network, ring.pieces, ring.steps[i], ring.steps[(i + n - 1) % n])});
    const Ways& w = ways.back();
    out.hops += w[0].hops;
    if (seen.insert({w[0].exit, static_cast<int>(w[0].hops), w[1].exit, static_cast<int>(w[1].hops)}).second) {
      kinds.insert(kind_of(w, flow, count));
    }
  }
  out.kinds.assign(kinds.begin(), kinds.end());
  for (std::size_t piece = 0; piece < ring.pieces.size(); ++piece) {
    out.lines.push_back(lines_of(ring, ways, piece, flow));
    out.lone.push_back(busiest_alone(out.lines.back(), flow));
  }
}

std::vector<std::int64_t> offsets_of(const Network& network, const Ring& ring) {
  std::vector<std::int64_t> strides(network.axes.size(), 1);
  for (std::size_t t = 1; t < strides.size(); ++t) strides[t] = strides[t - 1] * network.axes[t - 1].length;
  std::vector<std::int64_t> offsets;
  for (const auto& step : ring.steps) {
    std::int64_t node = 0;
    for (std::size_t k = 0; k < step.size(); ++k) {
      node += std::int64_t{step[k]} * ring.pieces[k].stride * strides[static_cast<std::size_t>(ring.pieces[k].axis)];
    }
    offsets.push_back(node);
  }
  return offsets;
}

}  // namespace

std::vector<Flow> flows_of(const std::vector<int>& grid, const std::vector<int>& per_node, const Messages& messages) {
  const int share = std::accumulate(per_node.begin(), per_node.end(), 1, [](int a, int b) { return a * b; });
  std::vector<Flow> flows;
  for (std::size_t q = 0; q < grid.size(); ++q) {
    Flow flow;
    flow.nodes = grid[q] / per_node[q];
    flow.directions = messages.directions[q];
    flow.senders = flow.nodes > 1 ? share / per_node[q] : 0;
    flow.off_node = flow.senders * messages.bytes[q];
    const std::int64_t inside = grid[q] == 1 ? 0 : share - flow.senders;
    flow.loopback = inside * messages.bytes[q];
    flows.push_back(flow);
  }
  return flows;
}

bool ring_possible(std::span<const Piece> pieces, int nodes) {
  if (pieces.empty()) return nodes == 1;
  std::int64_t all = 1;
  int least_odd = std::numeric_limits<int>::max();
  for (const Piece& piece : pieces) {
    all *= piece.length;
    if (piece.wraps && piece.length % 2 == 1) least_odd = std::min(least_odd, piece.length);
  }
  if (all < nodes) return false;
  if (pieces.size() == 1) return nodes == 2 || (pieces[0].wraps && all == nodes);
  const int dimensions = static_cast<int>(pieces.size());
  // Every piece is traversed there and back.
  if (nodes % 2 == 0) return nodes >= 2 * dimensions;
  return least_odd < nodes && nodes >= least_odd + 2 * (dimensions - 1);
}

std::vector<Candidate> candidates_of(const Network& network, const Flow& flow, Count count, std::int64_t others) {
  std::vector<Candidate> found;
  every_choice(network, others, [&](const std::vector<Piece>& pieces, std::int64_t) {
    if (!ring_possible(pieces, flow.nodes)) return;
    const auto ring = ring_through(network, pieces, flow.nodes);
    if (!ring) return;
    Candidate candidate;
    candidate.pieces = ring->pieces;
    candidate.offsets = ring->pieces.empty() ? std::vector<std::int64_t>{0} : offsets_of(network, *ring);
    if (!ring->pieces.empty()) look_at_vertices(network, flow, count, *ring, candidate);
    found.push_back(std::move(candidate));
  });
  // Several choices of pieces may give the same nodes. The shortest pieces come first, as they leave most to other
  // rings.
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    if (a.offsets != b.offsets) return a.offsets < b.offsets;
    return std::lexicographical_compare(
        a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(), [](const Piece& p, const Piece& q) {
          return std::tuple(p.axis, p.length, p.stride) < std::tuple(q.axis, q.length, q.stride);
        });
  });
  for (std::size_t i = 1; i < found.size(); ++i) {
    found[i].sequence = found[i - 1].sequence + (found[i].offsets == found[i - 1].offsets ? 0 : 1);
  }
  return found;
}

}  // namespace halocline::mapping::detail
