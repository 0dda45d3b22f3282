// SPDX-License-Identifier: Apache-2.0
#include "bench/fdtd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/maxwell/simulation/simulation.hpp"

namespace halocline::bench {
namespace of_maxwell {
namespace {

using namespace maxwell;  // in a namespace of its own, because tddft has other classes of these names

constexpr int steps_of_a_run = 24;
constexpr double flops_of_a_cell = 36, numbers_of_a_cell = 18;

Boundary ends_of(const std::string& name) {
  if (name == "electric") return Boundary::electric;
  if (name == "magnetic") return Boundary::magnetic;
  if (name == "periodic") return Boundary::periodic;
  if (name == "absorbing") return Boundary::absorbing;
  throw core::InvalidArgument(fmt::format("the ends are \"{}\"; give electric, magnetic, periodic or absorbing", name));
}

Matter matter_of(const std::string& name, const YeeGrid& grid) {
  Matter matter;
  if (name == "empty") return matter;
  Medium medium{2.25, 0, {}};
  if (name == "silver")
    medium = {1.17, 0, {{0, 0.01, 0.04}, {0.2, 0.04, 0.03}}};
  else if (name != "glass")
    throw core::InvalidArgument(fmt::format("the matter is \"{}\"; give empty, glass or silver", name));
  const double shortest = std::min({grid.length(0), grid.length(1), grid.length(2)});
  const double layers = grid.ends[0][0] == Boundary::absorbing ? 2.0 * grid.layer.cells : 0.0;
  const double radius = std::min(shortest / 4, (shortest - layers) / 2 - 1);
  if (radius <= 0)
    throw core::InvalidArgument(fmt::format("a ball of {} does not fit between layers; give more cells", name));
  matter.add(sphere({grid.length(0) / 2, grid.length(1) / 2, grid.length(2) / 2}, radius), medium);
  return matter;
}

template <class T>
Result fdtd_of(const comm::Communicator& group, const FdtdCase& c, const Effort& effort) {
  const Threads threads(c.threads);
  YeeGrid grid;
  grid.cells = c.cells;
  for (auto& of_axis : grid.ends) of_axis = {ends_of(c.ends), ends_of(c.ends)};
  grid.time_step = 0.95 * grid.courant_limit();
  grid.check();
  const bool periodic = grid.periodic(0);
  const comm::ProcessGrid processes(
      group, comm::least_surface_grid(grid.cells, group.size(), std::vector<std::int64_t>{1, 1, 1}),
      {periodic, periodic, periodic});
  SimulationOptions options;
  options.depth = c.depth;
  Simulation<T> simulation(grid, matter_of(c.matter, grid), processes, options);
  for (int component = 0; component < components; ++component)
    simulation.set_field(component, 0,
                         [&](const Vector3& r) { return std::sin(0.3 * r[0] + 0.2 * r[1] - 0.4 * r[2]); });

  Result result;
  result.bench = "fdtd";
  result.parameters = {{"cells", std::vector<std::int64_t>(c.cells.begin(), c.cells.end())},
                       {"ends", c.ends},
                       {"matter", c.matter},
                       {"precision", c.precision},
                       {"depth", std::int64_t(simulation.part().depth())},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)}};
  const double cells =
      static_cast<double>(c.cells[0]) * static_cast<double>(c.cells[1]) * static_cast<double>(c.cells[2]);
  result.flops = flops_of_a_cell * cells;
  result.bytes = numbers_of_a_cell * sizeof(T) * cells;
  const Work work = [&] { simulation.run(steps_of_a_run); };
  work();  // first use of its memory
  result.ceilings =
      bandwidth_ceilings(group, static_cast<std::int64_t>(components * sizeof(T) * cells) / group.size(), effort);
  const auto times = measure_together(group, work, FmaChains<T>{}, effort);
  result.seconds = times.work;
  for (double* seconds :
       {&result.seconds.median, &result.seconds.minimum, &result.seconds.maximum, &result.seconds.cpu})
    *seconds /= steps_of_a_run;
  const double fma_flops = 1e-9 * FmaChains<T>::flops(c.threads) * group.size();
  result.ceilings.fma_gflops = fma_flops / times.companion.median;
  result.fma_gflops_of_cpu_time = fma_flops / times.companion.cpu;
  result.regions = regions_of(work);
  result.outcome = {{"cells_a_second", cells / result.seconds.median}};
  return result;
}

}  // namespace
}  // namespace of_maxwell

Result fdtd(const comm::Communicator& group, const FdtdCase& c, const Effort& effort) {
  if (c.precision == "float") return of_maxwell::fdtd_of<float>(group, c, effort);
  if (c.precision == "double") return of_maxwell::fdtd_of<double>(group, c, effort);
  throw core::InvalidArgument(fmt::format("the precision is \"{}\"; give float or double", c.precision));
}

}  // namespace halocline::bench
