// SPDX-License-Identifier: Apache-2.0
/// @file
/// The self-consistent cycle: the potential of a density, its lowest states, their density, and an improved density
/// from both.
///
/// The energy of an iteration is that of the output density, so its error is of second order and positive. Its kinetic
/// part costs nothing, because the eigenvalues contain it together with the nonlocal part and the potential in which
/// the states were computed:  E_kin = sum f e - integral v_in n_out - E_nonlocal, for a meta-GGA also - integral t_in
/// tau_out + w_in grad n_out.

#include "halocline/tddft/ground_state/ground_state.hpp"

#include "halocline/comm/group/time_limit.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ground_state/eigensolver.hpp"
#include "halocline/tddft/ground_state/kerker.hpp"
#include "halocline/tddft/ground_state/mixing.hpp"
#include "halocline/tddft/ground_state/occupations.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace halocline::tddft {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<double> kept_moment(const ScfOptions& options) {
  return options.fixed_spin ? std::optional<double>(options.spin_moment) : std::nullopt;
}

void check_options(const System& system, const State& state, const ScfOptions& options) {
  const auto positive = [](const char* what, double value) {
    if (!(value > 0)) throw core::InvalidArgument(fmt::format("the {} is {}; it must be positive", what, value));
  };
  positive("tolerance of the density", options.tolerance);
  positive("tolerance of the energy", options.energy_tolerance);
  positive("tolerance of the eigenvalue residuals", options.eigen_tolerance);
  positive("largest number of iterations", options.max_iterations);
  if (!(options.mixing_screening >= 0))
    throw core::InvalidArgument(
        fmt::format("the screening of the mixing is {} 1/bohr; it must not be negative", options.mixing_screening));
  if (options.mixing_screening > 0 && system.grid.boundary != Boundary::periodic)
    throw core::InvalidArgument("the screening of the mixing is for periodic cells; leave it at 0 in an isolated box");
  if (system.spins == 1 && options.spin_moment != 0)
    throw core::InvalidArgument(fmt::format(
        "a spin moment of {} was given, but the system has one spin; give it two (spins = 2)", options.spin_moment));
  if (!(std::abs(options.spin_moment) <= system.electrons))
    throw core::InvalidArgument(fmt::format("a spin moment of {} was given, but there are only {} electrons",
                                            options.spin_moment, system.electrons));
  const std::size_t states = system.channels.size() * size(system.states);
  if (state.occupations.size() != states || state.eigenvalues.size() != states)
    throw core::InvalidArgument(
        fmt::format("the state has {} occupations, but the system has {} states; start from Model::empty_state()",
                    state.occupations.size(), states));
  fill_states(system, std::vector<double>(states, 0.0), options.temperature, kept_moment(options));
}

/// integral of a b, summed over spins.
double integral(const Decomposition& decomposition, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  decomposition.space().sum(std::span(&sum, 1));
  return sum * decomposition.grid().point_volume();
}

/// integral of |a - b|, summed over spins.
double distance(const Decomposition& decomposition, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  decomposition.space().sum(std::span(&sum, 1));
  return sum * decomposition.grid().point_volume();
}

/// The first density of jellium: a Gaussian as wide as the sphere. The density of the background itself would bind no
/// state at the start, because the electrons spill out of it.
std::vector<double> spilled_density(const Model& model) {
  const System& system = model.system();
  const Grid& grid = system.grid;
  const Box& box = model.decomposition().box();
  const double width = system.jellium->radius_per_charge * std::cbrt(system.jellium->charge);
  std::array<std::vector<double>, 3> factor;  // exp(-(x - centre)^2 / width^2) along each axis
  for (int axis = 0; axis < 3; ++axis)
    for (std::int64_t i = 0; i < box.extent[size(axis)]; ++i) {
      double distance = grid.position(axis, box.offset[size(axis)] + i) - system.jellium->centre[size(axis)];
      if (grid.boundary == Boundary::periodic) distance = std::remainder(distance, grid.length(axis));
      factor[size(axis)].push_back(std::exp(-distance * distance / (width * width)));
    }
  std::vector<double> density(size(box.points()));
  double sum = 0;
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x) {
        const double n = factor[0][size(x)] * factor[1][size(y)] * factor[2][size(z)];
        density[size(box.index(x, y, z))] = n;
        sum += n;
      }
  model.decomposition().space().sum(std::span(&sum, 1));
  for (double& n : density) n *= system.electrons / (sum * grid.point_volume());
  return density;
}

/// The densities of pseudo-atoms, with the moment distributed in proportion.
std::vector<double> first_density(const Model& model, const ScfOptions& options) {
  const System& system = model.system();
  std::vector<double> density = system.jellium ? spilled_density(model) : start_density(system, model.decomposition());
  if (system.spins == 1) return density;
  const bool odd = std::lround(system.electrons) % 2 != 0;
  const double moment = options.spin_moment == 0 && odd && !options.fixed_spin ? 1.0 : options.spin_moment;
  const std::size_t points = density.size();
  const double up = system.electrons > 0 ? 0.5 * (1 + moment / system.electrons) : 0.5;
  density.resize(2 * points);
  for (std::size_t i = 0; i < points; ++i) {
    density[points + i] = (1 - up) * density[i];
    density[i] *= up;
  }
  return density;
}

bool is_zero(const comm::Communicator& world, std::span<const double> values) {
  return world.all(std::all_of(values.begin(), values.end(), [](double x) { return x == 0; }));
}

/// sum over all channels and states of weight x occupation x eigenvalue.
double band_energy(const System& system, const State& state) {
  double sum = 0;
  for (std::size_t channel = 0; channel < system.channels.size(); ++channel)
    for (std::size_t i = channel * size(system.states); i < (channel + 1) * size(system.states); ++i)
      sum += system.channels[channel].weight * state.occupations[i] * state.eigenvalues[i];
  return sum;
}

double nonlocal_energy(Model& model, const State& state) {
  double sum = 0;
  if (!model.hamiltonian().nonlocal().empty()) {
    std::vector<double> each(size(state.orbitals.blocks() * orbital_lanes));
    for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
      const std::vector<double> factors = model.weights(state, channel);
      model.hamiltonian().nonlocal().energy(channel, state.orbitals.block(channel, 0), state.orbitals.blocks(), each);
      for (std::size_t i = 0; i < each.size(); ++i) sum += factors[i] * each[i];
    }
  }
  model.decomposition().box_mates().sum(std::span(&sum, 1));
  return sum;
}

/// Largest residual of the states that hold electrons.
double worst_residual(const System& system, const State& state, const std::vector<double>& residuals) {
  double worst = 0;
  for (std::size_t i = 0; i < residuals.size(); ++i)
    if (state.occupations[i] > 1e-4 * system.full()) worst = std::max(worst, residuals[i]);
  return worst;
}

/// The cycle and its data between iterations.
class Cycle {
public:
  Cycle(Model& model, State& state, const ScfOptions& options)
      : model_(model),
        state_(state),
        options_(options),
        eigensolver_(model, {options.eigensolver, options.filter_degree, options.seed, options.dense}),
        mixer_(make_mixer(model, options)),
        mixed_(state.density),
        potential_(model.potential_numbers(false)),
        new_potential_(potential_.size()) {
    state_.kinetic.velocity.clear();
    if (is_zero(model.decomposition().world(), mixed_)) mixed_ = first_density(model, options);
    const bool random = eigensolver_.start(state);
    passes_ = random ? 12 : 2;
    if (model.has_kinetic()) {
      const bool filled = !random && !is_zero(model.decomposition().world(), state.occupations);
      if (filled) {
        // The density may be one that was predicted; its other fields are those of the orbitals, in proportion.
        model.sum_density(state);
        model.sum_kinetic(state);
        mixed_.resize(5 * state.density.size(), -1.0);  // impossible everywhere
        make_possible();
      } else {
        append(mixed_, model.kinetic_of_gas(mixed_));
      }
    }
    model_.effective_potential(potential_, mixed_fields());
  }

  /// One iteration up to its energy. @return the reason why the cycle cannot go on; empty if it can
  std::string iterate(GroundState& result, ScfStep& step) {
    model_.hamiltonian().set_potential(potential_);
    if (!eigensolver_.improve(state_, passes_)) return "the orbitals are not finite or not independent";
    passes_ = 1;
    Filling filling = fill_states(model_.system(), state_.eigenvalues, options_.temperature, kept_moment(options_));
    state_.occupations = std::move(filling.occupations);
    model_.sum_density(state_);
    if (model_.has_kinetic()) model_.sum_kinetic(state_);
    step.density_residual = distance(model_.decomposition(), state_.density, mixed_fields().density) /
                            std::max(1e-30, model_.system().electrons);
    if (!std::isfinite(step.density_residual)) return "the density is not finite";
    step.eigen_residual = worst_residual(model_.system(), state_, eigensolver_.residuals());
    step.gap = filling.gap;
    step.energy = energies(filling.entropy);
    result.fermi_level = filling.fermi_level;
    return {};
  }

  /// Mixes the next density, with its kinetic fields where there are some, and computes its potential.
  void advance() {
    std::vector<double> found = state_.density;
    append(found, state_.kinetic);
    mixer_.mix(mixed_, found);
    if (model_.has_kinetic()) make_possible();
    model_.effective_potential(potential_, mixed_fields());
  }

  /// Sets the Hamiltonian's potential to that of the state's density.
  void finish() {
    eigensolver_.finish(state_);
    if (model_.has_kinetic()) model_.sum_kinetic(state_);
    model_.effective_potential(new_potential_, state_);
    model_.hamiltonian().set_potential(new_potential_);
  }

private:
  static void append(std::vector<double>& density, const KineticFields& kinetic) {
    density.insert(density.end(), kinetic.density.begin(), kinetic.density.end());
    density.insert(density.end(), kinetic.gradient.begin(), kinetic.gradient.end());
  }
  static Mixer make_mixer(Model& model, const ScfOptions& options) {
    Mixer::Damping damping;
    if (options.mixing_screening > 0)
      damping = [&model, wave_number = options.mixing_screening](std::span<double> residual) {
        const std::int64_t numbers = model.system().spins * model.decomposition().box().points();
        damp_long_waves(model, residual.first(size(numbers)), wave_number);
      };
    return Mixer(model.decomposition().space(), options.mixing, options.mixing_weight, options.mixing_history,
                 std::move(damping));
  }

  /// Combinations of the fields of orbitals need not be fields of any, and a meta-GGA has no bounds for those. Where
  /// the mixed kinetic energy density of an electron is not within a factor of ten of that found, the fields found take
  /// the place of the mixed ones, in proportion to the density. Gradients are then limited to |grad n|^2 <= 8 n tau.
  void make_possible() {
    const std::size_t numbers = state_.density.size(), points = numbers / size(model_.system().spins);
    for (std::size_t i = 0; i < numbers; ++i) {
      const std::size_t first = i / points * 3 * points + i % points;
      double* const gradient = mixed_.data() + 2 * numbers + first;
      double& tau = mixed_[numbers + i];
      const double ratio = state_.density[i] > 0 ? std::max(mixed_[i], 0.0) / state_.density[i] : 0.0;
      const double expected = ratio * state_.kinetic.density[i];
      if (!(tau >= 0.1 * expected && tau <= 10 * expected)) {
        tau = expected;
        for (std::size_t a = 0; a < 3; ++a) gradient[a * points] = ratio * state_.kinetic.gradient[first + a * points];
      }
      double square = 0;
      for (std::size_t a = 0; a < 3; ++a) square += gradient[a * points] * gradient[a * points];
      const double most = 8 * std::max(mixed_[i], 0.0) * tau;
      if (square <= most) continue;
      for (std::size_t a = 0; a < 3; ++a) gradient[a * points] *= std::sqrt(most / square);
    }
  }
  /// Density and kinetic fields as mixed.
  ElectronFields mixed_fields() const {
    const std::span<const double> all = mixed_;
    const std::size_t numbers = state_.density.size();
    if (all.size() == numbers) return {all};
    return {all.first(numbers), all.subspan(numbers, numbers), all.subspan(2 * numbers)};
  }

  Energies energies(double entropy) {
    Energies energy = model_.potential_and_energies(new_potential_, state_);
    energy.ion_nonlocal = nonlocal_energy(model_, state_);
    const std::span<const double> v = potential_;
    const std::size_t numbers = state_.density.size();
    double of_potential = integral(model_.decomposition(), v.first(numbers), state_.density);
    if (model_.has_kinetic_operator())
      of_potential += integral(model_.decomposition(), v.subspan(numbers, numbers), state_.kinetic.density) +
                      integral(model_.decomposition(), v.subspan(2 * numbers), state_.kinetic.gradient);
    energy.kinetic = band_energy(model_.system(), state_) - of_potential - energy.ion_nonlocal;
    energy.entropy = entropy;
    energy.total = energy.kinetic + energy.hartree + energy.ion_local + energy.ion_nonlocal + energy.xc +
                   energy.ion_ion - energy.entropy;
    return energy;
  }

  Model& model_;
  State& state_;
  const ScfOptions& options_;
  Eigensolver eigensolver_;
  Mixer mixer_;
  std::vector<double> mixed_;  ///< density, and where the functional needs them kinetic energy density and gradient
  std::vector<double> potential_, new_potential_;
  int passes_ = 1;
};

}  // namespace

GroundState solve_ground_state(Model& model, State& state, const ScfOptions& options,
                               const std::function<bool(const ScfStep&)>& progress) {
  core::Region region("tddft/ground state");
  const comm::Communicator& world = model.decomposition().world();
  comm::on_every_rank(world, [&] {
    check_options(model.system(), state, options);
    Mixer(comm::Communicator::self(), options.mixing, options.mixing_weight, options.mixing_history);
  });
  const comm::SolveUnderWay under_way(world);
  Cycle cycle(model, state, options);

  GroundState result;
  result.reason = "most iterations reached";
  const Clock::time_point start = Clock::now();
  for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
    ScfStep step;
    step.iteration = iteration;
    const std::string trouble = cycle.iterate(result, step);
    if (!trouble.empty()) {
      result.reason = trouble;
      break;
    }
    // The first iteration has no previous energy: the change counts as the whole energy.
    step.energy_change = iteration == 1 ? step.energy.total : step.energy.total - result.history.back().energy.total;
    step.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    result.energy = step.energy;
    result.gap = step.gap;
    result.history.push_back(step);
    result.converged = iteration > 1 && step.density_residual <= options.tolerance &&
                       std::abs(step.energy_change) <= options.energy_tolerance &&
                       step.eigen_residual <= options.eigen_tolerance;
    if (result.converged) result.reason = "converged";
    const bool go_on = !progress || progress(step);
    if (!world.all(go_on) && !result.converged) {
      result.reason = "stopped";
      break;
    }
    if (result.converged) break;
    if (iteration < options.max_iterations) cycle.advance();
  }
  cycle.finish();
  return result;
}

}  // namespace halocline::tddft
