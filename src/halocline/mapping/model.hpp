// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Models the time of a halo exchange, of a small sum and of a solver iteration on a network, from a few measured
/// numbers.
///
/// An exchange takes the latency of its longest route, and then the longest of three times: the time that the busiest
/// link, the busiest network interface, and the node as a whole need for their bytes. A link is shared by all messages
/// that cross it, an interface by all items that it owns; Loads counts both. A sum over P nodes takes ceil(log2 P)
/// steps, each with the network's latency, in software or in network hardware. An iteration takes
///
///   computation + exchanges (posting + max(0, exchange - overlapped)) + sums (reduction + jitter H(processes)).
///
/// The term jitter H(P) is the time that a sum waits for the latest of P processes, if their delays are independent and
/// exponential with mean `jitter`: H(P) = 1 + 1/2 + ... + 1/P, nearly ln P + 0.577. The model ignores the memory
/// traffic of messages, and neighbours that wait for each other between two sums.
///
/// docs/benchmarks/mapping.md compares the model with published measurements.

#include <cstdint>
#include <span>
#include <vector>

#include "halocline/mapping/loads.hpp"
#include "halocline/mapping/network.hpp"

namespace halocline::mapping {

/// The parts of the time of one exchange [s].
struct ExchangeTime {
  double latency = 0;     ///< of a put to a neighbour, and of the hops of the longest route
  double links = 0;       ///< time of the busiest link for its bytes
  double interfaces = 0;  ///< time of the busiest interface for its bytes
  double injection = 0;   ///< time of the node that sends most, over all its interfaces
  double total = 0;       ///< latency plus the largest of the three times
};

/// @param loads  of this network, from evaluate(); ignores links on a network of full bisection
/// @throws InvalidArgument  loads with another number of axes, or an invalid network
ExchangeTime exchange_time(const Network& network, const Loads& loads);

/// Seconds of one sum of `elements` numbers over the nodes, which start it together.
///
/// In software, ceil(log2 nodes) steps of reduction_latency. In hardware, the same number of steps of barrier_latency
/// for each group of barrier_elements numbers, one barrier after the other.
/// @param hardware  true: the network's hardware barrier; false: a tree in software
/// @throws InvalidArgument  a network without a hardware barrier, nodes below 1, or elements below 1
double reduction_seconds(const Network& network, std::int64_t nodes, int elements, bool hardware);

/// Seconds that a sum waits for the latest process. @param jitter  mean delay of one process [s]
/// @throws InvalidArgument  processes below 1, or a negative jitter
double waiting_seconds(double jitter, std::int64_t processes);

/// One iteration of a solver on one process.
struct Iteration {
  double computation = 0;  ///< [s]
  double overlapped = 0;   ///< computation that overlaps with each exchange [s]
  int exchanges = 0;       ///< number of halo exchanges
  double posting = 0;      ///< time to post and complete the messages of one exchange [s]
  std::vector<int> sums;   ///< elements of each reduction: {1, 2, 3, 3} for BiCGStab
  double jitter = 0;       ///< mean delay of a process at a sum [s]
};

/// The parts of the time of one iteration [s].
struct IterationTime {
  double computation = 0;  ///< as given
  double posting = 0;      ///< of all exchanges
  double exchange = 0;     ///< of all exchanges, the part that does not overlap
  double reduction = 0;    ///< of all sums
  double waiting = 0;      ///< for the latest process, at all sums
  double total = 0;        ///< sum of the parts
};

/// @throws InvalidArgument  negative times, or an error of the functions above
IterationTime iteration_time(const Network& network, const Loads& loads, std::int64_t nodes, std::int64_t processes,
                             const Iteration& iteration, bool hardware);

/// The jitter for which iteration_time() gives `measured` seconds; 0 if iteration_time() without jitter gives more
/// already.
/// @throws InvalidArgument  an iteration without sums, or an error of iteration_time()
double fitted_jitter(const Network& network, const Loads& loads, std::int64_t nodes, std::int64_t processes,
                     const Iteration& iteration, bool hardware, double measured);

/// Seconds of computation for any number of sites of a process, by linear interpolation of measurements. Below the
/// first measured size the first time shrinks in proportion to the sites, beyond the last the last time grows in
/// proportion.
struct ComputationTable {
  std::vector<double> sites;    ///< of one process, increasing
  std::vector<double> seconds;  ///< shape (sites,): of one iteration

  /// @throws InvalidArgument  an empty or unordered table, or sites not positive
  double at(double sites_of_a_process) const;
};

/// One machine and one problem of a scaling curve.
struct ScalingCase {
  Network network;
  Loads loads;
  std::int64_t nodes = 0;      ///< number of nodes in use
  std::int64_t processes = 0;  ///< number of processes on all nodes together
  double sites = 0;            ///< sites of the whole problem
  Iteration iteration;
};

struct ScalingPoint {
  std::int64_t nodes = 0, processes = 0;
  double sites = 0;
  IterationTime time;
  double sites_per_second = 0;  ///< of the whole machine
  double efficiency = 0;        ///< sites per second and node, relative to the first case
};

/// The scaling curve through some cases. Equal sites per node give a weak scaling curve (efficiency is the first time
/// over this time), equal total sites a strong one; any other set is allowed too.
/// @throws InvalidArgument  a case without nodes, processes or sites; names its number, counted from 0
std::vector<ScalingPoint> scaling(std::span<const ScalingCase> cases, bool hardware);

}  // namespace halocline::mapping
