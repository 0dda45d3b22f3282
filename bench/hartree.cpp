// SPDX-License-Identifier: Apache-2.0
#include "bench/hartree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/hartree/coulomb_kernel.hpp"
#include "halocline/tddft/hartree/hartree.hpp"

namespace halocline::bench {
namespace {

using tddft::HartreeShare;

constexpr double spacing = 0.5;  ///< [bohr]; does not affect the time

tddft::System system_of(const comm::Communicator& group, const HartreeCase& c) {
  const bool by_orbitals = c.over == "orbitals";
  if (!by_orbitals && c.over != "space")
    throw core::InvalidArgument(fmt::format("processes over \"{}\" were asked for; give orbitals or space", c.over));
  if (c.boundary != "periodic" && c.boundary != "isolated")
    throw core::InvalidArgument(fmt::format("the boundary is \"{}\"; give periodic or isolated", c.boundary));
  if (std::ranges::any_of(c.points, [](std::int64_t n) { return n < 5; }))
    throw core::InvalidArgument(
        fmt::format("{} points were asked for; give at least 5 along each axis", fmt::join(c.points, " x ")));
  tddft::System system;
  system.grid = {c.points,
                 {spacing, spacing, spacing},
                 c.boundary == "periodic" ? tddft::Boundary::periodic : tddft::Boundary::isolated};
  system.states = by_orbitals ? tddft::orbital_lanes * group.size() : tddft::orbital_lanes;
  system.electrons = 2.0 * system.states;
  return system;
}

/// Operations of one potential.
double operations(const tddft::Grid& grid) {
  const auto lengths = tddft::transform_lengths(grid);
  const auto line = [&](std::size_t axis) {
    const auto n = static_cast<double>(lengths[axis]);
    return 5 * n * std::log2(n);
  };
  const auto count = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a * b); };
  const std::int64_t kx = lengths[0] / 2 + 1;
  const double transforms = count(grid.extent[1], grid.extent[2]) * line(0) / 2 + count(kx, grid.extent[2]) * line(1) +
                            count(kx, lengths[1]) * line(2);
  return 2 * transforms + 2 * count(kx, lengths[1]) * static_cast<double>(lengths[2]);
}

const char* name_of(HartreeShare share) { return share == HartreeShare::shared ? "shared" : "redundant"; }

}  // namespace

std::vector<Result> hartree(const comm::Communicator& group, const HartreeCase& c, const Effort& effort) {
  const Threads threads(c.threads);
  const tddft::System system = system_of(group, c);
  const tddft::ProcessCounts counts =
      c.over == "orbitals" ? tddft::ProcessCounts{1, group.size(), {1, 1, 1}} : choose_counts(group.size(), system);
  const tddft::Decomposition decomposition(group, system, counts);

  const std::array ways{HartreeShare::redundant, HartreeShare::shared, HartreeShare::automatic};
  const std::array<std::string, 3> names{"redundant", "shared", "automatic"};
  const auto points = static_cast<std::size_t>(decomposition.box().points());
  const std::vector<double> density(points, 0.25);
  std::vector<double> potential(points);
  std::vector<std::unique_ptr<tddft::Hartree>> solvers;
  std::vector<Work> solving;
  for (const HartreeShare way : ways) {
    solvers.push_back(std::make_unique<tddft::Hartree>(decomposition, way));
    solving.emplace_back([&potential, &density, solver = solvers.back().get()] { solver->solve(potential, density); });
    solving.back()();  // first use of its memory
  }
  const auto choice = solvers.back()->share();

  // On a busy machine a block slows the one after it. `shared`, which waits most, comes last, and the peak between it
  // and the others.
  const std::array<Work, 4> works{solving[2], solving[0], solving[1], FmaChains<double>{}};
  const std::vector<Spread> measured = measure_in_turns(group, works, effort);
  const std::array times{measured[1], measured[2], measured[0], measured[3]};
  const double better = std::min(times[0].median, times[1].median);
  Result result;
  result.bench = "hartree";
  const auto processes = static_cast<double>(group.size());
  result.bytes = 2 * sizeof(double) * static_cast<double>(points) * processes;
  result.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(2 * sizeof(double) * points), effort);
  const double fma_flops = 1e-9 * FmaChains<double>::flops(c.threads) * processes;
  result.ceilings.fma_gflops = fma_flops / times[3].median;
  result.fma_gflops_of_cpu_time = fma_flops / times[3].cpu;

  std::vector<Result> results;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const bool shared = solvers[i]->share() == HartreeShare::shared;
    const double groups = shared ? 1 : decomposition.box_mates().size();
    result.seconds = times[i];
    result.flops = operations(system.grid) * groups;
    result.regions = regions_of(solving[i]);
    result.parameters = {{"points", std::vector<std::int64_t>(c.points.begin(), c.points.end())},
                         {"boundary", c.boundary},
                         {"over", c.over},
                         {"way", names[i]},
                         {"processes", std::int64_t(group.size())},
                         {"threads", std::int64_t(c.threads)}};
    result.outcome = {{"chosen", std::string(name_of(choice))},
                      {"trial_redundant", solvers.back()->seconds_redundant()},
                      {"trial_shared", solvers.back()->seconds_shared()},
                      {"over_better", times[i].median / better}};
    results.push_back(result);
  }
  return results;
}

}  // namespace halocline::bench
