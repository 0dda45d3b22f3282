// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The load of every link and every network interface of a machine in one halo exchange, found by walking every message
/// hop by hop. Uses the network, the map and the messages; it does not matter how the map was made.
///
/// Routes go axis by axis, in the order of the network's axes. On a closed axis they go the shorter way round, and
/// upwards if both ways are equally long. A message to a process of the same node loops back through an interface. A
/// process axis of one process sends nothing.
///
/// If + and - of a process axis take turns (Messages::directions 1), a link or an item counts the turn with more bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halocline/mapping/messages.hpp"
#include "halocline/mapping/network.hpp"
#include "halocline/mapping/rank_map.hpp"

namespace halocline::mapping {

/// How a message counts at the interface that sends it: bytes times hops (the convention of arXiv 2109.10687, and of
/// table 2 of IPSJ 2020-HPC-177), or its bytes once. Loop-backs count their bytes once in both cases.
enum class Count { hops, injected };

/// A part of a node's messages that one interface must own whole: everything that leaves by one direction of one axis,
/// or everything that loops back for one direction of one process axis. A fat tree has no axes to leave by; there it is
/// everything that leaves for one direction of one process axis.
struct SendItem {
  int axis = 0;       ///< of the network; for a loop-back, or behind a fat tree, of the process grid
  int direction = 0;  ///< +1 or -1
  bool loopback = false;
  Bytes bytes = 0;  ///< counted by hops or once, as requested

  bool operator==(const SendItem&) const = default;
};

/// The items of one kind of node, and the interface that owns each item.
struct NodeType {
  std::vector<SendItem> items;   ///< by axis, + before -, loop-backs last
  std::vector<int> owner;        ///< shape (items,): the interface
  std::vector<Bytes> interface;  ///< shape (interfaces,): loads, largest first
  std::int64_t nodes = 0;        ///< number of nodes of this kind
  std::int64_t example = 0;      ///< the first node of this kind
};

struct Loads {
  std::vector<Bytes> axis_bytes;        ///< shape (network axes,): load of the axis's busiest link
  Bytes busiest_link = 0;               ///< the largest of axis_bytes
  Bytes link_bytes = 0;                 ///< sum over axes and directions of the load of the busiest link
  std::int64_t hops = 0;                ///< of all messages of one exchange together
  std::int64_t longest_route = 0;       ///< most hops of one message
  Bytes busiest_interface = 0;          ///< the largest load of any interface of any node
  std::vector<Bytes> interface_bytes;   ///< loads of the first of node_types, largest first
  std::vector<NodeType> node_types;     ///< ordered by largest interface load, most bytes, most items, first node
  std::vector<std::int32_t> node_type;  ///< shape (nodes,): index into node_types; -1 for a node without processes
  std::int64_t unused_nodes = 0;
};

/// Computes the loads. The largest interface load of the machine is exact. In maps with many different nodes and many
/// different items, such as random placements, the owners on less loaded nodes may come from a search with a step
/// limit.
/// @throws InvalidArgument  check() refuses the map, or the messages have another number of axes
/// Cost: all hops of all messages, and a packing for each different list of items. For the 158,976 nodes of Fugaku
/// about a second for good maps, several for bad ones.
Loads evaluate(const Network& network, const RankMap& map, const Messages& messages, Count count = Count::hops);

/// The item to which the message of each face of one process belongs, by its interface in a table of owners.
/// @param place  of the process on the grid, x fastest
/// @return shape (2 process axes,): lower side of axis 0, upper side, lower side of axis 1, ...; an item's bytes are 0.
///         A face of an axis of one process has no message, and no item
/// @throws InvalidArgument  check() refuses the map, or it has no such place
/// Cost: the coordinates of all nodes.
std::vector<std::optional<SendItem>> face_items(const Network& network, const RankMap& map, std::int64_t place);

/// Bytes on every link in one exchange, for plots; zeros for a fat tree.
/// @return shape (nodes, axes, 2): load of the link that leaves a node upwards (0) or downwards (1) along an axis
/// @throws InvalidArgument  as evaluate()
std::vector<Bytes> link_loads(const Network& network, const RankMap& map, const Messages& messages);

}  // namespace halocline::mapping
