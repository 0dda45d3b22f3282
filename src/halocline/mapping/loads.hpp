// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What every link and every network interface of a machine carries in one halo exchange, found by walking every
/// message hop by hop. Knows the network, the map and the messages, and nothing of how the map was made.
///
/// Routes go axis by axis, in the order of the network's axes, the shorter way round on a closed axis and upwards
/// where both ways are as long. A message to a process of the same node loops back through an interface; a process axis
/// of one process sends nothing.
///
/// Where + and - of a process axis take turns (Messages::directions 1), a link or an item counts the turn that gives
/// it more.

#include <cstdint>
#include <string>
#include <vector>

#include "halocline/mapping/messages.hpp"
#include "halocline/mapping/network.hpp"
#include "halocline/mapping/rank_map.hpp"

namespace halocline::mapping {

/// How a message counts at the interface that sends it: bytes times hops (the convention of arXiv 2109.10687, and of
/// table 2 of IPSJ 2020-HPC-177), or its bytes once. Loop-backs count their bytes either way.
enum class Count { hops, injected };

/// What a node sends that one interface must own whole: everything that leaves by one direction of one axis, or all
/// that loops back for one direction of one process axis. Behind a fat tree, which has no axes to leave by: everything
/// that leaves for one direction of one process axis.
struct SendItem {
  int axis = 0;       ///< of the network; of the process grid for a loop-back and behind a fat tree
  int direction = 0;  ///< +1 or -1
  bool loopback = false;
  Bytes bytes = 0;  ///< counted as asked

  bool operator==(const SendItem&) const = default;
};

/// The items of one kind of node, and which interface owns each.
struct NodeType {
  std::vector<SendItem> items;   ///< by axis, + before -, loop-backs last
  std::vector<int> owner;        ///< shape (items,): the interface
  std::vector<Bytes> interface;  ///< shape (interfaces,): loads, largest first
  std::int64_t nodes = 0;        ///< that are of this kind
  std::int64_t example = 0;      ///< the first of them
};

struct Loads {
  std::vector<Bytes> axis_bytes;        ///< shape (network axes,): of the busiest link of each axis, either direction
  Bytes busiest_link = 0;               ///< the largest of them
  Bytes link_bytes = 0;                 ///< of the busiest link of each direction of each axis, summed
  std::int64_t hops = 0;                ///< of all messages of one exchange together
  std::int64_t longest_route = 0;       ///< most hops of one message
  Bytes busiest_interface = 0;          ///< the largest load of any interface of any node
  std::vector<Bytes> interface_bytes;   ///< of the first of node_types, largest first
  std::vector<NodeType> node_types;     ///< largest interface load first, then most bytes, most items, first node
  std::vector<std::int32_t> node_type;  ///< shape (nodes,): index into node_types; -1 for a node without processes
  std::int64_t unused_nodes = 0;
};

/// @throws InvalidArgument  for a map that check() refuses, or messages of another number of axes
/// The largest interface load of all is exact; where a machine has many different nodes with many different items, as
/// random placements have, the owners of lighter nodes are those of the best division found in some thousand steps.
/// Cost: all hops of all messages, and a packing for each different list of items: about a second for good maps of the
/// 158,976 nodes of Fugaku, several for bad ones.
Loads evaluate(const Network& network, const RankMap& map, const Messages& messages, Count count = Count::hops);

/// Bytes on every link in one exchange, for pictures; zeros for a fat tree.
/// @return shape (nodes, axes, 2): of the link that leaves a node upwards (0) or downwards (1) along an axis
/// @throws InvalidArgument  as evaluate()
std::vector<Bytes> link_loads(const Network& network, const RankMap& map, const Messages& messages);

}  // namespace halocline::mapping
