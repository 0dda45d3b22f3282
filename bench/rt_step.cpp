// SPDX-License-Identifier: Apache-2.0
#include "bench/rt_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"

namespace halocline::bench {
namespace {

using tddft::orbital_lanes;

constexpr double lattice_constant = 10.26;          ///< [bohr]
constexpr double reference_size = 4.0 * (1 << 20);  ///< points times orbitals of both cases

/// Silicon with `cells` cubic cells along each axis, of 16^3 points each.
tddft::System silicon(int cells, int k) {
  tddft::System system;
  const std::int64_t n = 16 * cells;
  const double h = lattice_constant / 16;
  system.grid = {{n, n, n}, {h, h, h}, tddft::Boundary::periodic};
  system.species = {tddft::goedecker("Si")};
  constexpr std::array<std::array<int, 3>, 8> quarters{
      {{0, 0, 0}, {0, 2, 2}, {2, 0, 2}, {2, 2, 0}, {1, 1, 1}, {1, 3, 3}, {3, 1, 3}, {3, 3, 1}}};
  for (int z = 0; z < cells; ++z)
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x)
        for (const auto& quarter : quarters) {
          const std::array cell{x, y, z};
          tddft::Vec3 position;
          for (std::size_t a = 0; a < 3; ++a) position[a] = lattice_constant * (cell[a] + 0.25 * quarter[a]);
          system.atoms.push_back({0, position});
        }
  system.channels = tddft::monkhorst_pack(system.grid, {k, k, k});
  system.electrons = 4.0 * static_cast<double>(system.atoms.size());
  system.states = static_cast<int>(system.electrons) / 2;
  return system;
}

tddft::System system_of(const RtStepCase& c) {
  if (c.other) return *c.other;
  const std::string& name = c.system;
  if (name == "silicon-8") return silicon(1, 4);
  if (name == "silicon-64") return silicon(2, 1);
  throw core::InvalidArgument(fmt::format("the system is \"{}\"; give silicon-8 or silicon-64", name));
}

tddft::ProcessCounts counts_of(const RtStepCase& c, const tddft::System& system, int ranks) {
  if (c.over == "auto") return choose_counts(ranks, system);
  if (c.over == "k") return {ranks, 1, {1, 1, 1}};
  if (c.over == "orbitals") return {1, ranks, {1, 1, 1}};
  if (c.over != "space")
    throw core::InvalidArgument(
        fmt::format("processes over \"{}\" were asked for; give auto, k, orbitals or space", c.over));
  tddft::System grid_alone = system;  // with one channel and one block only space can be divided
  grid_alone.channels.resize(1);
  grid_alone.states = orbital_lanes;
  return choose_counts(ranks, grid_alone);
}

/// Integer wave vectors of the plane waves of lowest energy.
std::vector<std::array<int, 3>> lowest_waves(int count) {
  int reach = 5;
  while (std::pow(2 * reach + 1, 3) < 4.0 * count) ++reach;  // those within a ball, for certain
  std::vector<std::array<int, 3>> waves;
  for (int z = -reach; z <= reach; ++z)
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x) waves.push_back({x, y, z});
  std::ranges::stable_sort(waves, {}, [](const auto& m) { return m[0] * m[0] + m[1] * m[1] + m[2] * m[2]; });
  waves.resize(static_cast<std::size_t>(count));
  return waves;
}

void fill_orbitals(tddft::State& state, const tddft::Model& model) {
  const auto& grid = model.system().grid;
  const auto& box = model.decomposition().box();
  const auto waves = lowest_waves(model.system().states);
  const double amplitude = 1 / std::sqrt(grid.volume());
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel)
    for (std::int64_t block = 0; block < state.orbitals.blocks(); ++block)
      for (int lane = 0; lane < orbital_lanes; ++lane) {
        const int number = model.state_number(block, lane);
        if (number < 0) continue;
        const auto& m = waves[static_cast<std::size_t>(number)];
        double* psi = state.orbitals.block(channel, block) + 2 * lane;
        for (std::int64_t z = 0; z < box.extent[2]; ++z)
          for (std::int64_t y = 0; y < box.extent[1]; ++y)
            for (std::int64_t x = 0; x < box.extent[0]; ++x, psi += tddft::doubles_per_point) {
              const std::array r{x, y, z};
              double turns = 0;
              for (std::size_t a = 0; a < 3; ++a)
                turns += static_cast<double>(m[a] * (box.offset[a] + r[a])) / static_cast<double>(grid.extent[a]);
              psi[0] = amplitude * std::cos(2 * std::numbers::pi * turns);
              psi[1] = amplitude * std::sin(2 * std::numbers::pi * turns);
            }
      }
  std::ranges::fill(state.occupations, model.system().full());
  model.sum_density(state);
}

tddft::Field light_of(const RtStepCase& c, const tddft::System& system) {
  tddft::Field field;
  if (c.light == "kick") {
    field.kick = {0, 0, 0.01};
    if (system.grid.boundary == tddft::Boundary::isolated) field.gauge = tddft::Gauge::length;
    return field;
  }
  if (c.light != "uniform" && c.light != "travelling")
    throw core::InvalidArgument(fmt::format("the light is \"{}\"; give kick, uniform or travelling", c.light));
  // So long that it acts in any number of steps.
  field.pulses = {{.amplitude = 0.001, .frequency = 0.06, .duration = 1e6, .centre = 0, .direction = {1, 0, 0}}};
  if (c.light == "travelling") field.way = tddft::Way{};
  return field;
}

Spread divided(Spread spread, int by) {
  spread.median /= by;
  spread.minimum /= by;
  spread.maximum /= by;
  spread.cpu /= by;
  return spread;
}

}  // namespace

Result rt_step(const comm::Communicator& group, const RtStepCase& c, const Effort& effort) {
  const Threads threads(c.threads);
  if (c.energy_every < 0)
    throw core::InvalidArgument(fmt::format("energies every {} steps were asked for; give 0 or more", c.energy_every));
  if (c.ions_every < 0 || (c.ions_every > 0 && c.energy_every % c.ions_every != 0))
    throw core::InvalidArgument(
        fmt::format("energies every {} steps and atoms that move every {} were asked for; an ion step has energies at "
                    "its end alone, so give a multiple",
                    c.energy_every, c.ions_every));
  const tddft::System system = system_of(c);
  const tddft::ProcessCounts counts = counts_of(c, system, group.size());
  tddft::ModelOptions how;
  how.xc = c.xc;
  how.odd_allowed = true;
  tddft::Model model(system, group, counts, how);
  tddft::State state = model.empty_state();
  fill_orbitals(state, model);
  const tddft::Field field = light_of(c, system);
  tddft::PropagateOptions options;
  options.scheme = c.scheme;
  options.energy_every = c.energy_every;
  options.precision = c.precision;
  std::optional<tddft::IonOptions> ions;
  if (c.ions_every > 0) {
    // Slow and heavy, so that they stay where they are but for some 1e-6 bohr: plane waves push them hard.
    ions = {std::vector<double>(system.atoms.size(), 1e9),
            std::vector<tddft::Vec3>(system.atoms.size(), tddft::Vec3{1e-6, 2e-6, 0}), c.ions_every};
  }
  tddft::Propagator propagator(model, state, field, options, ions);
  if (field.has_kick()) propagator.kick();

  Result result;
  result.bench = "rt-step";
  const double size =
      static_cast<double>(system.grid.points()) * system.states * static_cast<double>(system.channels.size());
  result.parameters = {{"system", c.system},
                       {"over", c.over},
                       {"division", counts.text()},
                       {"scheme", c.scheme},
                       {"precision", c.precision},
                       {"light", c.light},
                       {"energy_every", std::int64_t(c.energy_every)},
                       {"ions_every", std::int64_t(c.ions_every)},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)}};
  const bool in_float = c.precision == "float";
  const int applications = c.scheme == "etrs" ? 12 : 4;  // etrs: one half step as prediction, and two half steps
  result.flops = 158 * applications * size;
  result.bytes = 2 * (in_float ? 8 : 16) * size;
  result.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(result.bytes) / group.size(), effort);

  const int steps = std::max({1, c.energy_every, c.ions_every});
  const Work work = [&] {
    for (int i = 0; i < steps; ++i) propagator.step();
  };
  Effort few = effort;
  few.minimum_runs = std::min(effort.minimum_runs, 3);
  const auto times = in_float ? measure_together(group, work, FmaChains<float>{}, few)
                              : measure_together(group, work, FmaChains<double>{}, few);
  result.seconds = divided(times.work, steps);
  const double of_threads = in_float ? FmaChains<float>::flops(c.threads) : FmaChains<double>::flops(c.threads);
  const double fma_flops = 1e-9 * of_threads * group.size();
  result.ceilings.fma_gflops = fma_flops / times.companion.median;
  result.fma_gflops_of_cpu_time = fma_flops / times.companion.cpu;
  result.regions = regions_of([&] {
    for (int i = 0; i < std::max(1, c.ions_every); ++i) propagator.step();
  });
  result.outcome = {{"points", static_cast<double>(system.grid.points())},
                    {"point_orbitals", size},
                    {"seconds_for_4m", result.seconds.median * reference_size / size},
                    {"time_step", propagator.time_step()}};
  return result;
}

}  // namespace halocline::bench
