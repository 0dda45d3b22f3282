// SPDX-License-Identifier: Apache-2.0
#include "bench/device_dslash.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halocline/core/error.hpp"

namespace halocline::bench {
namespace {

void check(const DeviceDslashCase& c) {
  // device_cost() throws for unknown names of forms and precisions.
  device_cost(c.form, c.precision, 18, 1);
  if (c.link_reals != 18 && c.link_reals != 12 && c.link_reals != 8)
    throw core::InvalidArgument(fmt::format("links of {} reals were asked for; give 18, 12 or 8", c.link_reals));
  if (c.columns < 1 || c.columns > 32)
    throw core::InvalidArgument(fmt::format("{} columns were asked for; give 1 to 32", c.columns));
  if (std::ranges::any_of(c.emulate, [](std::int64_t n) { return n < 1; }))
    throw core::InvalidArgument(
        fmt::format("the process grid {} was to be emulated; give positive numbers", fmt::join(c.emulate, "x")));
  const auto& stages = device_stages();
  if (std::ranges::find(stages, c.stage) == stages.end())
    throw core::InvalidArgument(fmt::format("the stage is \"{}\"; give one of {}", c.stage, fmt::join(stages, ", ")));
}

}  // namespace

const std::vector<std::string>& device_stages() {
  static const std::vector<std::string> stages{"whole", "no-halo", "halo", "messages", "separate", "split-sites"};
  return stages;
}

DeviceResult device_dslash(const comm::Communicator& group, const DeviceDslashCase& c, const Effort& effort) {
  check(c);
  DeviceResult result;
  result.bench = "dslash";
  result.measured = "device";
  const auto geometry = geometry_of(group, c.local);
  const auto& grid = geometry->grid().dims();
  result.parameters = {{"device", c.device},
                       {"local", to_vector(c.local)},
                       {"processes", std::int64_t(group.size())},
                       {"precision", c.precision},
                       {"form", c.form},
                       {"link_reals", std::int64_t(c.link_reals)},
                       {"columns", std::int64_t(c.columns)},
                       {"grid", std::vector<std::int64_t>(grid.begin(), grid.end())},
                       {"emulate", to_vector(c.emulate)},
                       {"policy", c.policy.empty() ? "default" : c.policy},
                       {"stage", c.stage},
                       {"graph", c.graph}};
  measure_device_dslash(result, geometry, c, effort);
  return result;
}

}  // namespace halocline::bench
