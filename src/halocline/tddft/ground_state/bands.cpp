// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ground_state/bands.hpp"

#include "halocline/comm/group/time_limit.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ground_state/eigensolver.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace halocline::tddft {

BandsFound solve_bands(Model& model, State& state, const ElectronFields& fields, int bands, const ScfOptions& options,
                       const std::function<bool(double)>& progress, const Vec3& a) {
  core::Region region("tddft/bands");
  const System& system = model.system();
  const comm::Communicator& world = model.decomposition().world();
  comm::on_every_rank(world, [&] {
    if (bands < 1 || bands > system.states)
      throw core::InvalidArgument(
          fmt::format("{} bands asked for; from 1 to {} expected, the states of the system", bands, system.states));
    if (fields.density.size() != state.density.size())
      throw core::InvalidArgument(fmt::format("a density of {} numbers given for a state of {}; take that of the same "
                                              "grid, spins and division over space",
                                              fields.density.size(), state.density.size()));
  });
  const comm::SolveUnderWay under_way(world);
  std::vector<double> potential(model.potential_numbers(!fields.velocity.empty()));
  model.effective_potential(potential, fields);
  model.hamiltonian().set_potential(potential);
  model.hamiltonian().set_vector_potential(a);
  // The eigensolver converges what holds electrons.
  const auto states = size(system.states);
  for (std::size_t i = 0; i < state.occupations.size(); ++i)
    state.occupations[i] = i % states < size(bands) ? system.full() : 0.0;
  Eigensolver eigensolver(model, {options.eigensolver, options.filter_degree, options.seed, options.dense});
  eigensolver.start(state);
  BandsFound found;
  for (found.passes = 1; found.passes <= options.max_iterations; ++found.passes) {
    if (!eigensolver.improve(state, 1)) break;
    found.residual = 0;
    const std::vector<double>& residuals = eigensolver.residuals();
    for (std::size_t i = 0; i < residuals.size(); ++i)
      if (i % states < size(bands)) found.residual = std::max(found.residual, residuals[i]);
    found.converged = found.residual <= options.eigen_tolerance;
    const bool go_on = !progress || progress(found.residual);
    if (found.converged || !world.all(go_on)) break;
  }
  eigensolver.finish(state);
  return found;
}

}  // namespace halocline::tddft
