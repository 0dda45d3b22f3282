// SPDX-License-Identifier: Apache-2.0
/// @file
/// mapping: networks, messages, rank maps and their loads. Plain values in, plain values out.
#include "mapping.hpp"

#include "halocline/core/error.hpp"
#include "halocline/mapping/messages.hpp"
#include "halocline/mapping/network.hpp"
#include "halocline/mapping/rank_map.hpp"

namespace halocline::bindings {

mapping::Count count_of(const std::string& name) {
  if (name == "hops") return mapping::Count::hops;
  if (name == "injected") return mapping::Count::injected;
  throw core::InvalidArgument("count '" + name + "' given, expected hops or injected");
}

namespace {

using namespace mapping;
using Nodes = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

RankMap make_map(std::vector<int> grid, std::vector<int> per_node, const Nodes& node) {
  return {std::move(grid), std::move(per_node), {node.data(), node.data() + node.size()}};
}

void bind_network(nb::module_& m) {
  nb::class_<Axis>(m, "Axis", "One axis of a network.")
      .def(
          "__init__",
          [](Axis* self, std::string name, int length, bool wraps, double bandwidth, double hop_latency) {
            new (self) Axis{std::move(name), length, wraps, bandwidth, hop_latency};
          },
          "name"_a, "length"_a, "wraps"_a, "bandwidth"_a, "hop_latency"_a = 0.0)
      .def_ro("name", &Axis::name)
      .def_ro("length", &Axis::length, "Nodes along it.")
      .def_ro("wraps", &Axis::wraps, "The last node has a link to the first.")
      .def_ro("bandwidth", &Axis::bandwidth, "Of a link in one direction [bytes/s].")
      .def_ro("hop_latency", &Axis::hop_latency, "What a hop adds to a message [s].");
  nb::class_<Network>(m, "Network", "Nodes on a grid, with links between neighbours and interfaces in every node.")
      .def(
          "__init__",
          [](Network* self, std::string name, std::vector<Axis> axes, int interfaces, double interface_bandwidth,
             double injection_bandwidth, double latency, double reduction_latency, double barrier_latency,
             int barrier_elements, bool full_bisection) {
            Network made{std::move(name), std::move(axes),   interfaces,      interface_bandwidth, injection_bandwidth,
                         latency,         reduction_latency, barrier_latency, barrier_elements,    full_bisection};
            made.validate();
            new (self) Network(std::move(made));
          },
          "name"_a, "axes"_a, "interfaces"_a, "interface_bandwidth"_a, "injection_bandwidth"_a, "latency"_a = 0.0,
          "reduction_latency"_a = 0.0, "barrier_latency"_a = 0.0, "barrier_elements"_a = 0, "full_bisection"_a = false,
          "Raises InvalidArgument for what no machine can have.")
      .def_ro("name", &Network::name)
      .def_ro("axes", &Network::axes, "The first runs fastest in the number of a node.")
      .def_ro("interfaces", &Network::interfaces, "Of a node.")
      .def_ro("interface_bandwidth", &Network::interface_bandwidth, "[bytes/s]")
      .def_ro("injection_bandwidth", &Network::injection_bandwidth, "Of a node over all its interfaces [bytes/s].")
      .def_ro("latency", &Network::latency, "Of a small message to a neighbour, without the hop [s].")
      .def_ro("reduction_latency", &Network::reduction_latency, "Of a step of a software reduction [s].")
      .def_ro("barrier_latency", &Network::barrier_latency, "Of a step of a hardware reduction [s]; 0: has none.")
      .def_ro("barrier_elements", &Network::barrier_elements, "Numbers that a hardware reduction sums at once.")
      .def_ro("full_bisection", &Network::full_bisection, "A fat tree: its links never limit.")
      .def_prop_ro("nodes", &Network::nodes, "How many.");
  m.def("network_names", &network_names, "Names that network_named knows.");
  m.def(
      "network_named",
      [](const std::string& name, const std::vector<int>& shape, const std::vector<std::string>& wraps) {
        return network_named(name, shape, wraps);
      },
      "name"_a, "shape"_a, "wraps"_a = std::vector<std::string>());
}

void bind_messages(nb::module_& m) {
  nb::class_<Messages>(m, "Messages", "What one halo exchange sends over each face of a process.")
      .def(
          "__init__",
          [](Messages* self, std::string name, std::vector<Bytes> bytes, std::vector<int> directions) {
            new (self) Messages{std::move(name), std::move(bytes), std::move(directions)};
          },
          "name"_a, "bytes"_a, "directions"_a)
      .def_ro("name", &Messages::name)
      .def_ro("bytes", &Messages::bytes, "Of one face of one process along each axis.")
      .def_ro("directions", &Messages::directions, "2 where + and - travel at once, 1 where one at a time.");
  m.def(
      "qcd_domain_solver",
      [](const std::vector<int>& local, int bytes_per_real) { return qcd_domain_solver(local, bytes_per_real); },
      "local"_a, "bytes_per_real"_a = 4);
  m.def(
      "wilson_operator",
      [](const std::vector<int>& local, int bytes_per_real) { return wilson_operator(local, bytes_per_real); },
      "local"_a, "bytes_per_real"_a = 4);
  m.def(
      "electron_halo",
      [](const std::vector<int>& local, int orbitals, int depth, int bytes_per_real) {
        return electron_halo(local, orbitals, depth, bytes_per_real);
      },
      "local"_a, "orbitals"_a, "depth"_a = 4, "bytes_per_real"_a = 8);
}

void bind_map(nb::module_& m) {
  nb::class_<RankMap>(m, "RankMap", "Which node every process of a grid sits on; ranks run with axis 0 fastest.")
      .def(
          "__init__",
          [](RankMap* self, std::vector<int> grid, std::vector<int> per_node, const Nodes& node) {
            new (self) RankMap(make_map(std::move(grid), std::move(per_node), node));
          },
          "grid"_a, "per_node"_a, "node"_a)
      .def_ro("grid", &RankMap::grid, "Processes along each axis.")
      .def_ro("per_node", &RankMap::per_node, "Processes of one node along each axis.")
      .def_prop_ro(
          "node", [](const RankMap& map) { return to_numpy(std::vector<std::int64_t>(map.node), {map.node.size()}); },
          nb::rv_policy::move, "Shape (ranks,): the node of every rank, as the network numbers them; a copy.")
      .def_prop_ro("ranks", &RankMap::ranks, "How many.")
      .def_prop_ro("ranks_per_node", &RankMap::ranks_per_node);
  m.def("natural_order", &natural_order, "network"_a, "grid"_a, "per_node"_a);
  m.def("check", &check, "map"_a, "network"_a);
}

void bind_loads(nb::module_& m) {
  nb::class_<SendItem>(m, "SendItem", "What one interface of a node must own whole.")
      .def_ro("axis", &SendItem::axis, "Of the network; of the process grid for a loop-back and behind a fat tree.")
      .def_ro("direction", &SendItem::direction, "+1 or -1.")
      .def_ro("loopback", &SendItem::loopback, "Goes to a process of the same node.")
      .def_ro("bytes", &SendItem::bytes, "Counted as asked.");
  m.def(
      "face_items", &mapping::face_items, "network"_a, "map"_a, "place"_a,
      "The item of each face of the process at a place of the grid: lower side of axis 0, upper side, and so on; None "
      "for an axis of one process.");
  nb::class_<NodeType>(m, "NodeType", "The items of one kind of node, and which interface owns each.")
      .def_ro("items", &NodeType::items)
      .def_ro("owner", &NodeType::owner, "Shape (items,): the interface.")
      .def_ro("interface", &NodeType::interface, "Shape (interfaces,): bytes, largest first.")
      .def_ro("nodes", &NodeType::nodes, "How many are of this kind.")
      .def_ro("example", &NodeType::example, "The first of them.");
  nb::class_<Loads>(m, "Loads", "What links and interfaces carry in one exchange.")
      .def_ro("axis_bytes", &Loads::axis_bytes, "Shape (network axes,): of the busiest link of each axis.")
      .def_ro("busiest_link", &Loads::busiest_link, "[bytes]")
      .def_ro("link_bytes", &Loads::link_bytes, "Of the busiest link of each direction of each axis, summed.")
      .def_ro("hops", &Loads::hops, "Of all messages together.")
      .def_ro("longest_route", &Loads::longest_route, "Most hops of one message.")
      .def_ro("busiest_interface", &Loads::busiest_interface, "[bytes]")
      .def_ro("interface_bytes", &Loads::interface_bytes, "Of the busiest kind of node, largest first.")
      .def_ro("node_types", &Loads::node_types, "Busiest first.")
      .def_prop_ro(
          "node_type",
          [](const Loads& l) { return to_numpy(std::vector<std::int32_t>(l.node_type), {l.node_type.size()}); },
          nb::rv_policy::move, "Shape (nodes,): index into node_types, -1 for an unused node.")
      .def_ro("unused_nodes", &Loads::unused_nodes);
  m.def(
      "evaluate",
      [](const Network& network, const RankMap& map, const Messages& messages, const std::string& count) {
        const Count how = count_of(count);
        nb::gil_scoped_release unlocked;
        return evaluate(network, map, messages, how);
      },
      "network"_a, "map"_a, "messages"_a, "count"_a = "hops");
  m.def(
      "link_loads",
      [](const Network& network, const RankMap& map, const Messages& messages) {
        std::vector<Bytes> bytes;
        {
          const nb::gil_scoped_release unlocked;
          bytes = link_loads(network, map, messages);
        }
        return to_numpy(std::move(bytes), {static_cast<std::size_t>(network.nodes()), network.axes.size(), 2});
      },
      "network"_a, "map"_a, "messages"_a);
}

}  // namespace

void bind_mapping(nb::module_& m) {
  bind_network(m);
  bind_messages(m);
  bind_map(m);
  bind_loads(m);
}

}  // namespace halocline::bindings
