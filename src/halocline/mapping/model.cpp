// SPDX-License-Identifier: Apache-2.0
/// @file
/// Evaluates the formulas that model.hpp explains.

#include "halocline/mapping/model.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <string>

namespace halocline::mapping {
namespace {

void check_time(double seconds, const char* what) {
  if (seconds >= 0 && std::isfinite(seconds)) return;
  throw core::InvalidArgument(
      fmt::format("the {} is {} s; give a time in seconds that is not negative", what, seconds));
}

void check_count(std::int64_t count, const char* what) {
  if (count >= 1) return;
  throw core::InvalidArgument(fmt::format("{} {} given; give at least 1", count, what));
}

/// Number of steps after which a value can have been combined with those of all other nodes, pairwise: ceil(log2
/// nodes).
int steps(std::int64_t nodes) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(nodes - 1))); }

/// 1 + 1/2 + ... + 1/n: a plain sum for small n, Euler's expansion for large n. Relative error below 1e-12.
double harmonic(std::int64_t n) {
  if (n <= 256) {
    double sum = 0;
    for (std::int64_t k = n; k >= 1; --k) sum += 1.0 / static_cast<double>(k);
    return sum;
  }
  constexpr double euler = 0.57721566490153286;
  const double x = static_cast<double>(n);
  return std::log(x) + euler + 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * x * x * x * x);
}

void check_iteration(const Iteration& iteration) {
  check_time(iteration.computation, "computation of an iteration");
  check_time(iteration.overlapped, "computation beside an exchange");
  check_time(iteration.posting, "posting of an exchange");
  check_time(iteration.jitter, "jitter");
  if (iteration.exchanges < 0) {
    throw core::InvalidArgument(fmt::format("{} exchanges an iteration given; give 0 or more", iteration.exchanges));
  }
  for (const int elements : iteration.sums) check_count(elements, "elements in a sum");
}

}  // namespace

ExchangeTime exchange_time(const Network& network, const Loads& loads) {
  network.validate();
  if (loads.axis_bytes.size() != network.axes.size()) {
    throw core::InvalidArgument(
        fmt::format("the loads are of a network of {} axes and {} has {}; evaluate the map on this network",
                    loads.axis_bytes.size(), network.name, network.axes.size()));
  }
  ExchangeTime time;
  time.latency = network.latency;
  if (network.full_bisection) {
    time.latency += network.axes.front().hop_latency;
  } else {
    double slowest_hop = 0;
    for (std::size_t a = 0; a < network.axes.size(); ++a) {
      const Axis& axis = network.axes[a];
      slowest_hop = std::max(slowest_hop, axis.hop_latency);
      time.links = std::max(time.links, static_cast<double>(loads.axis_bytes[a]) / axis.bandwidth);
    }
    time.latency += static_cast<double>(loads.longest_route) * slowest_hop;
  }
  time.interfaces = static_cast<double>(loads.busiest_interface) / network.interface_bandwidth;
  for (const NodeType& type : loads.node_types) {
    double bytes = 0;
    for (const Bytes load : type.interface) bytes += static_cast<double>(load);
    time.injection = std::max(time.injection, bytes / network.injection_bandwidth);
  }
  time.total = time.latency + std::max({time.links, time.interfaces, time.injection});
  return time;
}

double reduction_seconds(const Network& network, std::int64_t nodes, int elements, bool hardware) {
  check_count(nodes, "nodes");
  check_count(elements, "elements in a sum");
  if (!hardware) return steps(nodes) * network.reduction_latency;
  if (network.barrier_elements < 1 || network.barrier_latency <= 0) {
    throw core::InvalidArgument(
        fmt::format("network {} has no hardware barrier; ask for sums in software", network.name));
  }
  const int barriers = (elements + network.barrier_elements - 1) / network.barrier_elements;
  return barriers * steps(nodes) * network.barrier_latency;
}

double waiting_seconds(double jitter, std::int64_t processes) {
  check_time(jitter, "jitter");
  check_count(processes, "processes");
  return processes == 1 ? 0 : jitter * harmonic(processes);
}

IterationTime iteration_time(const Network& network, const Loads& loads, std::int64_t nodes, std::int64_t processes,
                             const Iteration& iteration, bool hardware) {
  check_iteration(iteration);
  IterationTime time;
  time.computation = iteration.computation;
  time.posting = iteration.exchanges * iteration.posting;
  time.exchange = iteration.exchanges * std::max(0.0, exchange_time(network, loads).total - iteration.overlapped);
  for (const int elements : iteration.sums) {
    time.reduction += reduction_seconds(network, nodes, elements, hardware);
    time.waiting += waiting_seconds(iteration.jitter, processes);
  }
  time.total = time.computation + time.posting + time.exchange + time.reduction + time.waiting;
  return time;
}

double fitted_jitter(const Network& network, const Loads& loads, std::int64_t nodes, std::int64_t processes,
                     const Iteration& iteration, bool hardware, double measured) {
  check_time(measured, "measured time");
  if (iteration.sums.empty() || processes < 2) {
    throw core::InvalidArgument(
        "a jitter is fitted to an iteration with sums over several processes; this one has none");
  }
  Iteration quiet = iteration;
  quiet.jitter = 0;
  const double left = measured - iteration_time(network, loads, nodes, processes, quiet, hardware).total;
  return std::max(0.0, left) / (static_cast<double>(iteration.sums.size()) * harmonic(processes));
}

double ComputationTable::at(double sites_of_a_process) const {
  if (sites.empty() || sites.size() != seconds.size() || !std::is_sorted(sites.begin(), sites.end()) ||
      std::adjacent_find(sites.begin(), sites.end()) != sites.end() || sites.front() <= 0) {
    throw core::InvalidArgument(
        fmt::format("a table of computation has {} sizes and {} times; give one time for each of at least one size, "
                    "the sizes rising from above 0",
                    sites.size(), seconds.size()));
  }
  for (const double time : seconds) check_time(time, "time in a table of computation");
  if (!(sites_of_a_process > 0)) {
    throw core::InvalidArgument(fmt::format("{} sites of a process given; give more than 0", sites_of_a_process));
  }
  if (sites_of_a_process <= sites.front()) return seconds.front() * sites_of_a_process / sites.front();
  if (sites_of_a_process >= sites.back()) return seconds.back() * sites_of_a_process / sites.back();
  const auto above =
      static_cast<std::size_t>(std::upper_bound(sites.begin(), sites.end(), sites_of_a_process) - sites.begin());
  const double part = (sites_of_a_process - sites[above - 1]) / (sites[above] - sites[above - 1]);
  return seconds[above - 1] + part * (seconds[above] - seconds[above - 1]);
}

std::vector<ScalingPoint> scaling(std::span<const ScalingCase> cases, bool hardware) {
  std::vector<ScalingPoint> points;
  for (const ScalingCase& one : cases) {
    if (one.nodes < 1 || one.processes < one.nodes || !(one.sites > 0)) {
      throw core::InvalidArgument(
          fmt::format("case {} of a scaling curve has {} nodes, {} processes and {} sites; give at least one of each, "
                      "and a process on every node",
                      points.size(), one.nodes, one.processes, one.sites));
    }
    ScalingPoint point;
    point.nodes = one.nodes;
    point.processes = one.processes;
    point.sites = one.sites;
    point.time = iteration_time(one.network, one.loads, one.nodes, one.processes, one.iteration, hardware);
    point.sites_per_second = one.sites / point.time.total;
    point.efficiency = point.sites_per_second / static_cast<double>(one.nodes);
    points.push_back(point);
  }
  if (points.empty()) return points;
  const double first = points.front().efficiency;
  for (ScalingPoint& point : points) point.efficiency /= first;
  return points;
}

}  // namespace halocline::mapping
