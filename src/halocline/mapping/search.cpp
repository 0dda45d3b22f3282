// SPDX-License-Identifier: Apache-2.0
/// @file
/// Branch and bound over the rings of the process axes.
///
/// Process axes are handled one after the other, the axis with fewest rings first. Each ring is tried that shares no
/// nodes with the rings before it. No completion lowers the cost of the rings already chosen. A branch is therefore
/// left if this cost is above that of the best map, or if it is equal and the chosen rings come later in the tie order.
///
/// The rings of an axis are tried in order of their cost alone. So a good map is found at once, and a ring that is too
/// expensive alone ends its list. If the search is stopped, the list of the first axis gives the bound: maps not
/// examined cost at least as much as the remaining rings of this list cost alone.

#include "halocline/mapping/search.hpp"

#include "halocline/core/error.hpp"
#include "halocline/mapping/detail/nearest.hpp"
#include "halocline/mapping/detail/objective.hpp"
#include "halocline/mapping/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace halocline::mapping {
namespace {

using detail::Candidate;
using detail::Cost;

constexpr std::int64_t steps_between_calls = 4096;

/// A ring, and its cost if no other ring uses its axes.
struct Option {
  Candidate ring;
  Cost alone;
};

class Searcher {
public:
  Searcher(const Network& network, std::vector<detail::Flow> flows, const SearchOptions& options)
      : network_(network),
        options_(options),
        objective_(network, flows),
        options_of_(flows.size()),
        chosen_(flows.size(), nullptr),
        used_(network.axes.size()) {
    list_options();
  }

  bool possible() const {
    return std::none_of(options_of_.begin(), options_of_.end(), [](const auto& list) { return list.empty(); });
  }

  void run() {
    std::vector<const Candidate*> nobody(options_of_.size(), nullptr);
    floor_ = objective_.interface(nobody);
    bound_ = floor_;
    for (const auto& list : options_of_) {
      least_hops_ += std::min_element(list.begin(), list.end(), [](const Option& a, const Option& b) {
                       return a.alone.hops < b.alone.hops;
                     })->alone.hops;
    }
    descend(0, 0, least_hops_);
  }

  bool found() const { return !best_.empty(); }
  bool proven() const { return !stopped_; }
  Bytes floor() const { return floor_; }
  Bytes bound() const { return stopped_ ? std::min(bound_, best_cost_.interface) : best_cost_.interface; }
  std::int64_t steps() const { return steps_; }
  std::int64_t visited() const { return visited_; }

  std::vector<Ring> rings() const {
    std::vector<Ring> rings;
    for (const Candidate* ring : best_) {
      rings.push_back(required_ring(network_, ring->pieces, static_cast<int>(ring->offsets.size())));
    }
    return rings;
  }

private:
  void list_options() {
    std::int64_t all = 1;
    for (const auto& flow : objective_.flows()) all *= flow.nodes;
    int id = 0;
    for (std::size_t q = 0; q < options_of_.size(); ++q) {
      if (options_.progress) wish_to_stop_ = !options_.progress(0, 0) || wish_to_stop_;
      const detail::Flow& flow = objective_.flows()[q];
      for (Candidate& ring : detail::candidates_of(network_, flow, options_.count, all / flow.nodes)) {
        ring.axis = static_cast<int>(q);
        ring.id = id++;
        options_of_[q].push_back({std::move(ring), {}});
      }
      std::vector<const Candidate*> alone(options_of_.size(), nullptr);
      for (Option& option : options_of_[q]) {
        alone[q] = &option.ring;
        option.alone = {objective_.interface(alone), objective_.links(alone), objective_.hops(option.ring)};
      }
      std::stable_sort(options_of_[q].begin(), options_of_[q].end(), [](const Option& a, const Option& b) {
        return std::tie(a.alone, a.ring.sequence) < std::tie(b.alone, b.ring.sequence);
      });
    }
    order_.resize(options_of_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return options_of_[a].size() < options_of_[b].size(); });
  }

  /// @param depth           number of process axes whose ring is chosen
  /// @param hops_of_chosen  hops of the chosen rings
  /// @param hops_of_rest    the least hops that the other rings can have
  void descend(std::size_t depth, std::int64_t hops_of_chosen, std::int64_t hops_of_rest) {
    if (depth == order_.size()) {
      keep({objective_.interface(chosen_), objective_.links(chosen_), hops_of_chosen});
      return;
    }
    const std::size_t q = order_[depth];
    const auto& list = options_of_[q];
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Option& option : list) least = std::min(least, option.alone.hops);
    for (const Option& option : list) {
      if (depth == 0) bound_ = std::max(floor_, option.alone.interface);
      if (found() && option.alone.interface > best_cost_.interface) break;
      if (stop()) return;
      if (!free_for(option.ring)) continue;
      take(option.ring);
      chosen_[q] = &option.ring;
      const std::int64_t hops = hops_of_chosen + option.alone.hops;
      const bool whole = depth + 1 == order_.size();
      if (whole || worth_going_on(option.alone, hops + hops_of_rest - least))
        descend(depth + 1, hops, hops_of_rest - least);
      chosen_[q] = nullptr;
      give_back(option.ring);
      if (stopped_) return;
    }
  }

  /// Whether some completion may be better than the best map, or equally good and earlier in order.
  bool worth_going_on(const Cost& alone, std::int64_t hops) {
    if (room() < 1) return false;
    if (!found()) return true;
    if (alone.interface > best_cost_.interface) return false;
    const Bytes interface = objective_.interface(chosen_);
    if (interface != best_cost_.interface) return interface < best_cost_.interface;
    const Bytes links = objective_.links(chosen_);
    if (links != best_cost_.links) return links < best_cost_.links;
    if (hops != best_cost_.hops) return hops < best_cost_.hops;
    return !comes_later();
  }

  /// Whether the rings chosen so far put every completion after the best map in rank order.
  bool comes_later() const {
    for (std::size_t q = 0; q < chosen_.size(); ++q) {
      if (!chosen_[q]) return false;
      if (chosen_[q]->sequence != best_[q]->sequence) return chosen_[q]->sequence > best_[q]->sequence;
    }
    return false;
  }

  void keep(const Cost& cost) {
    ++visited_;
    if (found() && (cost > best_cost_ || (cost == best_cost_ && !comes_earlier()))) return;
    best_ = chosen_;
    best_cost_ = cost;
    if (options_.progress && !options_.progress(steps_, best_cost_.interface)) stopped_ = true;
  }

  bool comes_earlier() const {
    for (std::size_t q = 0; q < chosen_.size(); ++q) {
      if (chosen_[q]->sequence != best_[q]->sequence) return chosen_[q]->sequence < best_[q]->sequence;
    }
    return false;
  }

  bool stop() {
    ++steps_;
    if (steps_ % steps_between_calls == 0 && options_.progress) {
      wish_to_stop_ = wish_to_stop_ || !options_.progress(steps_, best_cost_.interface);
    }
    if (options_.steps > 0 && steps_ > options_.steps) wish_to_stop_ = true;
    if (wish_to_stop_ && found()) stopped_ = true;
    return stopped_;
  }

  bool free_for(const Candidate& ring) const {
    return std::all_of(ring.pieces.begin(), ring.pieces.end(), [&](const Piece& piece) {
      const auto& pieces = used_[static_cast<std::size_t>(piece.axis)];
      return pieces.empty() || (pieces.size() == 1 && detail::can_share(*pieces[0], piece));
    });
  }

  void take(const Candidate& ring) {
    for (const Piece& piece : ring.pieces) used_[static_cast<std::size_t>(piece.axis)].push_back(&piece);
  }
  void give_back(const Candidate& ring) {
    for (const Piece& piece : ring.pieces) used_[static_cast<std::size_t>(piece.axis)].pop_back();
  }

  /// Nodes left for the missing rings, divided by the nodes that they need; below 1 no completion exists.
  std::int64_t room() const {
    std::int64_t left = 1, needed = 1;
    for (std::size_t t = 0; t < used_.size(); ++t) {
      std::int64_t length = network_.axes[t].length;
      for (const Piece* piece : used_[t]) length /= piece->length;
      left *= length;
    }
    for (std::size_t q = 0; q < chosen_.size(); ++q) needed *= chosen_[q] ? 1 : objective_.flows()[q].nodes;
    return left / needed;
  }

  const Network& network_;
  const SearchOptions& options_;
  detail::Objective objective_;
  std::vector<std::vector<Option>> options_of_;  // shape (process axes, rings), the cheapest alone first
  std::vector<std::size_t> order_;               // the process axes in the order of the search
  std::int64_t least_hops_ = 0;

  std::vector<const Candidate*> chosen_;
  std::vector<std::vector<const Piece*>> used_;  // shape (network axes,): pieces in use
  std::vector<const Candidate*> best_;
  Cost best_cost_;
  Bytes floor_ = 0, bound_ = 0;
  std::int64_t steps_ = 0, visited_ = 0;
  bool wish_to_stop_ = false, stopped_ = false;
};

/// Behind a fat tree all maps that keep the block of a node together have the same cost. Returns the one with nodes in
/// order.
SearchResult blocks_in_order(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                             const Messages& messages, Count count) {
  SearchResult result;
  result.map = {grid, per_node, {}};
  const std::int64_t ranks = checked_ranks(grid, per_node);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::int64_t node = 0, stride = 1, rest = rank;
    for (std::size_t q = 0; q < grid.size(); ++q) {
      node += rest % grid[q] / per_node[q] * stride;
      stride *= grid[q] / per_node[q];
      rest /= grid[q];
    }
    result.map.node.push_back(node);
  }
  result.rings.resize(grid.size());
  result.loads = evaluate(network, result.map, messages, count);
  result.floor = result.lower_bound = result.loads.busiest_interface;
  result.proven = true;
  result.visited = result.steps = 1;
  return result;
}

}  // namespace

SearchResult search(const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
                    const Messages& messages, const SearchOptions& options) {
  network.validate();
  checked_ranks(grid, per_node);
  messages.validate(grid.size());
  std::int64_t nodes = 1;
  for (std::size_t q = 0; q < grid.size(); ++q) nodes *= grid[q] / per_node[q];
  if (nodes > network.nodes()) throw core::InvalidArgument(detail::refusal(network, grid, per_node));
  if (network.full_bisection) return blocks_in_order(network, grid, per_node, messages, options.count);

  Searcher searcher(network, detail::flows_of(grid, per_node, messages), options);
  if (searcher.possible()) searcher.run();
  if (!searcher.found()) throw core::InvalidArgument(detail::refusal(network, grid, per_node));

  SearchResult result;
  result.rings = searcher.rings();
  result.map = map_of_rings(network, grid, per_node, result.rings);
  result.loads = evaluate(network, result.map, messages, options.count);
  result.floor = searcher.floor();
  result.lower_bound = searcher.bound();
  result.proven = searcher.proven();
  result.steps = searcher.steps();
  result.visited = searcher.visited();
  if (result.lower_bound > 0) {
    result.gap = static_cast<double>(result.loads.busiest_interface - result.lower_bound) /
                 static_cast<double>(result.lower_bound);
  }
  return result;
}

}  // namespace halocline::mapping
