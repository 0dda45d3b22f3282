// SPDX-License-Identifier: Apache-2.0
#include "bench/device_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <span>
#include <vector>

#include "bench/device_dslash.hpp"
#include "bench/device_operator.hpp"
#include "bench/solver.hpp"
#include "halocline/core/error.hpp"

namespace halocline::bench {
namespace {

/// The hop of the same action and precision alone.
DeviceDslashCase alone(const DeviceSolverCase& c, int link_reals, const lattice::Geometry4& geometry) {
  DeviceDslashCase hop;
  hop.device = c.device;
  hop.local = geometry.local();
  hop.precision = c.inner;
  hop.form = c.action.name == "wilson" && c.action.csw != 0 ? "hopping-clover" : "hopping";
  hop.link_reals = link_reals;
  hop.columns = c.columns;
  hop.policy = c.policy;
  hop.action = c.action.name;
  hop.ls = c.action.ls;
  return hop;
}

/// Cost of one application of the operator in the iteration, for all columns, on this process.
DeviceCost applied(const DeviceSolverCase& c, int link_reals, const lattice::Geometry4& geometry) {
  if (c.action.name != "wilson") {
    DeviceDslashCase schur = alone(c, link_reals, geometry);
    schur.form = has_walls(c.action.name) ? "schur-asymmetric" : "schur";
    DeviceCost cost = device_operator_cost(schur);
    for (double* number : {&cost.flops, &cost.bytes, &cost.bytes_with_reuse})
      *number *= static_cast<double>(geometry.local_volume()) / 2;
    return cost;
  }
  const std::string form = c.action.csw != 0 ? "hopping-clover" : "hopping";
  const DeviceStorage storage = device_storage(c.inner);
  const double spinor = c.columns * (spinor_reals * storage.number + storage.scale);
  DeviceCost cost = device_cost(form, c.inner, link_reals, c.columns);
  // Even-odd: two hops for each site of one parity. Otherwise: one hop for each site of both parities. The diagonal:
  // 48.
  const double sites = static_cast<double>(geometry.local_volume()) * (c.even_odd ? 0.5 : 1.0);
  const double hops = c.even_odd ? 2 : 1;
  cost.flops = sites * (hops * cost.flops + 48.0 * c.columns);
  cost.bytes = sites * (hops * cost.bytes + spinor);
  cost.bytes_with_reuse = sites * (hops * cost.bytes_with_reuse + spinor);
  return cost;
}

}  // namespace

DeviceResult device_solver(const qcd::GaugeField& gauge, const DeviceSolverCase& c, const Effort& effort) {
  if (c.runs < 1) throw core::InvalidArgument(fmt::format("{} runs were asked for; give at least 1", c.runs));
  if (c.columns < 1 || c.columns > 32)
    throw core::InvalidArgument(fmt::format("{} columns were asked for; give 1 to 32", c.columns));
  if (c.device == "cpu") throw core::InvalidArgument("a solve on a device was asked for, and the device is \"cpu\"");
  device_storage(c.inner);  // throws for an unknown precision
  const auto& geometry = gauge.geometry();
  const auto& group = geometry.communicator();
  if (c.action.name != "wilson" && !c.even_odd)
    throw core::InvalidArgument(fmt::format(
        "a solve of {} quarks without even-odd preconditioning was to be measured; that is for wilson", c.action.name));
  const bool whole_links = c.inner == "double" || is_staggered(c.action.name);  // fat links are not unitary
  const int link_reals = whole_links && (c.link_reals == 0 || is_staggered(c.action.name)) ? 18
                         : c.link_reals == 0                                               ? 12
                                                                                           : c.link_reals;

  qcd::SolverParameters parameters;
  parameters.kind = c.kind;
  parameters.tolerance = c.tolerance;
  parameters.even_odd = c.even_odd;
  parameters.precision = c.inner == "double" ? "double" : "mixed";
  parameters.inner_precision = c.inner == "double" ? "auto" : c.inner;
  parameters.rhs_batch = c.columns;
  parameters.device = c.device;
  parameters.device_links = link_reals;
  parameters.device_halo = c.policy;

  DeviceResult result;
  result.bench = "solver";
  result.measured = "device";
  result.parameters = {{"device", c.device},
                       {"gauge", c.gauge},
                       {"local", to_vector(geometry.local())},
                       {"processes", std::int64_t(group.size())},
                       {"solver", c.kind},
                       {"inner", c.inner},
                       {"link_reals", std::int64_t(link_reals)},
                       {"columns", std::int64_t(c.columns)},
                       {"even_odd", c.even_odd},
                       {"policy", c.policy.empty() ? "default" : c.policy},
                       {"tolerance", c.tolerance},
                       {"mass", c.action.mass}};
  if (c.action.name == "wilson" || c.action.name == "twisted") result.parameters.emplace_back("csw", c.action.csw);
  if (c.action.name != "wilson") result.parameters.emplace_back("action", c.action.name);
  if (has_walls(c.action.name)) result.parameters.emplace_back("ls", std::int64_t{c.action.ls});

  // Measures the hop alone, and with it the copy bandwidth.
  const DeviceResult hop = device_dslash(group, alone(c, link_reals, geometry), effort);
  result.skipped = hop.skipped;
  result.host_executor = hop.host_executor;
  if (!result.skipped.empty()) return result;
  result.parameters.push_back(hop.parameters.back());
  result.copy_gbytes_per_s = hop.copy_gbytes_per_s;
  result.copy_bytes = hop.copy_bytes;
  const double hop_gflops = 1e-9 * hop.flops / hop.seconds.median;

  const qcd::Action action = action_of(c.action);
  std::optional<qcd::QuarkSolver> quark(std::in_place, gauge, action, parameters);
  const auto size = static_cast<std::size_t>(geometry.local_volume() * qcd::components(action));
  std::vector<std::vector<std::complex<double>>> sources(static_cast<std::size_t>(c.columns));
  for (std::size_t column = 0; column < sources.size(); ++column) {
    sources[column].resize(size);
    if (geometry.offset() == Extents{}) sources[column][column % size] = 1;
  }
  auto solutions = sources;
  const std::vector<std::span<const std::complex<double>>> given(sources.begin(), sources.end());
  const std::vector<std::span<std::complex<double>>> wanted(solutions.begin(), solutions.end());
  std::vector<qcd::SolveReport> reports;
  const Work solve = [&] { reports = quark->solve(wanted, given); };
  solve();  // tunes launches, creates vectors and graphs
  std::vector<Sample> times;
  for (int run = 0; run < c.runs; ++run) times.push_back(time_block(group, solve));
  result.seconds = spread(times);
  count_energy(result.seconds, group, solve);
  const auto solved = reports;
  const auto predicted = static_cast<double>(quark->predicted_bytes());
  result.memory_bytes = static_cast<double>(quark->backend()->memory().most_ours);
  parameters.tolerance = 0.9;  // reached by an iteration or two: what is left is around them
  quark.reset();               // its memory is wanted again
  quark.emplace(gauge, action, parameters);
  solve();
  std::vector<Sample> short_times;
  for (int run = 0; run < c.runs; ++run) short_times.push_back(time_block(group, solve));
  const double around = spread(short_times).median;
  reports = solved;

  std::int64_t most = 0;
  const qcd::SolveReport* worst = &reports[0];
  for (const auto& report : reports) {
    most = std::max(most, std::int64_t{report.iterations});
    if (!report.converged || report.residual > worst->residual) worst = &report;
  }
  // Columns iterate together until the last has converged.
  const DeviceCost cost = applied(c, link_reals, geometry);
  const double times_applied =
      static_cast<double>(most) * applications(reports[0].method, is_staggered(c.action.name)) * group.size();
  result.flops = times_applied * cost.flops;
  result.bytes = times_applied * cost.bytes;
  result.bytes_with_reuse = times_applied * cost.bytes_with_reuse;
  result.outcome = {{"converged", std::ranges::all_of(reports, &qcd::SolveReport::converged)},
                    {"reason", worst->reason},
                    {"method", worst->method},
                    {"iterations", most},
                    {"reliable_updates", std::int64_t{reports[0].reliable_updates}},
                    {"residual", worst->residual},
                    {"seconds_a_column", result.seconds.median / c.columns},
                    {"seconds_around", around},
                    {"predicted_bytes", predicted},
                    {"hop_gflops", hop_gflops},
                    {"fraction_of_hop", 1e-9 * result.flops / result.seconds.median / hop_gflops}};
  return result;
}

}  // namespace halocline::bench
