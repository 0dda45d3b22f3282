// SPDX-License-Identifier: Apache-2.0
/// @file
/// The laws of the halo exchange on simulated ranks: every transport that needs no real processes, on one node and on
/// nodes of two ranks, in up to six dimensions.

#include "halo_laws.hpp"
#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/simulation/simulation.hpp"
#include "sampled.hpp"

#include <set>
#include <string>
#include <vector>

using namespace halocline;

namespace {

/// Numbers of ranks.
const auto on_one_node = test::sampled<std::vector<int>>({1, 2, 3, 4, 6, 8}, {1, 3});
const auto on_nodes_of_two = test::sampled<std::vector<int>>({2, 3, 4, 6, 8}, {3});

/// Runs all laws in every usable way. @return names of the transports that were there
std::set<std::string> laws_on(int ranks, int ranks_per_node) {
  std::set<std::string> names;
  const auto report = comm::simulate(ranks,
                                     {.seed = static_cast<std::uint64_t>(100 * ranks + ranks_per_node),
                                      .ranks_per_node = ranks_per_node,
                                      .pause_probability = 0.01},
                                     [&](const comm::Communicator& group) {
                                       for (halo_laws::Way& way : halo_laws::usable_ways(group)) {
                                         names.insert(way.name);
                                         way.most_axes = 6;
                                         way.pause = [&group] { group.backend().idle(); };
                                         halo_laws::all_laws(group, way);
                                       }
                                     });
  CHECK(report.messages > 0);
  return names;
}

}  // namespace

TEST_CASE("halo: the laws hold on simulated ranks of one node") {
  for (const int ranks : on_one_node) {
    const auto names = laws_on(ranks, 0);
    CAPTURE(ranks);
    CHECK(names.contains("simulated"));
    CHECK(names.contains("shared_memory"));
  }
}

TEST_CASE("halo: the laws hold on simulated nodes of two ranks") {
  for (const int ranks : on_nodes_of_two) {
    const auto names = laws_on(ranks, 2);
    CAPTURE(ranks);
    CHECK(names.contains("simulated"));
    CHECK(names.contains("hybrid"));
  }
}
