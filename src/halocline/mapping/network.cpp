// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers the nodes, and defines the machines known by name.

#include "halocline/mapping/network.hpp"

#include "halocline/core/error.hpp"
#include "halocline/mapping/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace halocline::mapping {
namespace {

constexpr std::array<int, 3> tofu_group{2, 3, 2};  // A, B, C
constexpr std::array<int, 3> fugaku{24, 23, 24};   // X, Y, Z
constexpr std::array<const char*, 3> tofu_xyz{"X", "Y", "Z"};
constexpr std::array<const char*, 3> tofu_products{"A X", "B Y", "C Z"};

void check_bandwidth(double value, const std::string& what) {
  if (value > 0 && std::isfinite(value)) return;
  throw core::InvalidArgument(fmt::format("{} of {} bytes/s given; give a positive number", what, value));
}

void check_latency(double value, const std::string& what) {
  if (value >= 0 && std::isfinite(value)) return;
  throw core::InvalidArgument(fmt::format("{} of {} s given; give a number that is not negative", what, value));
}

/// The links and interfaces of Tofu-D. It has one axis only, which serves as the model of all links; callers replace
/// it.
Network tofu_links() {
  Network n;
  n.name = "tofu-d";
  // A put of 8 bytes to a neighbour takes 0.49 us (Y. Ajima et al., "The Tofu interconnect D", IEEE Cluster 2018),
  // of which one hop is 0.1 us.
  n.latency = 0.39e-6;
  n.axes = {{"X", 1, false, 6.8e9, 0.1e-6}};
  n.interfaces = 6;
  n.interface_bandwidth = 6.8e9;
  n.injection_bandwidth = 40.8e9;
  // One number over 27648 nodes in 15 steps: 62.83 us in software, 9.46 us by the barrier (arXiv 2109.10687, table 6).
  n.reduction_latency = 62.83e-6 / 15;
  n.barrier_latency = 9.46e-6 / 15;
  n.barrier_elements = 3;
  return n;
}

/// The lengths X, Y, Z, A, B, C from three products or from six lengths.
std::array<int, 6> tofu_lengths(std::span<const int> shape) {
  const std::string given = "tofu-d " + detail::joined(shape, "x");
  for (const int s : shape) {
    if (s < 1) throw core::InvalidArgument(given + ": every length is at least 1");
  }
  std::array<int, 6> lengths{};
  if (shape.size() == 3) {
    std::array<int, 3> nearest{};
    bool divisible = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const int group = tofu_group[i];
      nearest[i] = std::max(group, (shape[i] + group / 2) / group * group);
      divisible = divisible && shape[i] % group == 0;
      lengths[i] = shape[i] / group;
      lengths[i + 3] = group;
    }
    if (!divisible) {
      throw core::InvalidArgument(fmt::format("{}: three lengths are the products A X, B Y, C Z, which 2, 3, 2 divide; "
                                              "the nearest is {}",
                                              given, detail::joined(nearest, "x")));
    }
  } else if (shape.size() == 6) {
    std::copy(shape.begin(), shape.end(), lengths.begin());
  } else {
    throw core::InvalidArgument(fmt::format("{}: {} lengths given, expected six (X, Y, Z, A, B, C) or three (the "
                                            "products A X, B Y, C Z, such as 4x6x18)",
                                            given, shape.size()));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (lengths[i] > fugaku[i] || lengths[i + 3] > tofu_group[i]) {
      const bool whole = shape.size() == 3;
      throw core::InvalidArgument(fmt::format(
          "{}: the machine has 24, 23, 24 nodes along X, Y, Z and 2, 3, 2 along A, B, C, so {} is at most {}; describe "
          "another machine in a file",
          given, whole ? tofu_products[i] : (lengths[i] > fugaku[i] ? tofu_xyz[i] : std::array{"A", "B", "C"}[i]),
          whole ? fugaku[i] * tofu_group[i] : (lengths[i] > fugaku[i] ? fugaku[i] : tofu_group[i])));
    }
  }
  return lengths;
}

Network torus_of(std::size_t axes, const std::string& name, std::span<const int> shape) {
  if (shape.size() != axes) {
    throw core::InvalidArgument(fmt::format("{} of shape {} given; expected {} lengths, such as {}", name,
                                            detail::joined(shape, "x"), axes,
                                            detail::joined(std::vector<int>(axes, 8), "x")));
  }
  Network n = torus(shape, tofu_links());
  n.name = name;
  return n;
}

}  // namespace

std::int64_t Network::nodes() const noexcept {
  std::int64_t product = 1;
  for (const Axis& axis : axes) product *= axis.length;
  return product;
}

std::string Network::shape() const {
  std::vector<int> lengths;
  for (const Axis& axis : axes) lengths.push_back(axis.length);
  return detail::joined(lengths, "x");
}

std::int64_t Network::node_of(std::span<const int> coords) const {
  if (coords.size() != axes.size()) {
    throw core::InvalidArgument(
        fmt::format("{} coordinates of a node given; network {} has {} axes", coords.size(), name, axes.size()));
  }
  std::int64_t node = 0, stride = 1;
  for (std::size_t t = 0; t < axes.size(); ++t) {
    if (coords[t] < 0 || coords[t] >= axes[t].length) {
      throw core::InvalidArgument(
          fmt::format("coordinate {} along {} given, expected 0 to {}", coords[t], axes[t].name, axes[t].length - 1));
    }
    node += stride * coords[t];
    stride *= axes[t].length;
  }
  return node;
}

std::vector<int> Network::coords_of(std::int64_t node) const {
  if (node < 0 || node >= nodes()) {
    throw core::InvalidArgument(
        fmt::format("node {} given; network {} of shape {} has nodes 0 to {}", node, name, shape(), nodes() - 1));
  }
  std::vector<int> coords;
  for (const Axis& axis : axes) {
    coords.push_back(static_cast<int>(node % axis.length));
    node /= axis.length;
  }
  return coords;
}

void Network::validate() const {
  if (axes.empty() || axes.size() > 16) {
    throw core::InvalidArgument(fmt::format("network {} has {} axes; a network has one to sixteen", name, axes.size()));
  }
  std::int64_t product = 1;
  for (const Axis& axis : axes) {
    if (axis.length < 1) {
      throw core::InvalidArgument(
          fmt::format("network {}: axis {} has {} nodes; give at least 1", name, axis.name, axis.length));
    }
    product *= axis.length;
    if (product > std::numeric_limits<std::int32_t>::max()) {
      throw core::InvalidArgument(fmt::format("network {} of shape {} has more than 2^31 - 1 nodes", name, shape()));
    }
    check_bandwidth(axis.bandwidth, fmt::format("network {}: a bandwidth of axis {}", name, axis.name));
    check_latency(axis.hop_latency, fmt::format("network {}: a hop latency of axis {}", name, axis.name));
  }
  if (full_bisection && axes.size() != 1) {
    throw core::InvalidArgument(
        fmt::format("network {} of full bisection has {} axes; give it one, of all its nodes", name, axes.size()));
  }
  if (interfaces < 1 || interfaces > 64) {
    throw core::InvalidArgument(fmt::format("network {} has {} interfaces a node; give 1 to 64", name, interfaces));
  }
  check_bandwidth(interface_bandwidth, fmt::format("network {}: an interface bandwidth", name));
  check_bandwidth(injection_bandwidth, fmt::format("network {}: an injection bandwidth", name));
  check_latency(latency, fmt::format("network {}: a latency", name));
  check_latency(reduction_latency, fmt::format("network {}: a reduction latency", name));
  check_latency(barrier_latency, fmt::format("network {}: a barrier latency", name));
}

Network tofu_d(std::span<const int> shape, std::span<const std::string> wraps) {
  const std::array<int, 6> lengths = tofu_lengths(shape);
  Network n = tofu_links();
  const Axis like = n.axes.front();
  n.axes.clear();
  for (std::size_t t = 0; t < 6; ++t) {
    Axis axis = like;
    axis.name = std::array{"X", "Y", "Z", "A", "B", "C"}[t];
    axis.length = lengths[t];
    axis.wraps = t < 3 ? axis.length == fugaku[t] : t == 4 && axis.length == tofu_group[1];
    n.axes.push_back(axis);
  }
  for (const std::string& wrap : wraps) {
    const auto found = std::find(tofu_xyz.begin(), tofu_xyz.end(), wrap);
    if (found == tofu_xyz.end()) {
      throw core::InvalidArgument(
          fmt::format("axis '{}' of tofu-d named as closed; name some of X, Y, Z (B is closed in any case, A and C "
                      "have two nodes)",
                      wrap));
    }
    n.axes[static_cast<std::size_t>(found - tofu_xyz.begin())].wraps = true;
  }
  n.validate();
  return n;
}

Network torus(std::span<const int> shape, const Network& like) {
  if (like.axes.empty()) {
    throw core::InvalidArgument("a network without axes given to take links from; its first axis gives the links");
  }
  constexpr std::array names{"X", "Y", "Z", "T", "U", "V"};
  Network n = like;
  n.name = fmt::format("torus-{}d", shape.size());
  n.axes.clear();
  for (std::size_t t = 0; t < shape.size(); ++t) {
    Axis axis = like.axes.front();
    axis.name = t < names.size() ? names[t] : fmt::format("W{}", t);
    axis.length = shape[t];
    axis.wraps = true;
    n.axes.push_back(axis);
  }
  n.validate();
  return n;
}

Network fat_tree(std::span<const int> shape) {
  Network n;
  n.name = "fat-tree";
  n.full_bisection = true;
  // Omni-Path: 100 Gbit/s for each port; a short message takes about 1 us end to end.
  n.axes = {{"N", 1, false, 12.5e9, 0}};
  n.latency = 1.0e-6;
  n.interfaces = 1;
  n.interface_bandwidth = n.injection_bandwidth = 12.5e9;
  n.reduction_latency = 2.0e-6;
  std::int64_t product = shape.empty() ? 0 : 1;
  for (const int s : shape) product = s < 1 || product > (1 << 30) ? -1 : product * s;
  if (product < 1 || product > std::numeric_limits<std::int32_t>::max()) {
    throw core::InvalidArgument(fmt::format("fat-tree of shape {} given; give its number of nodes, 1 to 2^31 - 1",
                                            shape.empty() ? "(none)" : detail::joined(shape, "x")));
  }
  n.axes.front().length = static_cast<int>(product);
  n.validate();
  return n;
}

std::vector<std::string> network_names() { return {"tofu-d", "torus-3d", "torus-4d", "torus-5d", "fat-tree"}; }

Network network_named(const std::string& name, std::span<const int> shape, std::span<const std::string> wraps) {
  const std::vector<std::string> names = network_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw core::InvalidArgument(fmt::format("network '{}' is not known; the nearest is '{}', all are {}", name,
                                            detail::nearest(name, names), fmt::join(names, ", ")));
  }
  if (name == "tofu-d") return tofu_d(shape, wraps);
  if (!wraps.empty()) {
    throw core::InvalidArgument(
        fmt::format("closed axes named for network {}; only tofu-d has axes that may be open", name));
  }
  if (name == "fat-tree") return fat_tree(shape);
  return torus_of(static_cast<std::size_t>(found - names.begin()) + 2, name, shape);
}

}  // namespace halocline::mapping
