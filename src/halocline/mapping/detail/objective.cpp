// SPDX-License-Identifier: Apache-2.0
/// @file
/// The formulas of objective.hpp.

#include "halocline/mapping/detail/objective.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace halocline::mapping::detail {
namespace {

/// Whether replacing a by b never makes a node easier to pack: for every item of a there is one of b that is no
/// smaller, and at the same exit if the item of a is bound to an exit.
bool no_lighter(const Kind& a, const Kind& b) {
  const auto covers = [](const Leaving& x, const Leaving& y) {
    return x.bytes <= y.bytes && (x.exit < 0 || x.exit == y.exit);
  };
  if (a.size() > b.size()) return false;
  if (a.size() == 1) return covers(a[0], b[0]) || (b.size() == 2 && covers(a[0], b[1]));
  return (covers(a[0], b[0]) && covers(a[1], b[1])) || (covers(a[0], b[1]) && covers(a[1], b[0]));
}

/// Adds the messages of a line's points to the links of an axis of `nodes` nodes.
/// @param at  node of the first point; points are `stride` nodes apart, and a message passes `stride` links
/// @param out  shape (2 directions of the process axis, links, 2)
void add_line(const Line& line, int at, int stride, int nodes, std::array<std::vector<std::array<Bytes, 2>>, 2>& out) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const int node = at + static_cast<int>(i) * stride;
    for (std::size_t sign = 0; sign < 2; ++sign) {
      for (int hop = 0; hop < stride; ++hop) {
        out[sign][static_cast<std::size_t>((node + hop) % nodes)][0] += line[i].bytes[sign][0];
        out[sign][static_cast<std::size_t>((node - hop + nodes) % nodes)][1] += line[i].bytes[sign][1];
      }
    }
  }
}

Bytes in_turns(const Flow& flow, Bytes plus, Bytes minus) {
  return flow.directions == 2 ? plus + minus : std::max(plus, minus);
}

}  // namespace

Objective::Objective(const Network& network, std::vector<Flow> flows)
    : axes_(network.axes.size()), flows_(std::move(flows)), packings_(network.interfaces) {
  for (const Flow& flow : flows_) {
    nodes_ *= flow.nodes;
    loopbacks_.push_back(flow.loopback);
    loopbacks_.push_back(flow.loopback);
  }
}

const std::vector<Kind>& Objective::kinds(const Candidate& ring, std::uint32_t shared) {
  std::uint32_t mine = 0;
  for (const Piece& piece : ring.pieces) mine |= 1U << piece.axis;
  mine &= shared;
  const auto [entry, fresh] = kinds_.try_emplace(static_cast<std::uint64_t>(ring.id) << 32 | mine);
  if (!fresh) return entry->second;

  std::set<Kind> different;
  for (Kind kind : ring.kinds) {
    for (Leaving& item : kind) {
      if ((mine >> (item.exit / 2) & 1U) == 0) item.exit = -1;
    }
    std::sort(kind.begin(), kind.end());
    different.insert(std::move(kind));
  }
  std::vector<Kind>& kept = entry->second;
  for (const Kind& kind : different) {
    const bool idle = std::any_of(different.begin(), different.end(), [&](const Kind& other) {
      return &other != &kind && no_lighter(kind, other) && (!no_lighter(other, kind) || other < kind);
    });
    if (!idle) kept.push_back(kind);
  }
  return kept;
}

Bytes Objective::interface(const std::vector<const Candidate*>& rings) {
  std::uint32_t touched = 0, shared = 0;
  for (const Candidate* ring : rings) {
    if (!ring) continue;
    for (const Piece& piece : ring->pieces) {
      shared |= touched & (1U << piece.axis);
      touched |= 1U << piece.axis;
    }
  }
  std::vector<Bytes> fixed = loopbacks_;
  std::vector<const std::vector<Kind>*> choices;
  for (std::size_t q = 0; q < flows_.size(); ++q) {
    const Flow& flow = flows_[q];
    if (flow.nodes == 1) continue;
    if (rings[q]) {
      choices.push_back(&kinds(*rings[q], shared));
    } else if (flow.nodes == 2) {
      fixed.push_back(flow.directions * flow.off_node);
    } else {
      fixed.insert(fixed.end(), 2, flow.off_node);
    }
  }

  Bytes largest = 0;
  std::vector<std::size_t> pick(choices.size(), 0);
  std::vector<Bytes> exits(axes_ * 2), items;
  while (true) {
    items = fixed;
    std::fill(exits.begin(), exits.end(), 0);
    for (std::size_t c = 0; c < choices.size(); ++c) {
      for (const Leaving& item : (*choices[c])[pick[c]]) {
        if (item.exit < 0) {
          items.push_back(item.bytes);
        } else {
          exits[static_cast<std::size_t>(item.exit)] += item.bytes;
        }
      }
    }
    items.insert(items.end(), exits.begin(), exits.end());
    largest = std::max(largest, packings_.largest(items));
    std::size_t c = 0;
    while (c < pick.size() && ++pick[c] == choices[c]->size()) pick[c++] = 0;
    if (c == pick.size()) return largest;
  }
}

std::array<Bytes, 2> Objective::shared_links(const Candidate& fast, std::size_t fast_piece, const Candidate& slow,
                                             std::size_t slow_piece) {
  // A ring has at most one piece of an axis. So the two rings determine the axes they share, and the axis number
  // selects one of these.
  const std::uint64_t key =
      (static_cast<std::uint64_t>(fast.id) * 16 + static_cast<std::uint64_t>(fast.pieces[fast_piece].axis)) << 32 |
      static_cast<std::uint64_t>(slow.id);
  const auto [entry, fresh] = shared_.try_emplace(key);
  if (!fresh) return entry->second;
  const int f = fast.pieces[fast_piece].length, g = slow.pieces[slow_piece].length, nodes = f * g;
  const Flow& fast_flow = flows_[static_cast<std::size_t>(fast.axis)];
  const Flow& slow_flow = flows_[static_cast<std::size_t>(slow.axis)];
  using Links = std::array<std::vector<std::array<Bytes, 2>>, 2>;
  const std::vector<std::array<Bytes, 2>> none(static_cast<std::size_t>(nodes));
  std::array<Bytes, 2> busiest{};
  for (const Line& a : fast.lines[fast_piece]) {
    for (const Line& b : slow.lines[slow_piece]) {
      Links of_fast{none, none}, of_slow{none, none};
      for (int y = 0; y < g; ++y) {
        if (b[static_cast<std::size_t>(y)].used) add_line(a, y * f, 1, nodes, of_fast);
      }
      for (int x = 0; x < f; ++x) {
        if (a[static_cast<std::size_t>(x)].used) add_line(b, x, f, nodes, of_slow);
      }
      for (std::size_t link = 0; link < none.size(); ++link) {
        for (std::size_t side = 0; side < 2; ++side) {
          busiest[side] =
              std::max(busiest[side], in_turns(fast_flow, of_fast[0][link][side], of_fast[1][link][side]) +
                                          in_turns(slow_flow, of_slow[0][link][side], of_slow[1][link][side]));
        }
      }
    }
  }
  return entry->second = busiest;
}

Bytes Objective::links(const std::vector<const Candidate*>& rings) {
  struct Use {
    const Candidate* ring = nullptr;
    std::size_t piece = 0;
  };
  std::vector<std::array<Use, 2>> used(axes_);
  for (const Candidate* ring : rings) {
    if (!ring) continue;
    for (std::size_t k = 0; k < ring->pieces.size(); ++k) {
      auto& uses = used[static_cast<std::size_t>(ring->pieces[k].axis)];
      uses[uses[0].ring ? 1 : 0] = {ring, k};
    }
  }
  Bytes sum = 0;
  for (auto& [a, b] : used) {
    if (!a.ring) continue;
    std::array<Bytes, 2> busiest = a.ring->lone[a.piece];
    if (b.ring) {
      const bool a_fast = a.ring->pieces[a.piece].stride < b.ring->pieces[b.piece].stride;
      const Use& fast = a_fast ? a : b;
      const Use& slow = a_fast ? b : a;
      busiest = shared_links(*fast.ring, fast.piece, *slow.ring, slow.piece);
    }
    sum += busiest[0] + busiest[1];
  }
  return sum;
}

std::int64_t Objective::hops(const Candidate& ring) const {
  const Flow& flow = flows_[static_cast<std::size_t>(ring.axis)];
  return flow.directions * flow.senders * (nodes_ / flow.nodes) * ring.hops;
}

}  // namespace halocline::mapping::detail
