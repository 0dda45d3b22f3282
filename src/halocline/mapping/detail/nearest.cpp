// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tries grids near a given one, the nearest first, until one fits.
///
/// The distance is the sum over the axes of |log(N' / N)|: half as many processes are as far as twice as many. Grids
/// that differ in one axis are tried first. Few trials suffice, because a network that holds no similar grid is full.

#include "halocline/mapping/detail/nearest.hpp"

#include "halocline/mapping/detail/candidates.hpp"
#include "halocline/mapping/detail/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>

namespace halocline::mapping::detail {
namespace {

using Choice = std::vector<Piece>;

/// Tests what fits into one network; remembers the choices of pieces for every length of ring.
class Room {
public:
  explicit Room(const Network& network) : network_(network) {}

  bool holds(const std::vector<int>& rings) {
    std::vector<int> nodes;
    std::int64_t all = 1;
    for (const int n : rings) {
      if (n > 1) nodes.push_back(n);
      all *= n;
    }
    if (all > network_.nodes()) return false;
    std::sort(nodes.begin(), nodes.end(),
              [&](int a, int b) { return std::pair(choices(a).size(), -a) < std::pair(choices(b).size(), -b); });
    steps_ = 0;
    std::vector<const Piece*> used(network_.axes.size(), nullptr);
    std::vector<char> full(network_.axes.size(), 0);
    return place(nodes, 0, used, full);
  }

  const std::vector<Choice>& choices(int nodes) {
    const auto [entry, fresh] = choices_.try_emplace(nodes);
    std::vector<Choice>& found = entry->second;
    if (fresh) {
      every_choice(network_, 1, [&](const Choice& pieces, std::int64_t) {
        if (ring_possible(pieces, nodes)) found.push_back(pieces);
      });
      std::stable_sort(found.begin(), found.end(),
                       [](const Choice& a, const Choice& b) { return points(a) < points(b); });
    }
    return found;
  }

private:
  static std::int64_t points(const Choice& pieces) {
    std::int64_t product = 1;
    for (const Piece& piece : pieces) product *= piece.length;
    return product;
  }

  bool place(const std::vector<int>& nodes, std::size_t i, std::vector<const Piece*>& used, std::vector<char>& full) {
    if (i == nodes.size()) return true;
    for (const Choice& choice : choices(nodes[i])) {
      if (++steps_ > 5000) return false;
      const bool free = std::all_of(choice.begin(), choice.end(), [&](const Piece& piece) {
        const auto t = static_cast<std::size_t>(piece.axis);
        return !used[t] || (!full[t] && can_share(*used[t], piece));
      });
      if (!free) continue;
      const auto used_before = used;
      const auto full_before = full;
      for (const Piece& piece : choice) {
        const auto t = static_cast<std::size_t>(piece.axis);
        if (used[t]) full[t] = 1;
        used[t] = &piece;
      }
      const bool done = place(nodes, i + 1, used, full);
      used = used_before;
      full = full_before;
      if (done) return true;
    }
    return false;
  }

  const Network& network_;
  std::map<int, std::vector<Choice>> choices_;
  std::int64_t steps_ = 0;
};

/// Lengths near n, the nearest first: a few on either side, and fractions of n.
std::vector<int> lengths_near(int n, std::int64_t most) {
  std::set<int> lengths{1, 2};
  for (int d = -6; d <= 6; ++d) lengths.insert(n + d);
  for (int k = 2; k <= 16; ++k) {
    for (int j = 1; j < k; ++j) lengths.insert(static_cast<int>(std::int64_t{n} * j / k));
  }
  std::vector<int> near;
  for (const int length : lengths) {
    if (length >= 1 && length <= most) near.push_back(length);
  }
  std::stable_sort(near.begin(), near.end(), [&](int a, int b) {
    return std::abs(std::log(static_cast<double>(a) / n)) < std::abs(std::log(static_cast<double>(b) / n));
  });
  return near;
}

/// The reason why rings that are possible one by one may be impossible together: each odd ring needs a closed piece of
/// odd length, and an axis has at most one.
std::string odd_ones(const Network& network, const std::vector<int>& nodes) {
  std::set<std::string> closed;
  for (const Piece& piece : pieces_of(network)) {
    if (piece.wraps && piece.length % 2 == 1) closed.insert(network.axes[static_cast<std::size_t>(piece.axis)].name);
  }
  const auto odd = std::count_if(nodes.begin(), nodes.end(), [](int n) { return n > 1 && n % 2 == 1; });
  if (odd <= static_cast<std::ptrdiff_t>(closed.size())) return "";
  return fmt::format(" ({} are odd, and each needs an axis of its own with a closed piece of odd length: {})", odd,
                     closed.empty() ? "there is none" : fmt::format("only {} has one", fmt::join(closed, ", ")));
}

std::optional<std::vector<int>> nearest_rings(const Network& network, const std::vector<int>& wanted, Room& room) {
  std::vector<std::vector<int>> near;
  // If there are far too many processes, no axis may grow.
  std::int64_t all = 1;
  for (const int n : wanted) all *= n;
  for (const int n : wanted) near.push_back(lengths_near(n, all > 2 * network.nodes() ? n : network.nodes()));
  using Places = std::vector<std::size_t>;
  const auto rings = [&](const Places& places) {
    std::vector<int> nodes;
    for (std::size_t q = 0; q < places.size(); ++q) nodes.push_back(near[q][places[q]]);
    return nodes;
  };
  const auto distance = [&](const Places& places) {
    double sum = 0;
    for (std::size_t q = 0; q < places.size(); ++q) {
      sum += std::abs(std::log(static_cast<double>(near[q][places[q]]) / wanted[q]));
    }
    return sum;
  };
  using Entry = std::pair<double, Places>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::set<Places> seen;
  queue.push({0, Places(wanted.size(), 0)});
  for (int tries = 0; tries < 200000 && !queue.empty(); ++tries) {
    const Places places = queue.top().second;
    queue.pop();
    if (room.holds(rings(places))) return rings(places);
    for (std::size_t q = 0; q < places.size(); ++q) {
      Places next = places;
      if (++next[q] < near[q].size() && seen.insert(next).second) queue.push({distance(next), next});
    }
  }
  return std::nullopt;
}

}  // namespace

bool fits(const Network& network, const std::vector<int>& nodes) { return Room(network).holds(nodes); }

std::string refusal(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node) {
  std::vector<int> nodes;
  std::int64_t all = 1, share = 1, ranks = 1;
  for (std::size_t q = 0; q < grid.size(); ++q) {
    nodes.push_back(grid[q] / per_node[q]);
    all *= nodes.back();
    share *= per_node[q];
    ranks *= grid[q];
  }
  Room room(network);
  std::string why =
      fmt::format("rings of {} nodes do not fit beside each other{}", joined(nodes, ", "), odd_ones(network, nodes));
  if (all > network.nodes()) {
    why = fmt::format("{} processes are more than its {} slots at {} a node", ranks, network.nodes() * share, share);
  } else {
    for (std::size_t q = 0; q < nodes.size(); ++q) {
      if (nodes[q] == 1 || !room.choices(nodes[q]).empty()) continue;
      why = fmt::format("no ring of {} nodes, which process axis {} needs, runs through its axes", nodes[q], q);
      if (nodes[q] % 2 == 1) why += " (an odd ring needs a closed axis of odd length, whole or as a factor of one)";
      break;
    }
  }
  auto rings = nearest_rings(network, nodes, room);
  if (!rings) {  // too far: search near the grid of the same proportions that has as many nodes as the network
    const double shrink = std::pow(static_cast<double>(network.nodes()) / static_cast<double>(all),
                                   1.0 / static_cast<double>(nodes.size()));
    std::vector<int> smaller;
    for (const int n : nodes) smaller.push_back(std::max(1, static_cast<int>(n * std::min(1.0, shrink))));
    rings = nearest_rings(network, smaller, room);
  }
  std::string instead = "ask for fewer processes";
  if (rings) {
    std::vector<int> nearest;
    for (std::size_t q = 0; q < grid.size(); ++q) nearest.push_back((*rings)[q] * per_node[q]);
    instead = fmt::format("the nearest grid that fits is {}", joined(nearest, "x"));
  }
  return fmt::format("network {} of shape {} cannot hold process grid {} with {} a node: {}; {}", network.name,
                     network.shape(), joined(grid, "x"), joined(per_node, "x"), why, instead);
}

}  // namespace halocline::mapping::detail
