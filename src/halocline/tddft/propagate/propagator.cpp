// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/propagator.hpp"

#include "halocline/comm/group/time_limit.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/propagate/detail/propagator_work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace halocline::tddft {
namespace {

using core::InvalidArgument;

}  // namespace

Propagator::Propagator(Model& model, State& state, Field field, const PropagateOptions& options,
                       std::optional<IonOptions> ions)
    : work_(std::make_unique<Work>(model, state, std::move(field), options, std::move(ions))) {}
Propagator::Propagator(Propagator&&) noexcept = default;
Propagator::~Propagator() = default;

double Propagator::step_limit() const noexcept { return work_->limit; }
double Propagator::time_step() const noexcept { return work_->dt; }
std::int64_t Propagator::steps_done() const noexcept { return work_->steps; }

void Propagator::kick() {
  Work& w = *work_;
  comm::on_every_rank(w.model.decomposition().world(), [&] {
    if (w.kicked || w.steps > 0)
      throw InvalidArgument(fmt::format("kick asked for at step {}, where it has been given already; a kick is given "
                                        "once, before the first step",
                                        w.steps));
  });
  w.kicked = true;
  w.state.earlier_potentials.clear();
  if (!w.field.has_kick()) return;
  if (w.ions && !w.field.spin_kick) w.ions->kick(w.field.kick);
  if (w.length_gauge()) {
    std::vector<Vec3> momenta(size(w.state.orbitals.channels()), w.field.kick);
    for (std::size_t channel = 0; channel < momenta.size(); ++channel)
      if (w.field.spin_kick && w.h().spin(static_cast<std::int64_t>(channel)) == 1)
        for (double& component : momenta[channel]) component = -component;
    boost(w.state.orbitals, w.model.decomposition(), momenta);
  }
  w.h().set_spin_potential(w.spin_potential());
  w.set_vector_potential(w.vector_potential(0));
  w.measure();
}

void Propagator::set_next_potential(const Vec3& a) {
  if (!work_->induced) throw InvalidArgument("a vector potential was given for a step, but the light is transverse");
  work_->induced->give(a);
}

void Propagator::give_current_to(CellCurrents* sum, std::int64_t cell) {
  if (sum != nullptr && (work_->options.scheme == "etrs" || work_->light || work_->ions))
    throw InvalidArgument(
        "the current of a step was to go into a sum over cells, but the step is of the scheme 'etrs', "
        "has light that depends on the place or atoms that move; take 'midpoint' or 'taylor4' and "
        "atoms at rest");
  work_->cell_currents = sum;
  work_->cell = cell;
}

void Propagator::hold_light() {
  if (work_->light) work_->state.light = work_->light->saved(work_->current_density);
}

std::span<const double> Propagator::current_density() const noexcept { return work_->current_density; }

std::span<const double> Propagator::local_potential() const noexcept {
  return work_->light ? work_->light->now() : std::span<const double>();
}

std::array<std::vector<Vec3>, 2> Propagator::light_profile() const {
  work_->check_local_light();
  return {work_->light->plane_means(work_->light->now()), work_->light->plane_means(work_->current_density)};
}

std::array<std::vector<double>, 2> Propagator::light_fields() const {
  work_->check_local_light();
  const auto whole = [&](std::span<const double> field) {
    std::vector<double> found;
    for (std::size_t first = 0; first < field.size(); first += field.size() / 3) {
      const std::vector<double> component =
          on_whole_grid(work_->model.decomposition(), field.subspan(first, field.size() / 3));
      found.insert(found.end(), component.begin(), component.end());
    }
    return found;
  };
  return {whole(work_->light->now()), whole(work_->current_density)};
}

const Model& Propagator::model() const noexcept { return work_->model; }

Vec3 Propagator::driving_current() const { return work_->driving_current(); }

Record Propagator::step() {
  Work& w = *work_;
  const comm::SolveUnderWay under_way(w.model.decomposition().world());
  if (!w.kicked) kick();
  if (w.induced) w.induced->begin_step(w.driving_current());
  if (w.light) {
    w.mean_potential_before = w.mean_potential;
    w.light->begin_step(w.time(), w.current_density);
  }
  w.move_ions_before();
  w.current_of_checkpoint.reset();
  if (w.options.scheme == "midpoint")
    w.midpoint_step();
  else if (w.options.scheme == "taylor4")
    w.whole_step(w.v);
  else
    w.etrs_step();
  ++w.steps;
  if (w.induced) w.induced->end_step();
  if (w.light) w.end_light();
  w.move_ions_after();
  const double lost = w.absorber ? 0 : w.first_norm - w.norm, won = w.norm - w.first_norm;
  if (!(std::max(lost, won) <= 0.01 * w.first_norm))
    throw core::Error(
        fmt::format("step {}: the orbitals hold {:.10g} electrons after {:.10g} at the start; the step of "
                    "{:.6g} a.u. is too long, take a shorter one",
                    w.steps, w.norm, w.first_norm, w.dt));
  return w.record(w.options.energy_every > 0 && w.steps % w.options.energy_every == 0);
}

Record Propagator::observe() {
  if (work_->ions) work_->ions->need_forces(work_->state);
  return work_->record(work_->options.energy_every > 0);
}

void Propagator::resume(std::int64_t steps_done, double first_norm, const IonRecord* atoms,
                        const InducedRecord* induced) {
  Work& w = *work_;
  comm::on_every_rank(w.model.decomposition().world(), [&] {
    if ((induced != nullptr) != w.induced.has_value())
      throw InvalidArgument(w.induced ? "the light answers the current, and resume was asked for without the induced "
                                        "field of its step"
                                      : "an induced field was given to resume, but the light does not answer");
  });
  comm::on_every_rank(w.model.decomposition().world(), [&] {
    if ((atoms != nullptr) != w.ions.has_value())
      throw InvalidArgument(w.ions ? "the atoms move, and resume was asked for without their positions and velocities"
                                   : "positions and velocities were given to resume, but the atoms do not move");
  });
  comm::on_every_rank(w.model.decomposition().world(), [&] {
    if (!(first_norm >= 0) || !std::isfinite(first_norm))
      throw InvalidArgument(fmt::format("{} electrons given as those of the first step, a positive number expected, or "
                                        "0 for those of now",
                                        first_norm));
    if (w.steps > 0 || steps_done < 0)
      throw InvalidArgument(fmt::format("resume at step {} asked for after {} steps here; resume at 0 or later, before "
                                        "the first step",
                                        steps_done, w.steps));
  });
  comm::on_every_rank(w.model.decomposition().world(), [&] {
    if (w.light && steps_done > 0 && w.state.light.empty())
      throw InvalidArgument(fmt::format("the light depends on the place, and resume at step {} was asked for with a "
                                        "state without it; take the checkpoint of such a run",
                                        steps_done));
  });
  w.steps = steps_done;
  w.kicked = true;
  if (w.options.scheme != "midpoint") w.state.earlier_potentials.clear();
  if (induced != nullptr && steps_done > 0) {
    w.induced->resume(*induced);
    w.current_of_checkpoint = induced->current;
  }
  w.h().set_spin_potential(w.spin_potential());
  w.set_vector_potential(w.vector_potential(w.time()));
  if (atoms != nullptr) w.ions->resume(atoms->positions, atoms->velocities);
  std::vector<double> current_there;
  if (w.light && steps_done > 0) {
    current_there = w.light->restore(w.time(), w.state.light);
    w.mean_potential = w.light->record().mean;
    w.light_set.reset();
  }
  w.measure();
  // The sums of a step add in another order than those of a measurement.
  if (!current_there.empty()) w.current_density = std::move(current_there);
  if (first_norm > 0) w.first_norm = first_norm;
}

}  // namespace halocline::tddft
