// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks the options and puts the ranks together.

#include "halocline/comm/simulation/simulation.hpp"

#include "halocline/comm/simulation/simulated_group.hpp"
#include "halocline/comm/simulation/simulator.hpp"
#include "halocline/core/error.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace halocline::comm {
namespace {

void check(bool fine, const char* option, const std::string& given, const char* expected) {
  if (fine) return;
  throw core::InvalidArgument(std::string("simulation: ") + option + " " + given + " given, expected " + expected);
}

void check_options(int ranks, const SimulationOptions& o) {
  const auto number = [](auto value) { return std::to_string(value); };
  check(ranks >= 1, "ranks", number(ranks), "at least 1");
  check(o.ranks_per_node >= 0, "ranks_per_node", number(o.ranks_per_node), "0 or more");
  struct Time {
    const char* name;
    double value;
  };
  for (const Time t : {Time{"latency", o.latency}, Time{"jitter", o.jitter}, Time{"pause", o.pause},
                       Time{"stalled_after", o.stalled_after}, Time{"dead_after", o.dead_after}}) {
    check(std::isfinite(t.value) && t.value >= 0.0, t.name, number(t.value), "a time of 0 s or more");
  }
  check(std::isfinite(o.bytes_per_second) && o.bytes_per_second > 0.0, "bytes_per_second", number(o.bytes_per_second),
        "more than 0");
  check(o.piece_bytes >= 1, "piece_bytes", number(o.piece_bytes), "at least 1");
  check(o.pause_probability >= 0.0 && o.pause_probability <= 1.0, "pause_probability", number(o.pause_probability),
        "0 to 1");
  check(o.damage_probability >= 0.0 && o.damage_probability <= 1.0, "damage_probability", number(o.damage_probability),
        "0 to 1");
  check(o.stalled_rank >= -1 && o.stalled_rank < ranks, "stalled_rank", number(o.stalled_rank), "a rank, or -1");
  check(o.dead_rank >= -1 && o.dead_rank < ranks, "dead_rank", number(o.dead_rank), "a rank, or -1");
}

}  // namespace

SimulationReport simulate(int ranks, const SimulationOptions& options,
                          const std::function<void(const Communicator&)>& program) {
  check_options(ranks, options);
  const auto simulator = std::make_shared<detail::Simulator>(ranks, options);
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  const auto world = std::make_shared<detail::SimulatedGroup>(simulator, std::move(members));
  simulator->run([&](int rank) { program(Communicator(std::make_shared<detail::SimulatedBackend>(world, rank))); });
  return simulator->report;
}

}  // namespace halocline::comm
