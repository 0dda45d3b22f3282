// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The network of a machine as the map and the model use it: nodes on a grid, some axes closed to rings, links between
/// neighbours on an axis, and a number of network interfaces in every node.
///
/// A machine without a grid, such as a fat tree of full bisection, is one axis that no message travels along: all pairs
/// of nodes are equally near, and only the interfaces limit the bandwidth.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halocline::mapping {

/// Bytes sent or queued. Sums of products of such numbers stay below 2^63 for every existing machine.
using Bytes = std::int64_t;

struct Axis {
  std::string name;        ///< as shown in reports: "X"
  int length = 1;          ///< number of nodes along the axis; 1: an axis without links
  bool wraps = false;      ///< whether a link joins the last node to the first
  double bandwidth = 0;    ///< of one link in one direction [bytes/s]
  double hop_latency = 0;  ///< delay of a message by one link and its router [s]
};

struct Network {
  std::string name;                ///< "tofu-d"
  std::vector<Axis> axes;          ///< the first varies fastest in the node number
  int interfaces = 1;              ///< of a node; each sends one message at a time
  double interface_bandwidth = 0;  ///< of one interface [bytes/s]
  double injection_bandwidth = 0;  ///< of one node, over all its interfaces [bytes/s]
  double latency = 0;              ///< of a put of a few bytes to a neighbour, without the hop [s]
  double reduction_latency = 0;    ///< of one step of a reduction tree in software [s]
  double barrier_latency = 0;      ///< of one step of a reduction in network hardware [s]; 0: no such hardware
  int barrier_elements = 0;        ///< numbers that one hardware reduction sums
  bool full_bisection = false;     ///< a fat tree: link loads are ignored

  int ndim() const noexcept { return static_cast<int>(axes.size()); }
  std::int64_t nodes() const noexcept;
  /// "2x2x9x2x3x2"
  std::string shape() const;
  /// @throws InvalidArgument  coordinates, or a node, outside the network
  std::int64_t node_of(std::span<const int> coords) const;
  std::vector<int> coords_of(std::int64_t node) const;
  /// @throws InvalidArgument  an impossible machine: no axis, or more than 16; a length below 1; more than 2^31 nodes;
  ///                          a bandwidth that is not positive; a negative latency; interfaces outside 1 to 64
  void validate() const;
};

/// Tofu interconnect D (papers: arXiv 2109.10687, section 2; IPSJ 2020-HPC-177, table 1). Axes X, Y, Z, A, B, C, where
/// A, B, C have 2, 3, 2 nodes and of these only B is a ring; 6.8 GB/s for each link and each interface, six interfaces,
/// 40.8 GB/s for each node.
/// @param shape  six lengths X, Y, Z, A, B, C, or the three products A X, B Y, C Z
/// @param wraps  names of the closed axes among X, Y, Z; an axis as long as the whole machine's (24, 23, 24) is closed
///               without being named
/// @throws InvalidArgument  another number of lengths, products that 2, 3, 2 do not divide (gives the nearest that they
///                          do), lengths beyond the machine's, or an unknown name
Network tofu_d(std::span<const int> shape, std::span<const std::string> wraps = {});

/// A torus with every axis closed and named X, Y, Z, T, U, V, ... Links, interfaces and latencies are those of `like`,
/// whose axes are replaced (its first axis gives the bandwidth and latency of all).
/// @throws InvalidArgument  `like` has no axis, or an error of validate()
Network torus(std::span<const int> shape, const Network& like);

/// Nodes behind a fat tree of full bisection with one 12.5 GB/s interface each, as on Oakforest-PACS (Intel Omni-Path).
/// @param shape  one or more numbers whose product is the number of nodes
Network fat_tree(std::span<const int> shape);

/// Names that network_named knows, in order.
std::vector<std::string> network_names();

/// "tofu-d"; "torus-3d", "torus-4d", "torus-5d" (links and interfaces of tofu-d with every axis closed, to compare
/// topologies alone); "fat-tree".
/// @throws InvalidArgument  an unknown name (gives the nearest and all known names), a shape that does not fit, or
///                          `wraps` for a network other than tofu-d
Network network_named(const std::string& name, std::span<const int> shape, std::span<const std::string> wraps = {});

}  // namespace halocline::mapping
