// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The network of a machine as the map and the model see it: nodes on a grid, some axes closed to rings, links between
/// neighbours on an axis, and a number of network interfaces in every node.
///
/// A machine without a grid, a fat tree of full bisection, is one axis that no message walks along: every pair of nodes
/// is as near as every other, links never limit, and only the interfaces do.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halocline::mapping {

/// Bytes that travel or wait; sums of products of them stay below 2^63 for every machine built.
using Bytes = std::int64_t;

struct Axis {
  std::string name;        ///< as reports write it: "X"
  int length = 1;          ///< nodes along the axis; 1: an axis without links
  bool wraps = false;      ///< the last node has a link to the first
  double bandwidth = 0;    ///< bytes/s, of one link in one direction
  double hop_latency = 0;  ///< seconds, what a link and its router add to a message
};

struct Network {
  std::string name;                ///< "tofu-d"
  std::vector<Axis> axes;          ///< the first runs fastest in the number of a node
  int interfaces = 1;              ///< of a node; each sends one message at a time
  double interface_bandwidth = 0;  ///< bytes/s, of one interface
  double injection_bandwidth = 0;  ///< bytes/s, of one node, over all its interfaces
  double latency = 0;              ///< seconds, of a put of few bytes to a neighbour, without the hop
  double reduction_latency = 0;    ///< seconds, of one step of a reduction tree in software
  double barrier_latency = 0;      ///< seconds, of one step of a reduction in the network's hardware; 0: has none
  int barrier_elements = 0;        ///< numbers that a hardware reduction sums at once
  bool full_bisection = false;     ///< a fat tree: links are never counted

  int ndim() const noexcept { return static_cast<int>(axes.size()); }
  std::int64_t nodes() const noexcept;
  /// "2x2x9x2x3x2"
  std::string shape() const;
  /// @throws InvalidArgument  for coordinates, or a node, outside the network
  std::int64_t node_of(std::span<const int> coords) const;
  std::vector<int> coords_of(std::int64_t node) const;
  /// @throws InvalidArgument  for what no machine can have: no axis, or more than 16; a length below 1; more than 2^31
  ///                          nodes; a bandwidth that is not positive; a negative latency; interfaces not of 1 to 64
  void validate() const;
};

/// Tofu interconnect D (papers: arXiv 2109.10687, section 2; IPSJ 2020-HPC-177, table 1): axes X, Y, Z, A, B, C, where
/// A, B, C have 2, 3, 2 nodes and B alone of them is a ring; 6.8 GB/s a link and an interface, six interfaces,
/// 40.8 GB/s a node.
/// @param shape  six lengths X, Y, Z, A, B, C, or the three products A X, B Y, C Z
/// @param wraps  names of those of X, Y, Z that are closed; an axis as long as the whole machine's (24, 23, 24) is
///               closed without being named
/// @throws InvalidArgument  for another number of lengths, products that 2, 3, 2 do not divide (with the nearest that
///                          they do), lengths beyond the machine's, or an unknown name
Network tofu_d(std::span<const int> shape, std::span<const std::string> wraps = {});

/// A torus with every axis closed and named X, Y, Z, T, U, V, ...; links, interfaces and latencies as given in `like`,
/// whose axes are replaced (the first gives bandwidth and latency of all).
/// @throws InvalidArgument  for a `like` without an axis, and as validate()
Network torus(std::span<const int> shape, const Network& like);

/// Nodes behind a fat tree of full bisection with one 12.5 GB/s interface each, as Oakforest-PACS has (Intel
/// Omni-Path).
/// @param shape  one or more numbers that multiply to the nodes
Network fat_tree(std::span<const int> shape);

/// Names that network_named knows, in order.
std::vector<std::string> network_names();

/// "tofu-d"; "torus-3d", "torus-4d", "torus-5d" (links and interfaces of tofu-d, every axis closed: one can compare
/// topologies alone); "fat-tree".
/// @throws InvalidArgument  for an unknown name (the nearest and all known ones are given), a shape that does not fit,
///                          or `wraps` for a network other than tofu-d
Network network_named(const std::string& name, std::span<const int> shape, std::span<const std::string> wraps = {});

}  // namespace halocline::mapping
