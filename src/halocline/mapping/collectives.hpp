// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What large collective operations take at least on a network: bounds from what nodes can send and what fits through
/// the middle of the machine, and no software.
///
/// They are for comparing networks and shapes, as electron dynamics needs: its sums over orbitals and its Fourier
/// transforms reach all nodes, so that a long and narrow part of a torus holds them up whatever the map.

#include <cstdint>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping {

/// Bytes a second that fit each way through the narrowest middle of the machine: the least, over the axes, of the links
/// across a cut between its two halves. Where an odd length has no middle, what crosses its cut is less than a quarter
/// of the traffic of all with all, and the cut counts as so much wider. Infinite for one node and for a fat tree.
double bisection_bandwidth(const Network& network);

/// Seconds in which every node can have sent `bytes` in equal shares to all nodes.
/// A quarter of all bytes crosses the middle each way, and messages go in log2(nodes) rounds at least.
/// @throws InvalidArgument  for negative bytes
double all_to_all_seconds(const Network& network, double bytes);

/// Seconds in which `nodes` nodes, each with `bytes`, can have their sums on all: every node sends and receives
/// 2 (1 - 1/nodes) bytes at least, in 2 log2(nodes) rounds (reduce-scatter and all-gather). Links are left out.
/// @throws InvalidArgument  for no nodes or negative bytes
double all_reduce_seconds(const Network& network, std::int64_t nodes, double bytes);

}  // namespace halocline::mapping
