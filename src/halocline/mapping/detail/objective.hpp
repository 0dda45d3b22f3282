// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The cost of a map of rings from its rings alone, exactly as walking it finds it, for complete and for partial maps.
///
/// Interfaces. A node's items are what its vertices of all rings send, so the kinds of nodes are the products of the
/// kinds of vertices. On an axis that one ring has to itself, an item is only a number of bytes; on an axis shared by
/// two rings, bytes of both may leave by one exit and then are one item, which is never easier to place. So of two
/// kinds of vertices the one whose items are matched by larger ones of the other, at the same exit or freed from it,
/// can be left out; mostly one or two kinds remain.
///
/// Links. A link of an axis with one ring carries what a vertex sends there. On a shared axis the fast ring uses links
/// inside blocks of f nodes, and messages of the slow ring pass f links each: what lies on one link depends on where
/// it is, and which points of a line belong to rings at all. All pairs of different lines are looked at.
///
/// A partial map costs no more than any map that completes it, when the rings that are missing are taken to send over
/// one hop by exits of their own: more items, items merged, or larger items never make the best packing lighter.

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

  /// @param rings  shape (process axes,): null where none is chosen yet
  Bytes interface(const std::vector<const Candidate*>& rings);
  Bytes links(const std::vector<const Candidate*>& rings);
  std::int64_t hops(const Candidate& ring) const;

  const std::vector<Flow>& flows() const noexcept { return flows_; }

private:
  /// Kinds of vertices that matter when these axes are shared; items of other axes have exit -1.
  const std::vector<Kind>& kinds(const Candidate& ring, std::uint32_t shared);
  std::array<Bytes, 2> shared_links(const Candidate& fast, std::size_t fast_piece, const Candidate& slow,
                                    std::size_t slow_piece);

  std::size_t axes_;
  std::vector<Flow> flows_;
  std::int64_t nodes_ = 1;  // used by the rings together
  std::vector<Bytes> loopbacks_;
  PackingTable packings_;
  std::unordered_map<std::uint64_t, std::vector<Kind>> kinds_;
  std::unordered_map<std::uint64_t, std::array<Bytes, 2>> shared_;
};

}  // namespace halocline::mapping::detail
