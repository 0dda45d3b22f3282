// SPDX-License-Identifier: Apache-2.0
/// @file
/// mapping: the search for the best rank map, and maps of given rings.
#include "halocline/mapping/ring.hpp"
#include "halocline/mapping/search.hpp"

#include "mapping.hpp"

namespace halocline::bindings {

void bind_mapping_search(nb::module_& m) {
  using namespace mapping;
  nb::class_<Piece>(m, "Piece", "A whole axis of a network, or one of two factors of its length.")
      .def(
          "__init__",
          [](Piece* self, int axis, int length, bool wraps, int stride) {
            new (self) Piece{axis, length, wraps, stride};
          },
          "axis"_a, "length"_a, "wraps"_a, "stride"_a = 1)
      .def_ro("axis", &Piece::axis)
      .def_ro("length", &Piece::length)
      .def_ro("wraps", &Piece::wraps)
      .def_ro("stride", &Piece::stride, "Hops of one step.")
      .def("name", &Piece::name, "network"_a, "'Z', 'Z%3' (fast) or 'Z/3' (slow).");
  nb::class_<Ring>(m, "Ring", "The nodes that one process axis runs through.")
      .def(
          "__init__",
          [](Ring* self, std::vector<Piece> pieces, std::vector<std::vector<int>> steps) {
            new (self) Ring{std::move(pieces), std::move(steps)};
          },
          "pieces"_a, "steps"_a)
      .def_ro("pieces", &Ring::pieces, "Empty: the axis lies inside a node.")
      .def_ro("steps", &Ring::steps, "Shape (nodes along the axis, pieces): coordinates along the ring.");
  nb::class_<SearchResult>(m, "SearchResult", "The best map that a search found, and what was proven about it.")
      .def_ro("map", &SearchResult::map)
      .def_ro("rings", &SearchResult::rings, "Shape (process axes,).")
      .def_ro("loads", &SearchResult::loads)
      .def_ro("lower_bound", &SearchResult::lower_bound, "No map of this kind has a smaller busiest interface.")
      .def_ro("gap", &SearchResult::gap, "(busiest interface - lower bound) / lower bound.")
      .def_ro("proven", &SearchResult::proven, "No map of this kind is better in any respect.")
      .def_ro("floor", &SearchResult::floor, "What follows from the messages of a node alone, each at one hop.")
      .def_ro("steps", &SearchResult::steps, "Partial and complete assignments looked at.")
      .def_ro("visited", &SearchResult::visited, "Complete ones.");
  m.def(
      "search",
      [](const Network& network, const std::vector<int>& grid, const std::vector<int>& per_node,
         const Messages& messages, const std::string& count, std::int64_t steps,
         std::function<bool(std::int64_t, Bytes)> progress) {
        const SearchOptions options{count_of(count), steps, std::move(progress)};
        nb::gil_scoped_release unlocked;
        return search(network, grid, per_node, messages, options);
      },
      "network"_a, "grid"_a, "per_node"_a, "messages"_a, "count"_a = "hops", "steps"_a = 0, "progress"_a = nb::none());
  m.def("piece_named", &piece_named, "network"_a, "name"_a);
  m.def(
      "required_ring",
      [](const Network& network, const std::vector<Piece>& pieces, int nodes) {
        return required_ring(network, pieces, nodes);
      },
      "network"_a, "pieces"_a, "nodes"_a);
  m.def("map_of_rings", &map_of_rings, "network"_a, "grid"_a, "per_node"_a, "rings"_a);
}

}  // namespace halocline::bindings
