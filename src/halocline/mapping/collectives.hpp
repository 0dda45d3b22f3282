// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Lower bounds on the time of large collective operations on a network. They follow from the bandwidth of the nodes
/// and of the narrowest cut through the machine; software adds to them.
///
/// They serve to compare networks and shapes for electron dynamics, whose sums over orbitals and Fourier transforms
/// reach all nodes. A long and narrow part of a torus limits such operations for every map.

#include <cstdint>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping {

/// Bandwidth, each way, of the narrowest cut through the middle of the machine [bytes/s]: the minimum over the axes of
/// the links across a cut between two halves. An odd length has no exact middle: less than a quarter of the all-to-all
/// traffic crosses its cut, and its bandwidth is scaled up accordingly. Infinite for one node and for a fat tree.
double bisection_bandwidth(const Network& network);

/// Lower bound on the seconds in which every node sends `bytes` in equal shares to all nodes. A quarter of all bytes
/// crosses the middle each way, and messages go in at least log2(nodes) rounds, rounded up.
/// @throws InvalidArgument  for negative bytes
double all_to_all_seconds(const Network& network, double bytes);

/// Lower bound on the seconds of a sum over `nodes` nodes, each with `bytes`, with the result on all nodes. Every node
/// sends and receives at least 2 (1 - 1/nodes) bytes, in 2 log2(nodes) rounds (reduce-scatter and all-gather). Link
/// bandwidth is ignored.
/// @throws InvalidArgument  nodes below 1, or negative bytes
double all_reduce_seconds(const Network& network, std::int64_t nodes, double bytes);

}  // namespace halocline::mapping
