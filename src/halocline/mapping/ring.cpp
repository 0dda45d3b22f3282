// SPDX-License-Identifier: Apache-2.0
/// @file
/// Names pieces, constructs rings as ring.hpp describes, and makes maps from rings.

#include "halocline/mapping/ring.hpp"

#include "halocline/core/error.hpp"
#include "halocline/mapping/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace halocline::mapping {
namespace {

/// A point of the two-dimensional grid: row and column.
struct Cell {
  int row, column;
};

/// Extends the ring by `depth` rows below `row`: down column `down`, and up column `up`.
void let_down(std::vector<Cell>& ring, int row, int depth, int down, int up) {
  for (int r = 1; r <= depth; ++r) ring.push_back({row + r, down});
  for (int r = depth; r >= 1; --r) ring.push_back({row + r, up});
}

/// Fills an empty last column with bulges of the column beside it: between rows r and r + 1, for r = first_row,
/// first_row + 2, ...
std::vector<Cell> with_bulges(const std::vector<Cell>& ring, int beside, int last, int first_row, int bulges) {
  std::vector<Cell> out;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    out.push_back(ring[i]);
    const Cell a = ring[i], b = ring[(i + 1) % ring.size()];
    const int top = std::min(a.row, b.row);
    if (a.column != beside || b.column != beside || std::abs(a.row - b.row) != 1) continue;
    if (top < first_row || (top - first_row) % 2 != 0 || (top - first_row) / 2 >= bulges) continue;
    out.push_back({a.row, last});
    out.push_back({b.row, last});
  }
  return out;
}

/// A ring of even n, from 4 to rows * columns, through open rows and columns (at least two of each).
std::vector<Cell> even_ring(int rows, int columns, int n) {
  const int width = std::min(n / 2, columns);
  int more = n / 2 - width;  // pairs of nodes below the first two rows
  std::vector<Cell> ring;
  for (int c = 0; c < width; ++c) ring.push_back({0, c});
  // Back along row 1. The column pairs (0, 1), (2, 3), ... extend downwards, the first ones first.
  std::vector<int> depth(static_cast<std::size_t>(columns), 0);
  for (int c = 0; c + 1 < width && more > 0; c += 2) {
    depth[static_cast<std::size_t>(c)] = std::min(more, rows - 2);
    more -= depth[static_cast<std::size_t>(c)];
  }
  for (int c = width - 1; c >= 0; --c) {
    ring.push_back({1, c});
    if (c % 2 == 1) let_down(ring, 1, depth[static_cast<std::size_t>(c - 1)], c, c - 1);
  }
  return more > 0 ? with_bulges(ring, columns - 2, columns - 1, 2, more) : ring;
}

/// A ring of odd n, from the odd number of columns to rows * columns; the columns are closed.
std::vector<Cell> odd_ring(int rows, int columns, int n) {
  int more = (n - columns) / 2;
  std::vector<Cell> ring;
  for (int c = 0; c < columns; ++c) {
    ring.push_back({0, c});
    if (c % 2 == 0 && c + 1 < columns) {
      const int depth = std::min(more, rows - 1);
      let_down(ring, 0, depth, c, c + 1);
      more -= depth;
    }
  }
  return more > 0 ? with_bulges(ring, columns - 2, columns - 1, 1, more) : ring;
}

/// Point i of the line that runs through a grid back and forth, its first piece fastest.
void snake(std::span<const Piece* const> pieces, int i, std::span<int> coords) {
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const int length = pieces[k]->length, at = i % length;
    i /= length;
    // Every other pass runs backwards; the rest of i counts the passes.
    coords[k] = i % 2 == 0 ? at : length - 1 - at;
  }
}

std::int64_t points(std::span<const Piece* const> pieces) {
  std::int64_t product = 1;
  for (const Piece* piece : pieces) product *= piece->length;
  return product;
}

/// A ring through the pieces in this order; the first piece forms the rows, the others the line. Coordinates are in the
/// same order. Empty if there is no such ring.
std::vector<std::vector<int>> ladder_ring(std::span<const Piece* const> pieces, int n) {
  const Piece& apart = *pieces[0];
  const auto line = pieces.subspan(1);
  const std::int64_t all = points(pieces);
  if (n > all) return {};
  std::vector<Cell> cells;
  const bool odd = n % 2 == 1;
  if (odd) {
    if (!apart.wraps || apart.length % 2 == 0 || n < apart.length + 2) return {};
    cells = odd_ring(static_cast<int>(points(line)), apart.length, n);
  } else {
    if (n < 4) return {};
    cells = even_ring(apart.length, static_cast<int>(points(line)), n);
  }
  std::vector<std::vector<int>> steps;
  std::vector<char> used(pieces.size(), 0);
  for (const Cell cell : cells) {
    std::vector<int> coords(pieces.size());
    coords[0] = odd ? cell.column : cell.row;
    snake(line, odd ? cell.row : cell.column, std::span(coords).subspan(1));
    for (std::size_t k = 0; k < coords.size(); ++k) used[k] |= coords[k] != 0 ? 1 : 0;
    steps.push_back(std::move(coords));
  }
  return std::all_of(used.begin(), used.end(), [](char u) { return u != 0; }) ? steps : std::vector<std::vector<int>>{};
}

/// A ring of one piece: the closed piece, or two neighbouring nodes.
std::vector<std::vector<int>> simple_ring(const Piece& piece, int n) {
  if (n != 2 && !(piece.wraps && piece.length == n)) return {};
  std::vector<std::vector<int>> steps;
  for (int i = 0; i < n; ++i) steps.push_back({i});
  return steps;
}

/// Tries the orders of the pieces; short strides and long pieces first.
std::vector<std::vector<int>> any_ring(std::span<const Piece> pieces, int n) {
  std::vector<const Piece*> order;
  for (const Piece& piece : pieces) order.push_back(&piece);
  const auto before = [](const Piece* a, const Piece* b) {
    return std::tuple(a->stride, -a->length, a->axis) < std::tuple(b->stride, -b->length, b->axis);
  };
  std::sort(order.begin(), order.end(), before);
  do {
    const auto found = ladder_ring(order, n);
    if (found.empty()) continue;
    std::vector<std::vector<int>> steps(found.size(), std::vector<int>(pieces.size()));
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto place = static_cast<std::size_t>(order[k] - pieces.data());
      for (std::size_t i = 0; i < found.size(); ++i) steps[i][place] = found[i][k];
    }
    return steps;
  } while (std::next_permutation(order.begin(), order.end(), before));
  return {};
}

std::vector<std::int64_t> strides_of(const Network& network) {
  std::vector<std::int64_t> strides;
  std::int64_t stride = 1;
  for (const Axis& axis : network.axes) {
    strides.push_back(stride);
    stride *= axis.length;
  }
  return strides;
}

std::string names_of(const Network& network, std::span<const Piece> pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (!text.empty()) text += ',';
    text += piece.name(network);
  }
  return text;
}

/// Whether two points are neighbours that a ring may step between.
bool is_step(std::span<const Piece> pieces, const std::vector<int>& a, const std::vector<int>& b) {
  int changes = 0;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    if (a[k] == b[k]) continue;
    const int apart = std::abs(a[k] - b[k]);
    if (apart != 1 && !(pieces[k].wraps && apart == pieces[k].length - 1)) return false;
    ++changes;
  }
  return changes == 1;
}

void check_ring(const Network& network, const Ring& ring, int nodes, std::size_t q) {
  const std::string given = fmt::format("ring {} of process axis {}", names_of(network, ring.pieces), q);
  if (ring.pieces.empty() && nodes == 1) return;
  if (ring.steps.size() != static_cast<std::size_t>(nodes)) {
    throw core::InvalidArgument(
        fmt::format("{} has {} nodes; grid and processes a node ask for {}", given, ring.steps.size(), nodes));
  }
  for (const auto& step : ring.steps) {
    bool inside = step.size() == ring.pieces.size();
    for (std::size_t k = 0; inside && k < step.size(); ++k) inside = step[k] >= 0 && step[k] < ring.pieces[k].length;
    if (!inside) {
      throw core::InvalidArgument(
          fmt::format("{} goes to ({}), which is no point of its pieces", given, detail::joined(step, ",")));
    }
  }
  if (std::set(ring.steps.begin(), ring.steps.end()).size() != ring.steps.size()) {
    throw core::InvalidArgument(given + " visits a node twice; every node of a ring is visited once");
  }
  for (std::size_t i = 0; nodes > 1 && i < ring.steps.size(); ++i) {
    const auto& next = ring.steps[(i + 1) % ring.steps.size()];
    if (is_step(ring.pieces, ring.steps[i], next)) continue;
    throw core::InvalidArgument(fmt::format("{} {} from ({}) to ({}); a step changes one coordinate by one", given,
                                            i + 1 == ring.steps.size() ? "does not close: it would go" : "goes",
                                            detail::joined(ring.steps[i], ","), detail::joined(next, ",")));
  }
}

/// The pieces of one axis must number its nodes as digits number the integers.
void check_pieces(const Network& network, const std::vector<Ring>& rings) {
  for (std::size_t t = 0; t < network.axes.size(); ++t) {
    std::vector<Piece> used;
    for (const Ring& ring : rings) {
      for (const Piece& piece : ring.pieces) {
        if (piece.axis < 0 || piece.axis >= network.ndim() || piece.length < 1 || piece.stride < 1) {
          throw core::InvalidArgument(fmt::format("a piece of axis {}, length {} and stride {} given; expected an axis "
                                                  "from 0 to {} and positive numbers",
                                                  piece.axis, piece.length, piece.stride, network.ndim() - 1));
        }
        if (static_cast<std::size_t>(piece.axis) == t) used.push_back(piece);
      }
    }
    std::sort(used.begin(), used.end(), [](const Piece& a, const Piece& b) { return a.stride < b.stride; });
    std::int64_t reach = 1;
    for (const Piece& piece : used) {
      if (piece.stride < reach) {
        throw core::InvalidArgument(fmt::format("axis {} is given to two rings as {}; give them parts that share no "
                                                "nodes, such as {}%f and {}/f for a factor f of {}",
                                                network.axes[t].name, names_of(network, used), network.axes[t].name,
                                                network.axes[t].name, network.axes[t].length));
      }
      reach = std::int64_t{piece.stride} * piece.length;
    }
    if (reach > network.axes[t].length) {
      throw core::InvalidArgument(fmt::format("{} reaches {} nodes along axis {}, which has {}",
                                              names_of(network, used), reach, network.axes[t].name,
                                              network.axes[t].length));
    }
  }
}

}  // namespace

std::string Piece::name(const Network& network) const {
  const Axis& whole = network.axes[static_cast<std::size_t>(axis)];
  if (length == whole.length) return whole.name;
  return whole.name + (stride == 1 ? "%" + std::to_string(length) : "/" + std::to_string(stride));
}

std::vector<Piece> pieces_of(const Network& network) {
  std::vector<Piece> pieces;
  for (int t = 0; t < network.ndim(); ++t) {
    const Axis& axis = network.axes[static_cast<std::size_t>(t)];
    if (axis.length < 2) continue;
    pieces.push_back({t, axis.length, axis.wraps, 1});
    for (int f = 2; f < axis.length; ++f) {
      if (axis.length % f != 0) continue;
      pieces.push_back({t, f, false, 1});
      pieces.push_back({t, axis.length / f, axis.wraps, f});
    }
  }
  return pieces;
}

Piece piece_named(const Network& network, const std::string& name) {
  std::vector<std::string> known;
  for (const Piece& piece : pieces_of(network)) {
    known.push_back(piece.name(network));
    if (known.back() == name) return piece;
  }
  throw core::InvalidArgument(fmt::format("'{}' is no piece of network {} of shape {}; its pieces are {}", name,
                                          network.name, network.shape(), fmt::join(known, ", ")));
}

std::optional<Ring> ring_through(const Network& network, std::span<const Piece> pieces, int nodes) {
  Ring ring{{pieces.begin(), pieces.end()}, {}};
  std::sort(ring.pieces.begin(), ring.pieces.end(), [](const Piece& a, const Piece& b) { return a.axis < b.axis; });
  for (std::size_t k = 0; k + 1 < ring.pieces.size(); ++k) {
    if (ring.pieces[k].axis == ring.pieces[k + 1].axis) {
      throw core::InvalidArgument(
          fmt::format("ring {} has two pieces of one axis; give a ring one of them", names_of(network, ring.pieces)));
    }
  }
  if (ring.pieces.empty()) return nodes == 1 ? std::optional(ring) : std::nullopt;
  ring.steps = ring.pieces.size() == 1 ? simple_ring(ring.pieces[0], nodes) : any_ring(ring.pieces, nodes);
  if (ring.steps.empty()) return std::nullopt;

  const std::vector<std::int64_t> strides = strides_of(network);
  const auto node = [&](const std::vector<int>& step) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < step.size(); ++k) {
      sum += step[k] * ring.pieces[k].stride * strides[static_cast<std::size_t>(ring.pieces[k].axis)];
    }
    return sum;
  };
  if (node(ring.steps[1]) > node(ring.steps.back())) std::reverse(ring.steps.begin() + 1, ring.steps.end());
  return ring;
}

Ring required_ring(const Network& network, std::span<const Piece> pieces, int nodes) {
  if (auto ring = ring_through(network, pieces, nodes)) return *ring;
  std::int64_t all = 1;
  bool odd = false;
  for (const Piece& piece : pieces) {
    all *= piece.length;
    odd = odd || (piece.wraps && piece.length % 2 == 1);
  }
  std::string instead;
  if (pieces.empty()) {
    instead = "an axis without pieces has one node";
  } else if (pieces.size() == 1) {
    instead = pieces[0].wraps ? fmt::format("one closed piece makes rings of 2 and of {}", all)
                              : "one open piece makes rings of 2 alone; add a piece of another axis";
  } else if (nodes % 2 == 1 && !odd) {
    instead =
        fmt::format("an odd ring needs a closed piece of odd length; {} or {} nodes would do", nodes - 1, nodes + 1);
  } else {
    instead = fmt::format("these pieces have {} nodes; give as many pieces as the ring can use", all);
  }
  throw core::InvalidArgument(fmt::format("no ring of {} nodes runs through {}: {}", nodes,
                                          pieces.empty() ? "no pieces" : names_of(network, pieces), instead));
}

RankMap map_of_rings(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                     const std::vector<Ring>& rings) {
  network.validate();
  const std::int64_t ranks = checked_ranks(grid, per_node);
  if (rings.size() != grid.size()) {
    throw core::InvalidArgument(
        fmt::format("{} rings given for {} process axes; give one each", rings.size(), grid.size()));
  }
  check_pieces(network, rings);
  const std::vector<std::int64_t> strides = strides_of(network);
  std::vector<std::vector<std::int64_t>> offset;  // shape (process axes, nodes of the ring)
  for (std::size_t q = 0; q < grid.size(); ++q) {
    const int nodes = grid[q] / per_node[q];
    check_ring(network, rings[q], nodes, q);
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(nodes), 0);
    for (std::size_t i = 0; i < rings[q].steps.size(); ++i) {
      for (std::size_t k = 0; k < rings[q].pieces.size(); ++k) {
        const Piece& piece = rings[q].pieces[k];
        offsets[i] += rings[q].steps[i][k] * piece.stride * strides[static_cast<std::size_t>(piece.axis)];
      }
    }
    offset.push_back(std::move(offsets));
  }

  RankMap map{grid, per_node, std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 0)};
  std::int64_t stride = 1;
  for (std::size_t q = 0; q < grid.size(); ++q) {
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const std::int64_t at = rank / stride % grid[q];
      map.node[static_cast<std::size_t>(rank)] += offset[q][static_cast<std::size_t>(at / per_node[q])];
    }
    stride *= grid[q];
  }
  return map;
}

}  // namespace halocline::mapping
