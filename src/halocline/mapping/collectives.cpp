// SPDX-License-Identifier: Apache-2.0
#include "halocline/mapping/collectives.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace halocline::mapping {
namespace {

void check_bytes(double bytes) {
  if (bytes >= 0) return;
  throw core::InvalidArgument(fmt::format("{} bytes of a node given; give a number that is not negative", bytes));
}

int rounds(std::int64_t nodes) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(nodes - 1))); }

}  // namespace

double bisection_bandwidth(const Network& network) {
  network.validate();
  double least = std::numeric_limits<double>::infinity();
  if (network.full_bisection) return least;
  const auto nodes = static_cast<double>(network.nodes());
  for (const Axis& axis : network.axes) {
    if (axis.length == 1) continue;
    const int below = axis.length / 2, above = axis.length - below;
    const int cuts = axis.wraps && axis.length > 2 ? 2 : 1;  // cutting a ring in two cuts two links
    const double across = cuts * nodes / axis.length * axis.bandwidth;
    const double shares = static_cast<double>(below) * above / (static_cast<double>(axis.length) * axis.length);
    least = std::min(least, across / (4 * shares));
  }
  return least;
}

double all_to_all_seconds(const Network& network, double bytes) {
  check_bytes(bytes);
  const double through = bisection_bandwidth(network);
  const auto nodes = static_cast<double>(network.nodes());
  // A quarter of all bytes crosses the middle each way. bisection_bandwidth() scales other cuts to the middle.
  const double crossing = through == std::numeric_limits<double>::infinity() ? 0 : bytes * nodes / 4 / through;
  const double sending = bytes / network.injection_bandwidth;
  return rounds(network.nodes()) * network.latency + std::max(crossing, sending);
}

double all_reduce_seconds(const Network& network, std::int64_t nodes, double bytes) {
  check_bytes(bytes);
  if (nodes < 1) throw core::InvalidArgument(fmt::format("{} nodes given; give at least 1", nodes));
  const double moved = 2 * (1 - 1 / static_cast<double>(nodes)) * bytes;
  return 2 * rounds(nodes) * network.latency + moved / network.injection_bandwidth;
}

}  // namespace halocline::mapping
