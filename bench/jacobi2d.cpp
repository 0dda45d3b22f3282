// SPDX-License-Identifier: Apache-2.0
#include "bench/jacobi2d.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <memory>

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"

namespace halocline::bench {
namespace {

constexpr std::array regions{"packing", "posting", "interior", "waiting", "boundary", "send completion"};
/// The names of the regions as keys of a result.
constexpr std::array keys{"packing", "posting", "interior", "waiting", "boundary", "send_completion"};
using Times = std::array<double, regions.size()>;

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;  ///< limit for the buffers of one carrier, on each process
constexpr int checked_sweeps = 20;
/// Rounding of 5 operations a sweep on numbers up to 1 / m^2; the errors of all but the last few sweeps have decayed.
constexpr double tolerance = 1e-12;

void check(const Jacobi2dCase& c) {
  const auto [nx, ny] = c.problem.local;
  if (nx < 2 || ny < 2 || nx > 65536 || ny > 65536)
    throw core::InvalidArgument(fmt::format("the local lattice is {}x{}; give two extents from 2 to 65536", nx, ny));
  if (!(c.problem.mass_squared >= 0.05) || !(c.problem.mass_squared < 1e6))
    throw core::InvalidArgument(
        fmt::format("the squared mass is {}; give a number from 0.05 to 1e6", c.problem.mass_squared));
  const double longest = 16.0 * c.problem.inflation * static_cast<double>(std::max(nx, ny)) * sizeof(double);
  if (c.problem.inflation < 1 || longest > static_cast<double>(most_bytes))
    throw core::InvalidArgument(fmt::format(
        "messages are to be {} times as long as needed; give a factor from 1 to {}, so that the buffers of "
        "one exchange stay below {} MiB a process",
        c.problem.inflation, most_bytes / (16 * std::max(nx, ny) * static_cast<std::int64_t>(sizeof(double))),
        most_bytes >> 20));
}

/// The state of one carrier: its field, one sweep, and the number of sweeps since the last reset.
struct Runner {
  std::shared_ptr<JacobiField> field;
  std::shared_ptr<std::int64_t> sweeps;
  Work sweep;
};

Runner runner(const comm::ProcessGrid& grid, const JacobiProblem& problem, const Carrier& carrier,
              const std::vector<int>& interfaces) {
  comm::HaloOptions options = carrier.options();
  if (carrier.transport.find("utofu") != std::string::npos) options.transport.interfaces = interfaces;
  auto field = std::make_shared<JacobiField>(grid, problem);
  auto sweeps = std::make_shared<std::int64_t>(0);
  return with_exchange(grid, problem.face_bytes(), carrier, options, [&](auto exchange) {
    return Runner{field, sweeps, [field, sweeps, exchange] {
                    field->sweep(*exchange);
                    ++*sweeps;
                  }};
  });
}

/// Seconds a sweep in each region, the mean over processes. Keeps the report of rank 0.
Times time_regions(const comm::Communicator& group, const Runner& runner, int sweeps, std::string& report) {
  group.barrier();
  report = regions_of([&] {
    for (int i = 0; i < sweeps; ++i) runner.sweep();
  });
  Times times{};
  for (const auto& row : core::region_report().rows)
    for (std::size_t i = 0; i < regions.size(); ++i)
      if (row.path == regions[i]) times[i] = row.seconds / sweeps;
  group.sum(std::span<double>(times));
  for (double& time : times) time /= group.size();
  return times;
}

Times medians(const std::vector<Times>& blocks) {
  Times found{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<Sample> samples;
    for (const Times& times : blocks) samples.push_back({.wall = times[i]});
    found[i] = spread(samples).median;
  }
  return found;
}

/// Largest deviation from the reference on any process.
double verify(const comm::Communicator& group, const Runner& runner, const Carrier& carrier) {
  std::array<double, 2> error{runner.field->error(*runner.sweeps), 0.0};
  runner.field->reset();
  *runner.sweeps = 0;
  for (int i = 0; i < checked_sweeps; ++i) runner.sweep();
  error[1] = runner.field->error(checked_sweeps);
  group.max(error);
  const double worst = error[0] <= error[1] ? error[1] : error[0];
  if (!(worst <= tolerance))
    throw core::Error(fmt::format("jacobi2d: over transport {} with {} buffers x deviates by {:.2g} from the reference "
                                  "after the timed sweeps, and by {:.2g} after {} from the start",
                                  carrier.transport, carrier.buffers, error[0], error[1], checked_sweeps));
  return worst;
}

Result described(const Jacobi2dCase& c, const comm::ProcessGrid& grid, const Carrier& carrier) {
  Result result;
  result.bench = "jacobi2d";
  const auto bytes = c.problem.face_bytes();
  result.parameters = {{"local", std::vector<std::int64_t>(c.problem.local.begin(), c.problem.local.end())},
                       {"processes", std::int64_t(grid.size())},
                       {"threads", std::int64_t(1)},
                       {"precision", std::string("double")},
                       {"grid", std::vector<std::int64_t>(grid.dims().begin(), grid.dims().end())},
                       {"transport", carrier.transport},
                       {"buffers", std::int64_t(carrier.buffers)},
                       {"inflation", std::int64_t(c.problem.inflation)},
                       {"message_bytes", std::vector<std::int64_t>(bytes.begin(), bytes.end())},
                       {"touched", c.problem.touched}};
  return result;
}

}  // namespace

std::vector<Result> jacobi2d(const comm::Communicator& group, const Jacobi2dCase& c, const Effort& effort) {
  check(c);
  effort.validate();
  const Threads threads(1);
  std::vector<int> dims = c.grid;
  if (dims.empty()) {
    // Any factorisation works: every process holds `local`, for any grid.
    const std::array<std::int64_t, 2> extents{c.problem.local[0] * group.size(), c.problem.local[1] * group.size()};
    const std::array<std::int64_t, 2> any{1, 1};
    dims = comm::least_surface_grid(extents, group.size(), any);
  }
  if (dims.size() != 2)
    throw core::InvalidArgument(fmt::format("a process grid of {} axes was given; give two numbers", dims.size()));
  const comm::ProcessGrid grid(group, dims);

  std::vector<Result> results;
  std::vector<std::size_t> measured;
  std::vector<Runner> runners;
  const std::vector<Carrier> carriers = c.carriers.empty() ? all_carriers() : c.carriers;
  for (const Carrier& carrier : carriers) {
    results.push_back(described(c, grid, carrier));
    results.back().skipped = unavailable_reason(carrier, grid);
    if (!results.back().skipped.empty()) continue;
    measured.push_back(results.size() - 1);
    runners.push_back(runner(grid, c.problem, carrier, c.interfaces));
  }
  if (runners.empty()) return results;

  const double sites = static_cast<double>(c.problem.local[0] * c.problem.local[1]);
  const double bytes_of_one = jacobi_reals_per_site * sizeof(double) * sites;
  Effort shorter = effort;
  shorter.seconds = std::min(0.02, effort.seconds);
  const Ceilings ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(bytes_of_one), shorter);

  std::vector<Work> works;
  for (const Runner& one : runners) works.push_back(one.sweep);
  works.emplace_back(FmaChains<double>{});
  const std::vector<Spread> spreads = measure_in_turns(group, works, effort);
  const double fma_flops = 1e-9 * FmaChains<double>::flops(1) * group.size();

  // Blocks as long as the timed ones, again in turns.
  std::vector<std::vector<Times>> blocks(runners.size());
  std::vector<std::string> reports(runners.size());
  double spent = 0;
  for (int block = 0; block < 3 || (block < 31 && spent < 0.5 * effort.seconds); ++block)
    for (std::size_t i = 0; i < runners.size(); ++i) {
      const double each = spreads[i].median;
      const int sweeps = static_cast<int>(std::clamp(effort.block_seconds / each, 1.0, 1000.0));
      blocks[i].push_back(time_regions(group, runners[i], sweeps, reports[i]));
      spent += sweeps * each;
    }

  for (std::size_t i = 0; i < runners.size(); ++i) {
    Result& result = results[measured[i]];
    result.seconds = spreads[i];
    result.flops = jacobi_flops_per_site * sites * group.size();
    result.bytes = bytes_of_one * group.size();
    result.ceilings = ceilings;
    result.ceilings.fma_gflops = fma_flops / spreads.back().median;
    result.fma_gflops_of_cpu_time = fma_flops / spreads.back().cpu;
    result.regions = reports[i];
    const Times times = medians(blocks[i]);
    for (std::size_t region = 0; region < regions.size(); ++region)
      result.outcome.emplace_back(keys[region], times[region]);
    result.outcome.emplace_back("overlap", times[2]);
    result.outcome.emplace_back("non_overlap", times[1] + times[3]);
    // Each process sends its faces; the reading neighbour is another one unless the axis has one process.
    double sent = 0;
    for (int face = 0; face < 4; ++face) {
      const auto at = comm::Face::from_index(face);
      if (grid.neighbour(at) != grid.rank())
        sent += static_cast<double>(c.problem.face_bytes()[static_cast<std::size_t>(at.axis)]);
    }
    result.outcome.emplace_back("halo_bytes", sent);
    result.outcome.emplace_back("halo_gbytes_per_s", 1e-9 * sent * group.size() / spreads[i].median);
    result.outcome.emplace_back("error", verify(group, runners[i], carriers[measured[i]]));
  }
  return results;
}

}  // namespace halocline::bench
