// SPDX-License-Identifier: Apache-2.0
/// @file
/// The laws of the halo exchange on simulated ranks: every transport that needs no real processes, on one node and on
/// nodes of two ranks, in up to six dimensions.

#include "halo_laws.hpp"
#include "halocline/comm/detail/backend.hpp"
#include "halocline/comm/simulation.hpp"

#include <set>
#include <string>

using namespace halocline;

namespace {

/// Under the address sanitizer, which makes them five times as slow, a sample.
#if defined(__SANITIZE_ADDRESS__)
constexpr int step = 3;
#else
constexpr int step = 1;
#endif

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
  for (int ranks = 1; ranks <= 8; ranks += ranks < 4 ? step : 2 * step) {
    const auto names = laws_on(ranks, 0);
    CAPTURE(ranks);
    CHECK(names.contains("simulated"));
    CHECK(names.contains("shared_memory"));
  }
}

TEST_CASE("halo: the laws hold on simulated nodes of two ranks") {
  for (int ranks = 2; ranks <= 8; ranks += ranks < 4 ? step : 2 * step) {
    const auto names = laws_on(ranks, 2);
    CAPTURE(ranks);
    CHECK(names.contains("simulated"));
    CHECK(names.contains("hybrid"));
  }
}
