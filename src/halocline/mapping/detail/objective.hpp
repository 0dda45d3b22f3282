// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The cost of a complete or partial map of rings, computed from its rings alone. For complete maps it equals the
/// result of walking every message.
///
/// Interfaces. A node sends the items of its vertices of all rings, so the kinds of nodes are the products of the kinds
/// of vertices. On an axis that one ring has to itself, an item is only a number of bytes. On an axis shared by two
/// rings, bytes of both may leave by one exit and then form one item, which is never easier to place. So one kind of
/// vertex can be left out if every one of its items is matched by an item of another kind that is no smaller, at the
/// same exit (or at any exit, if the axis is not shared). Mostly one or two kinds remain.
///
/// Links. A link of an axis with one ring carries what one vertex sends there. On a shared axis the fast ring uses
/// links inside blocks of f nodes, and each message of the slow ring passes f links. The load of one link then depends
/// on its position, and on the points of a line that belong to rings at all. All pairs of different lines are
/// evaluated.
///
/// The cost of a partial map is a lower bound for every map that completes it: the missing rings are taken to send over
/// one hop by exits of their own. More items, merged items or larger items never make the best packing lighter.

#include <array>
#include <compare>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "halocline/mapping/detail/candidates.hpp"
#include "halocline/mapping/detail/packing.hpp"

namespace halocline::mapping::detail {

struct Cost {
  Bytes interface = 0;
  Bytes links = 0;
  std::int64_t hops = 0;
  auto operator<=>(const Cost&) const = default;
};

class Objective {
public:
  Objective(const Network& network, std::vector<Flow> flows);

  /// @param rings  shape (process axes,): null for an axis whose ring is not chosen yet
  Bytes interface(const std::vector<const Candidate*>& rings);
  Bytes links(const std::vector<const Candidate*>& rings);
  std::int64_t hops(const Candidate& ring) const;

  const std::vector<Flow>& flows() const noexcept { return flows_; }

private:
  /// The kinds of vertices that matter if the axes in the bit mask `shared` are shared; items of other axes have exit
  /// -1.
  const std::vector<Kind>& kinds(const Candidate& ring, std::uint32_t shared);
  std::array<Bytes, 2> shared_links(const Candidate& fast, std::size_t fast_piece, const Candidate& slow,
                                    std::size_t slow_piece);

  std::size_t axes_;
  std::vector<Flow> flows_;
  std::int64_t nodes_ = 1;  // number of nodes of all rings together
  std::vector<Bytes> loopbacks_;
  PackingTable packings_;
  std::unordered_map<std::uint64_t, std::vector<Kind>> kinds_;
  std::unordered_map<std::uint64_t, std::array<Bytes, 2>> shared_;
};

}  // namespace halocline::mapping::detail
