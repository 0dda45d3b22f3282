// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The time of a halo exchange, of a small sum and of a solver iteration on a network, from few measured numbers.
///
/// An exchange takes the latency of its longest route and then as long as the slowest of three things needs for its
/// bytes: the busiest link, the busiest network interface, the node as a whole. Links are shared by all that crosses
/// them, interfaces by all that they own; Loads has counted both. A sum takes a number of steps that is the logarithm
/// of the nodes, each of the network's latency, in software or in its hardware. An iteration is
///
///   computation + exchanges (posting + max(0, exchange - overlapped)) + sums (reduction + jitter H(processes)),
///
/// where jitter H(P) is what a sum waits for the latest of P processes whose delays are independent and exponential
/// with mean jitter: H(P) = 1 + 1/2 + ... + 1/P, nearly ln P + 0.577. Nothing else is in the model: no memory traffic
/// of the messages, no neighbours that wait for each other between two sums.
///
/// docs/benchmarks/mapping.md compares all of this with printed measurements.

#include <cstdint>
#include <span>
#include <vector>

#include "halocline/mapping/loads.hpp"
#include "halocline/mapping/network.hpp"

namespace halocline::mapping {

/// Where the time of one exchange goes. [s]
struct ExchangeTime {
  double latency = 0;     ///< of a put to a neighbour, and the hops of the longest route
  double links = 0;       ///< what the busiest link needs for its bytes
  double interfaces = 0;  ///< the same of the busiest interface
  double injection = 0;   ///< the same of the node that sends most, over all its interfaces
  double total = 0;       ///< latency and the largest of the three
};

/// @param loads  of this network, as evaluate() finds them; on a network of full bisection its links are left out
/// @throws InvalidArgument  for loads of another number of axes, or a network that cannot be
ExchangeTime exchange_time(const Network& network, const Loads& loads);

/// Seconds of one sum of `elements` numbers over the nodes, which begin it together.
///
/// ceil(log2 nodes) steps of reduction_latency; or, in hardware, as many of barrier_latency for each barrier_elements
/// numbers, one barrier after the other.
/// @param hardware  by the network's barrier; else by a tree in software
/// @throws InvalidArgument  for a network without a hardware barrier, no nodes, or no elements
double reduction_seconds(const Network& network, std::int64_t nodes, int elements, bool hardware);

/// Seconds that a sum waits for the latest of so many processes. @param jitter  mean delay of one process [s]
/// @throws InvalidArgument  for no processes or a negative jitter
double waiting_seconds(double jitter, std::int64_t processes);

/// One iteration of a solver on one process.
struct Iteration {
  double computation = 0;  ///< seconds
  double overlapped = 0;   ///< seconds of computation that run beside each exchange
  int exchanges = 0;       ///< halo exchanges
  double posting = 0;      ///< seconds in which a process posts and completes the messages of one exchange
  std::vector<int> sums;   ///< elements of each reduction: {1, 2, 3, 3} for BiCGStab
  double jitter = 0;       ///< mean seconds by which a process comes late to a sum
};

struct IterationTime {
  double computation = 0;  ///< as given
  double posting = 0;      ///< of all exchanges
  double exchange = 0;     ///< of all exchanges, what does not overlap
  double reduction = 0;    ///< of all sums
  double waiting = 0;      ///< for the latest process, at all sums
  double total = 0;        ///< their sum
};

/// @throws InvalidArgument  for negative times, and as the parts above
IterationTime iteration_time(const Network& network, const Loads& loads, std::int64_t nodes, std::int64_t processes,
                             const Iteration& iteration, bool hardware);

/// The jitter with which iteration_time() gives `measured` seconds; 0 where even no jitter gives more.
/// @throws InvalidArgument  for an iteration without sums, and as iteration_time()
double fitted_jitter(const Network& network, const Loads& loads, std::int64_t nodes, std::int64_t processes,
                     const Iteration& iteration, bool hardware, double measured);

/// Seconds of computation for any number of sites of a process, between and beyond measured ones: straight lines
/// between neighbours; below the first the time of the first shrinks in proportion, beyond the last it grows so.
struct ComputationTable {
  std::vector<double> sites;    ///< of one process, rising
  std::vector<double> seconds;  ///< shape (sites,): of one iteration

  /// @throws InvalidArgument  for an empty or disordered table, or no sites
  double at(double sites_of_a_process) const;
};

/// One machine and one problem of a scaling curve.
struct ScalingCase {
  Network network;
  Loads loads;
  std::int64_t nodes = 0;      ///< in use
  std::int64_t processes = 0;  ///< on all of them together
  double sites = 0;            ///< of the whole problem
  Iteration iteration;
};

struct ScalingPoint {
  std::int64_t nodes = 0, processes = 0;
  double sites = 0;
  IterationTime time;
  double sites_per_second = 0;  ///< of the whole machine
  double efficiency = 0;        ///< sites a second and node, over those of the first case
};

/// The curve through some cases. With equal sites a node it is a weak one (efficiency is the first time over this one),
/// with equal sites in all a strong one, and it may be any other.
/// @throws InvalidArgument  for a case without nodes, processes or sites; names its number, counted from 0
std::vector<ScalingPoint> scaling(std::span<const ScalingCase> cases, bool hardware);

}  // namespace halocline::mapping
