// SPDX-License-Identifier: Apache-2.0
#include "bench/device_dslash.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/actions.hpp"
#include "halocline/core/error.hpp"

namespace halocline::bench {
namespace {

void check_operator(const DeviceDslashCase& c) {
  device_storage(c.precision);
  if (c.action == "doublet")
    throw core::InvalidArgument("the twisted doublet does not run on a device; measure it on the CPU");
  action_of({.name = c.action, .ls = c.ls});
  if (c.form != "hopping" && c.form != "schur" && c.form != "schur-asymmetric")
    throw core::InvalidArgument(fmt::format(
        "the form is \"{}\"; of {} quarks on a device give hopping, schur or schur-asymmetric", c.form, c.action));
  if (is_staggered(c.action) && (c.precision == "fixed16" || c.precision == "fixed8"))
    throw core::InvalidArgument(
        fmt::format("{} quarks were asked for in {}; on a device give double or float", c.action, c.precision));
  if (has_walls(c.action) && (c.ls < 4 || c.ls > 64))
    throw core::InvalidArgument(fmt::format("Ls is {}; give 4 to 64", c.ls));
  if ((c.stage != "whole" && !(c.stage == "separate" && has_walls(c.action))) ||
      std::ranges::any_of(c.emulate, [](std::int64_t n) { return n != 1; }))
    throw core::InvalidArgument(
        "stages and emulated axes are measured of the Wilson hop; leave them out for Schur complements and other "
        "actions (but domain walls have the stage separate)");
}

void check(const DeviceDslashCase& c) {
  if (c.has_operator())
    check_operator(c);
  else
    device_cost(c.form, c.precision, 18, 1);  // throws for unknown names of forms and precisions
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
                       {"link_reals", std::int64_t(is_staggered(c.action) ? 18 : c.link_reals)},
                       {"columns", std::int64_t(c.columns)},
                       {"grid", std::vector<std::int64_t>(grid.begin(), grid.end())},
                       {"emulate", to_vector(c.emulate)},
                       {"policy", c.policy.empty() ? "default" : c.policy},
                       {"stage", c.stage},
                       {"graph", c.graph}};
  if (c.has_operator()) result.parameters.emplace_back("action", c.action);
  if (has_walls(c.action)) result.parameters.emplace_back("ls", std::int64_t{c.ls});
  measure_device_dslash(result, geometry, c, effort);
  return result;
}

}  // namespace halocline::bench
