// SPDX-License-Identifier: Apache-2.0
/// @file
/// The order of one step: set the fields of the step in H; apply the exponential block by block, and sum density and
/// current while the block is in the cache; sum the density over the processes of the same box; set its potential in H
/// for the next step.
///
/// The density of this process is complete before the current of its last blocks. So the sum over processes begins
/// there, and is under way while the current is computed.
///
/// Where the atoms arrive at the end of an ion step, the current waits until they are there. One sweep over the
/// orbitals then gives the current and the orbitals' part in the forces.

#include "halocline/comm/sums/solver_reduction.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/base/symmetry.hpp"
#include "halocline/tddft/propagate/detail/middle_potential.hpp"
#include "halocline/tddft/propagate/detail/propagator_work.hpp"
#include "halocline/tddft/propagate/detail/run_checks.hpp"
#include "halocline/tddft/propagate/detail/spectral_ends.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

namespace halocline::tddft {
namespace {

using core::InvalidArgument;

/// |1 + z + z^2/2 + z^3/6 + z^4/24| <= 1 on the imaginary axis up to this |z|.
constexpr double taylor4_limit = 2 * std::numbers::sqrt2;
constexpr std::size_t numbers_of_a_step = 18;  ///< observables, see sum_up()
/// For |H dt/2| above this, single terms of the series are a thousand times their sum.
constexpr double series_limit = 8;

/// The smallest order whose next term, x^(order + 1) / (order + 1)!, is below the tolerance.
int order_for(double x, double tolerance) {
  if (tolerance <= 0) return 4;
  double term = x;
  int order = 0;
  while (order < 4 || term >= tolerance) {
    ++order;
    term *= x / (order + 1);
  }
  return order;
}

}  // namespace

Propagator::Work::Work(Model& given_model, State& given_state, Field given_field, const PropagateOptions& given_options,
                       std::optional<IonOptions> given_ions)
    : model(given_model),
      state(given_state),
      field(std::move(given_field)),
      options(given_options),
      current(model, options.angular_momentum),
      sums_of_a_step(comm::solver_reduction(model.decomposition().world(), numbers_of_a_step)) {
  comm::on_every_rank(model.decomposition().world(),
                      [&] { detail::check_run(model, field, options, given_ions.has_value()); });
  if (options.precision == "float") {
    held.emplace(state.orbitals, Precision::float32);
    exponential.emplace<2>(model, state);
  } else {
    exponential.emplace<1>(model, state);
  }
  if (given_ions) ions.emplace(model, *std::move(given_ions));
  const auto points = size(model.decomposition().box().points());
  v.resize(model.potential_numbers(true));
  if (model.has_kinetic()) kinetic.emplace(model.decomposition(), model.system());
  if (model.decomposition().box_mates().size() > 1)
    density_sum.emplace(model.decomposition().box_mates(), size(model.system().spins) * points);
  channel_density.resize(points);
  channel_electrons.resize(size(state.orbitals.channels()));
  h().set_spin_potential({});
  set_vector_potential(vector_potential(0));
  measure();
  first_norm = norm;

  const double largest = detail::largest_eigenvalue(model, field);
  const bool etrs = options.scheme == "etrs";
  limit = taylor4_limit / largest;
  dt = options.time_step > 0 ? options.time_step : 0.9 * limit;
  if (etrs) limit = options.exponential_tolerance > 0 ? 2 * series_limit / largest : 2 * limit;
  comm::on_every_rank(model.decomposition().world(), [&] {
    if (dt > limit)
      throw InvalidArgument(fmt::format("time step {:.6g} a.u. given, at most {:.6g} expected: beyond it '{}' is "
                                        "unstable for this spacing (largest energy {:.4g} hartree); take a shorter "
                                        "step, or 0 for {:.6g}",
                                        dt, limit, options.scheme, largest, 0.9 * taylor4_limit / largest));
  });
  if (field.response.geometry != Response::Geometry::transverse) induced.emplace(field.response, dt);
  if (field.way) {
    light.emplace(model, field, dt);
    measure();
  }
  if (options.absorber.width > 0) absorber.emplace(options.absorber, model.decomposition(), dt);
  order = etrs ? order_for(0.5 * dt * largest, options.exponential_tolerance) : 4;
  if (etrs) half = state.orbitals;
}

/// A at the beginning of the present step, t = time(), or at its end.
Vec3 Propagator::Work::vector_potential(double t) const {
  if (length_gauge()) return {};
  Vec3 a = field.smooth_potential(t);
  for (std::size_t axis = 0; axis < 3; ++axis) a[axis] += kicked && !field.spin_kick ? field.kick[axis] : 0.0;
  if (!induced) return a;
  const Vec3& own = t > time() + 0.5 * dt ? induced->next() : induced->now();
  for (std::size_t axis = 0; axis < 3; ++axis) a[axis] = induced->transmission() * a[axis] + own[axis];
  return a;
}

/// E between steps, with the induced field.
Vec3 Propagator::Work::electric_field() const {
  Vec3 e = field.electric_field(time());
  if (!induced) return e;
  const Vec3 own = induced->field(driving_current());
  for (std::size_t axis = 0; axis < 3; ++axis) e[axis] = induced->transmission() * e[axis] + own[axis];
  return e;
}

/// The particle current density of the electrons with that of the ions, which have the opposite charge.
Vec3 Propagator::Work::driving_current() const {
  if (current_of_checkpoint) return *current_of_checkpoint;
  Vec3 j = mean_current;
  if (!ions) return j;
  const Vec3 of_ions = ions->charge_flow();
  for (std::size_t axis = 0; axis < 3; ++axis) j[axis] -= of_ions[axis] / model.system().grid.volume();
  return j;
}

void Propagator::Work::set_vector_potential(const Vec3& a) {
  if (h().local() || h().vector_potential() != a) h().set_vector_potential(a);
}

/// Sets A(r) of a moment of the present step in H, and nothing if it is there.
void Propagator::Work::set_light(Moment moment) {
  if (light_set == moment) return;
  if (moment == Moment::middle) {
    std::vector<double> mean(light->now().begin(), light->now().end());
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = 0.5 * (mean[i] + light->next()[i]);
    h().set_local_potential(mean);
  } else {
    h().set_local_potential(moment == Moment::beginning ? light->now() : light->next());
  }
  light_set = moment;
}

/// The current density of the orbitals in the present A(r), without the term of A, and what that of the projectors
/// follows from.
void Propagator::Work::sum_local_current() {
  const core::Region region("tddft/current density");
  const std::size_t points = channel_density.size(), atoms = model.system().atoms.size();
  orbital_current.assign(3 * size(model.system().spins) * points, 0.0);
  phase_moments.assign(size(model.system().spins) * atoms, PhaseMoments{});
  std::get<1>(exponential)
      .visit(state.orbitals,
             [&](std::int64_t channel, double* psi, std::int64_t blocks, std::span<const double> weights, bool) {
               const std::size_t spin = size(h().spin(channel));
               const bool projectors = !h().nonlocal().empty();
               if (projectors) h().nonlocal().begin(channel, psi, blocks);
               for (std::int64_t block = 0; block < blocks; ++block) {
                 h().stencil().add_current_density(std::span(orbital_current).subspan(3 * spin * points, 3 * points),
                                                   psi + block * static_cast<std::int64_t>(points) * doubles_per_point,
                                                   weights.subspan(size(block * orbital_lanes)).first<orbital_lanes>(),
                                                   h().momentum(channel));
                 if (density_sum) density_sum->advance();
               }
               if (projectors)
                 h().nonlocal().add_phase_moments(weights, std::span(phase_moments).subspan(spin * atoms, atoms));
             });
  current_summed = true;
}

/// The whole current density, with the density at the same time.
void Propagator::Work::finish_local_current() {
  const core::Region region("tddft/current density");
  const std::size_t points = channel_density.size(), atoms = model.system().atoms.size();
  model.decomposition().box_mates().sum(orbital_current);
  if (!h().nonlocal().empty()) {
    model.decomposition().world().sum(
        std::span(reinterpret_cast<double*>(phase_moments.data()), 9 * phase_moments.size()));
    for (std::size_t spin = 0; spin < size(model.system().spins); ++spin)
      h().nonlocal().add_current_density(std::span(orbital_current).subspan(3 * spin * points, 3 * points),
                                         std::span<const PhaseMoments>(phase_moments).subspan(spin * atoms, atoms));
  }
  current_density.assign(3 * points, 0.0);
  const std::span<const double> a = light_set == Moment::end ? light->next() : light->now();
  Vec3 of_spin{};
  for (std::size_t spin = 0; spin < size(model.system().spins); ++spin)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double sign = spin == 0 ? 1.0 : -1.0;
      const double* of_orbitals = orbital_current.data() + (3 * spin + axis) * points;
      for (std::size_t i = 0; i < points; ++i) {
        const double j = of_orbitals[i] + a[axis * points + i] * state.density[spin * points + i];
        current_density[axis * points + i] += j;
        of_spin[axis] += sign * j;
      }
    }
  spin_current_sum = of_spin;
}

void Propagator::Work::check_local_light() const {
  if (!light)
    throw InvalidArgument("fields of light that depends on the place were asked for, and the light is the same "
                          "everywhere; give it a way");
}

/// The step is done.
void Propagator::Work::end_light() {
  light->end_step();
  if (light_set == Moment::end)
    light_set = Moment::beginning;
  else
    light_set.reset();
}

/// That of a spin kick which has been given.
Vec3 Propagator::Work::spin_potential() const {
  return !length_gauge() && field.spin_kick && kicked ? field.kick : Vec3{};
}

void Propagator::Work::set_potential(std::span<const double> potential, const Vec3& e) {
  if (!length_gauge() || e == Vec3{}) return h().set_potential(potential);
  const Grid& grid = model.system().grid;
  const Box& box = model.decomposition().box();
  driven.assign(potential.begin(), potential.end());
  for (std::size_t spin = 0; spin < size(model.system().spins); ++spin) {
    double* out = driven.data() + spin * channel_density.size();
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y)
        for (std::int64_t x = 0; x < box.extent[0]; ++x)
          *out++ += e[0] * grid.position(0, box.offset[0] + x) + e[1] * grid.position(1, box.offset[1] + y) +
                    e[2] * grid.position(2, box.offset[2] + z);
  }
  h().set_potential(driven);
}

/// Adds the density of a finished channel to that of its spin, unless that was done before the current of its last
/// blocks.
void Propagator::Work::sum_channel(std::int64_t channel) {
  if (density_begun) return;
  core::Region region("tddft/density");
  double* total = state.density.data() + size(h().spin(channel)) * channel_density.size();
  double sum = 0;
  for (std::size_t i = 0; i < channel_density.size(); ++i) {
    sum += channel_density[i];
    total[i] += channel_density[i];
  }
  std::fill(channel_density.begin(), channel_density.end(), 0.0);
  channel_electrons[size(channel)] = sum * model.system().grid.point_volume();
}

/// Begins the sum over processes. The density of this process is complete.
void Propagator::Work::begin_density() {
  core::Region region("tddft/density");
  density_begun = true;
  if (density_sum) density_sum->begin(state.density);
}

/// For work beside which the density is summed.
std::function<void()> Propagator::Work::while_waiting() {
  if (!density_sum) return {};
  return [this] { density_sum->advance(); };
}

/// Calls action(exponential) with that of the orbitals' precision.
template <class Action>
void Propagator::Work::with_exponential(Action&& action) {
  if (auto* in_float = std::get_if<2>(&exponential))
    action(*in_float);
  else
    action(std::get<1>(exponential));
}

void Propagator::Work::exponentiate(double step, int terms, bool with_current) {
  with_exponential([&](auto& series) { exponentiate(series, step, terms, with_current); });
}

/// Propagates all orbitals by `step` (0: not at all) to the end of a time step, where the absorber acts, and sums their
/// density and, if requested, their current. Leaves the sum of the density over processes under way.
template <class T>
void Propagator::Work::exponentiate(detail::Exponential<T>& series, double step, int terms, bool with_current) {
  std::fill(state.density.begin(), state.density.end(), 0.0);
  std::fill(channel_electrons.begin(), channel_electrons.end(), 0.0);
  density_begun = false;
  current.clear();
  if (kinetic) kinetic->clear();
  current_summed = with_current;
  const auto after = [&](std::int64_t channel, T* psi, std::int64_t blocks, std::span<const double> weights,
                         bool last) {
    if (absorber && step != 0) absorber->apply(psi, blocks);
    {
      core::Region region("tddft/density");
      for (std::int64_t b = 0; b < blocks; ++b)
        add_density(channel_density, psi + b * state.orbitals.block_numbers<T>(),
                    weights.subspan(size(b * lanes_of<T>), lanes_of<T>));
    }
    if constexpr (std::is_same_v<T, double>)
      if (kinetic) kinetic->add(h(), psi, blocks, weights);
    if (last) {
      sum_channel(channel);
      begin_density();
    }
    if (with_current) current.add(channel, psi, blocks, weights, while_waiting());
  };
  const auto after_channel = [&](std::int64_t channel) {
    sum_channel(channel);
    // Of k alone: a uniform vector potential drops out.
    const auto global = size(model.decomposition().channels().begin + channel);
    if (kinetic) kinetic->finish_channel(h().spin(channel), model.system().channels[global].k);
  };
  if (step != 0)
    series.apply(state.orbitals, step, terms, after, after_channel);
  else
    series.visit(state.orbitals, after, after_channel);
  if (!density_begun) begin_density();  // a process without occupied orbitals
}

void Propagator::Work::finish_density() {
  {
    core::Region region("tddft/density");
    if (density_sum) density_sum->wait(state.density);
    if (cell_currents != nullptr) cell_currents->advance();
    model.symmetrise_density(state);
  }
  if (kinetic) kinetic->finish(state.kinetic, true);
  if (ions_arrived) return model.solve_electrons_potential(state);
  model.effective_potential(v, state);
  if (cell_currents != nullptr) cell_currents->advance();
  h().set_potential(v);
}

/// Completes the current for A at the end of the step. If the step used another A, the current is summed now; if atoms
/// arrive, they do so now, and the current is summed with the orbitals' part in the forces.
void Propagator::Work::finish_current(const Vec3& a) {
  if (light) return sum_local_current();
  set_vector_potential(a);
  if (!current_summed && ions_arrive()) {
    ions->to_end(dt * ions->every());
    ions_arrived = true;
    orbital_forces = tddft::orbital_forces(model, state,
                                           [this](std::int64_t channel, const double* psi,
                                                  std::span<const double> gradient, std::span<const double> weights) {
                                             current.add_known(channel, psi, gradient, weights);
                                             if (density_sum) density_sum->advance();
                                           });
  } else if (!current_summed)
    with_exponential([&](auto& series) {
      series.visit(state.orbitals,
                   [&](std::int64_t channel, auto* psi, std::int64_t blocks, std::span<const double> weights, bool) {
                     current.add(channel, psi, blocks, weights, while_waiting());
                   });
    });
  current_summed = true;
  for (std::size_t channel = 0; channel < channel_electrons.size(); ++channel)
    current.add_drift(static_cast<std::int64_t>(channel), channel_electrons[channel]);
}

/// Gives this process's part of the current density to the sum over many propagations.
void Propagator::Work::put_current() {
  if (cell_currents == nullptr) return;
  Vec3 part = symmetrised(current.part(), model.system().symmetries);
  for (double& component : part) component /= model.system().grid.volume();
  cell_currents->put(cell, part);
}

/// Sums the observables of a step over all processes in one reduction. Processes with the same box hold the same
/// density; one of them contributes it.
void Propagator::Work::sum_up() {
  core::Region region("tddft/sums of a step");
  const Decomposition& decomposition = model.decomposition();
  Vec3 j = current.part();
  Vec3 of_spin_here = current.spin_part();
  const Vec3& l = current.turning_part();
  if (light) {
    finish_local_current();
    // Processes with the same box hold the same current density.
    const std::size_t points = channel_density.size();
    const double volume = decomposition.box_mates().rank() == 0 ? decomposition.grid().point_volume() : 0.0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      j[axis] = 0;
      for (std::size_t i = 0; i < points; ++i) j[axis] += current_density[axis * points + i];
      j[axis] *= volume;
      of_spin_here[axis] = spin_current_sum[axis] * volume;
    }
  }
  std::array<double, numbers_of_a_step> sums{j[0], j[1], j[2]};
  if (decomposition.box_mates().rank() == 0) {
    const Moments here = moments(decomposition, state.density);
    sums = {j[0],           j[1],           j[2],        here.electrons,      here.dipole[0],      here.dipole[1],
            here.dipole[2], density_change, here.moment, here.spin_dipole[0], here.spin_dipole[1], here.spin_dipole[2]};
  }
  std::ranges::copy(l, sums.begin() + 12);
  std::ranges::copy(of_spin_here, sums.begin() + 15);
  sums_of_a_step.sum(std::span<double>(sums));
  const Vec3 total = symmetrised({sums[0], sums[1], sums[2]}, model.system().symmetries);
  std::ranges::copy(total, sums.begin());
  const Vec3 of_spin = symmetrised({sums[15], sums[16], sums[17]}, model.system().symmetries);
  const double two = model.system().spins == 2 ? 1.0 : 0.0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    mean_current[axis] = sums[axis] / decomposition.grid().volume();
    spin_current[axis] = two * of_spin[axis] / decomposition.grid().volume();
    dipole[axis] = sums[4 + axis];
    spin_dipole[axis] = sums[9 + axis];
  }
  const Vec3 by_field = cross(dipole, h().vector_potential()), by_kick = cross(spin_dipole, spin_potential());
  for (std::size_t axis = 0; axis < 3; ++axis)
    angular_momentum[axis] = options.angular_momentum ? sums[12 + axis] + by_field[axis] + by_kick[axis] : 0.0;
  moment = sums[8];
  norm = sums[3];
  if (options.scheme == "etrs" && options.correction_tolerance == 0) prediction_error = sums[7] / norm;
}

/// exp(-i H dt) with this potential and the mean of the fields at both ends.
/// @param trial  for the potential at the end alone
void Propagator::Work::whole_step(std::span<const double> potential, bool trial) {
  const double t = time();
  if (light) {
    set_light(Moment::middle);
    h().set_potential(potential);
    exponentiate(dt, 4, false);
    if (!trial) {
      set_light(Moment::end);
      finish_current({});
    }
    finish_density();
    if (!trial) sum_up();
    return;
  }
  const auto mean = [](const Vec3& a, const Vec3& b) {
    return Vec3{0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])};
  };
  const Vec3 after = vector_potential(t + dt), during = mean(vector_potential(t), after);
  set_vector_potential(during);
  set_potential(potential, mean(field.electric_field(t), field.electric_field(t + dt)));
  exponentiate(dt, 4, !trial && during == after && !ions_arrive());
  if (!trial) {
    finish_current(after);
    put_current();
  }
  finish_density();
  if (!trial) sum_up();
}

/// Takes the ions' potential off (-1) or adds it (+1), if they move.
void Propagator::Work::add_ions(std::vector<double>& potential, double factor) const {
  if (ions) detail::add_to_spins(std::span(potential).first(state.density.size()), factor, model.ion_potential());
}

/// The potential of moving ions changes from one ion step to the next, and is known; that of the electrons is
/// extrapolated.
void Propagator::Work::midpoint_step() {
  if (state.earlier_potentials.empty()) return first_midpoint_step();
  std::vector<double> now = v;
  add_ions(now, -1);
  detail::extrapolate_to_middle(middle, state.earlier_potentials, now);
  add_ions(middle, 1);
  whole_step(middle);
}

/// Without earlier potentials to extrapolate from, a trial step with the potential at the start gives the potential at
/// the end. The mean of both is the potential in the middle, up to the square of the step.
void Propagator::Work::first_midpoint_step() {
  const Orbitals start = state.orbitals;
  state.earlier_potentials = v;
  add_ions(state.earlier_potentials, -1);
  const std::vector<double> at_start = v;
  whole_step(at_start, true);
  middle.resize(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) middle[i] = 0.5 * (at_start[i] + v[i]);
  state.orbitals.assign(start);
  whole_step(middle);
}

void Propagator::Work::etrs_step() {
  const double t = time();
  if (light)
    set_light(Moment::beginning);
  else
    set_vector_potential(vector_potential(t));
  set_potential(v, field.electric_field(t));
  with_exponential([&](auto& series) { series.apply(state.orbitals, 0.5 * dt, order, {}); });
  half.assign(state.orbitals);
  exponentiate(0.5 * dt, order, false);
  finish_density();
  if (light)
    set_light(Moment::end);
  else
    set_vector_potential(vector_potential(t + dt));
  std::vector<double> predicted;
  for (int repetition = 0;; ++repetition) {
    predicted = state.density;
    state.orbitals.assign(half);
    set_potential(v, field.electric_field(t + dt));
    exponentiate(0.5 * dt, order, !light && !ions_arrive());
    finish_density();
    double change = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) change += std::abs(state.density[i] - predicted[i]);
    density_change = change * model.system().grid.point_volume();
    if (options.correction_tolerance == 0) break;
    change = density_change;
    model.decomposition().space().sum(std::span(&change, 1));
    prediction_error = change / first_norm;
    if (prediction_error <= options.correction_tolerance || repetition == options.max_corrections) break;
  }
  finish_current(vector_potential(t + dt));
  sum_up();
}

/// If an ion step begins here, moves the atoms to the middle of their way.
void Propagator::Work::move_ions_before() {
  if (!ions || steps % ions->every() != 0) return;
  ions->to_middle(state, dt * ions->every(), electric_field());
  ions_arrived = false;
  model.potential_after_move(v, state);
}

/// If an ion step ends here, completes it. `steps` counts the step just done.
void Propagator::Work::move_ions_after() {
  if (!ions || steps % ions->every() != 0) return;
  ions->finish(state, orbital_forces, dt * ions->every(), electric_field());
}

void Propagator::Work::measure() {
  if (light) set_light(Moment::beginning);
  exponentiate(0, 0, !light);
  finish_current(h().vector_potential());
  finish_density();
  density_change = 0;
  sum_up();
}

Record Propagator::Work::record(bool with_energy) {
  Record r;
  r.step = steps;
  r.time = time();
  r.vector_potential = h().vector_potential();
  r.electric_field = electric_field();
  if (light) {
    r.light = light->record();
    r.vector_potential = mean_potential = r.light->mean;
    for (std::size_t axis = 0; axis < 3; ++axis)
      r.electric_field[axis] = -(r.light->mean[axis] - mean_potential_before[axis]) / dt;
  }
  if (induced) {
    r.induced = induced->record(driving_current());
    r.field_energy = induced->energy(driving_current(), model.system().grid.volume());
  }
  r.current = mean_current;
  r.spin_current = spin_current;
  r.dipole = dipole;
  r.moment = moment;
  r.spin_dipole = spin_dipole;
  r.angular_momentum = angular_momentum;
  r.norm = norm;
  r.prediction_error = prediction_error;
  if (ions) r.ions = ions->record();
  r.has_energy = with_energy;
  if (with_energy) {
    core::Region region("tddft/energy");
    r.energy = model.energies(state);
  }
  return r;
}

}  // namespace halocline::tddft
