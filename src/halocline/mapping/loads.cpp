// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finds the kinds of nodes, packs their items, and takes the maxima.

#include "halocline/mapping/loads.hpp"

#include "halocline/core/error.hpp"
#include "halocline/mapping/detail/packing.hpp"
#include "halocline/mapping/detail/walk.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace halocline::mapping {
namespace {

using Row = std::vector<Bytes>;

struct RowHash {
  std::size_t operator()(const Row& row) const noexcept {
    std::uint64_t hash = 14695981039346656037U;
    for (const Bytes number : row) hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
    return static_cast<std::size_t>(hash ^ (hash >> 31));
  }
};

/// Packings of lists of bytes, largest first. Nodes with equal lists share one packing.
///
/// Maps of rings have a few hundred lists, each packed quickly. Other maps may have as many lists as nodes, and some
/// are hard to pack; of these only the largest load of the machine matters. So each list first gets a limited number of
/// steps. Of the lists not settled then, only those that may have the largest load are continued: the largest first,
/// each only until its load is no longer the largest.
class Packings {
public:
  explicit Packings(int interfaces) : interfaces_(interfaces) {}

  void pack(const std::vector<NodeType>& types) {
    Bytes largest = 0;
    std::vector<std::pair<Bytes, const Row*>> open;
    for (const NodeType& type : types) {
      const auto [entry, fresh] = known_.try_emplace(bytes_of(type));
      if (!fresh) continue;
      entry->second = detail::pack(entry->first, interfaces_, 0, quick);
      if (entry->second.settled) {
        largest = std::max(largest, entry->second.largest);
      } else {
        open.emplace_back(entry->second.largest, &entry->first);
      }
    }
    std::sort(open.begin(), open.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : *a.second > *b.second;
    });
    for (const auto& [load, row] : open) {
      if (load <= largest) break;
      detail::Packing& packing = known_.at(*row);
      packing = detail::pack(*row, interfaces_, largest);
      largest = std::max(largest, packing.largest);
    }
    for (auto& [row, packing] : known_) packing = heaviest_first(std::move(packing));
  }

  void give_owners(NodeType& type) const {
    const detail::Packing& packing = known_.at(bytes_of(type));
    const std::vector<std::size_t> order = largest_first(type);
    type.owner.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) type.owner[order[i]] = packing.owner[i];
    type.interface = packing.load;
  }

private:
  static constexpr std::int64_t quick = 20'000;

  static std::vector<std::size_t> largest_first(const NodeType& type) {
    std::vector<std::size_t> order(type.items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return type.items[a].bytes > type.items[b].bytes; });
    return order;
  }

  static Row bytes_of(const NodeType& type) {
    Row bytes;
    for (const std::size_t i : largest_first(type)) bytes.push_back(type.items[i].bytes);
    return bytes;
  }

  /// The same division, with interfaces renumbered by decreasing load.
  static detail::Packing heaviest_first(detail::Packing packing) {
    std::vector<std::size_t> order(packing.load.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return packing.load[a] > packing.load[b]; });
    std::vector<int> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
    for (int& owner : packing.owner) owner = place[static_cast<std::size_t>(owner)];
    std::sort(packing.load.begin(), packing.load.end(), std::greater<>());
    return packing;
  }

  int interfaces_;
  std::map<Row, detail::Packing> known_;
};

/// The bytes of all items of a node as one row: first those that leave, then those that loop back.
void read_row(const detail::Traffic& traffic, std::size_t node, std::size_t process_axes, Row& row) {
  const auto exits = static_cast<std::size_t>(traffic.exits) * 2;
  const Bytes* const leaving = traffic.leaving.data() + node * exits;
  const Bytes* const loopback = traffic.loopback.data() + node * process_axes * 2;
  row.assign(leaving, leaving + exits);
  row.insert(row.end(), loopback, loopback + process_axes * 2);
}

NodeType type_of(const Row& row, std::size_t exits) {
  NodeType type;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == 0) continue;
    const bool loopback = i >= exits * 2;
    const std::size_t place = loopback ? i - exits * 2 : i;
    type.items.push_back({static_cast<int>(place / 2), place % 2 == 0 ? 1 : -1, loopback, row[i]});
  }
  return type;
}

Bytes total(const NodeType& type) { return std::accumulate(type.interface.begin(), type.interface.end(), Bytes{0}); }

bool comes_before(const NodeType& a, const NodeType& b) {
  return std::tuple(-a.interface.front(), -total(a), -static_cast<std::int64_t>(a.items.size()), a.example) <
         std::tuple(-b.interface.front(), -total(b), -static_cast<std::int64_t>(b.items.size()), b.example);
}

void find_node_types(const Network& network, const RankMap& map, const detail::Traffic& traffic, Loads& loads) {
  std::vector<char> used(static_cast<std::size_t>(network.nodes()), 0);
  for (const std::int64_t node : map.node) used[static_cast<std::size_t>(node)] = 1;

  std::vector<NodeType> types;
  loads.node_type.assign(used.size(), -1);
  std::unordered_map<Row, std::int32_t, RowHash> known;
  Row row;
  for (std::size_t node = 0; node < used.size(); ++node) {
    if (!used[node]) {
      ++loads.unused_nodes;
      continue;
    }
    read_row(traffic, node, map.grid.size(), row);
    const auto [entry, fresh] = known.try_emplace(row, static_cast<std::int32_t>(types.size()));
    if (fresh) {
      types.push_back(type_of(row, static_cast<std::size_t>(traffic.exits)));
      types.back().example = static_cast<std::int64_t>(node);
    }
    ++types[static_cast<std::size_t>(entry->second)].nodes;
    loads.node_type[node] = entry->second;
  }

  Packings packings(network.interfaces);
  packings.pack(types);
  for (NodeType& type : types) packings.give_owners(type);
  std::vector<std::size_t> order(types.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return comes_before(types[a], types[b]); });
  std::vector<std::int32_t> place(types.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<std::int32_t>(i);
    loads.node_types.push_back(std::move(types[order[i]]));
  }
  for (std::int32_t& type : loads.node_type) type = type < 0 ? type : place[static_cast<std::size_t>(type)];
  loads.interface_bytes = loads.node_types.front().interface;
  loads.busiest_interface = loads.interface_bytes.front();
}

void find_busiest_links(const Network& network, const detail::Traffic& traffic, Loads& loads) {
  const std::size_t width = network.axes.size() * 2;
  Row busiest(width, 0);
  for (std::size_t i = 0; i < traffic.link.size(); ++i)
    busiest[i % width] = std::max(busiest[i % width], traffic.link[i]);
  for (std::size_t t = 0; t < network.axes.size(); ++t) {
    loads.axis_bytes.push_back(std::max(busiest[2 * t], busiest[2 * t + 1]));
    loads.busiest_link = std::max(loads.busiest_link, loads.axis_bytes.back());
    loads.link_bytes += busiest[2 * t] + busiest[2 * t + 1];
  }
}

}  // namespace

Loads evaluate(const Network& network, const RankMap& map, const Messages& messages, Count count) {
  check(map, network);
  messages.validate(map.grid.size());
  const detail::Traffic traffic = detail::walk(network, map, messages, count);
  Loads loads;
  loads.hops = traffic.hops;
  loads.longest_route = traffic.longest_route;
  find_busiest_links(network, traffic, loads);
  find_node_types(network, map, traffic, loads);
  return loads;
}

std::vector<std::optional<SendItem>> face_items(const Network& network, const RankMap& map, std::int64_t place) {
  check(map, network);
  if (place < 0 || place >= map.ranks())
    throw core::InvalidArgument("place " + std::to_string(place) + " of a map was asked for, which has places 0 to " +
                                std::to_string(map.ranks() - 1));
  return detail::face_items(network, map, place);
}

std::vector<Bytes> link_loads(const Network& network, const RankMap& map, const Messages& messages) {
  check(map, network);
  messages.validate(map.grid.size());
  return detail::walk(network, map, messages, Count::hops).link;
}

}  // namespace halocline::mapping
