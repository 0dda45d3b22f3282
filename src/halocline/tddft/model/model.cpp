// SPDX-License-Identifier: Apache-2.0
/// @file
/// Computes potential and energy from the density, and the density from the orbitals.

#include "halocline/tddft/model/model.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/base/symmetry.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

namespace halocline::tddft {
namespace {

System validated(System system, const comm::Communicator& world, bool odd_allowed) {
  comm::on_every_rank(world, [&] {
    validate(system, odd_allowed);
    check_room(system);
  });
  return system;
}

/// sum_i a_i b_i in four interleaved parts: fast, and with a fixed order.
double dot(std::span<const double> a, std::span<const double> b) {
  std::array<double, 4> sum{};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4)
    for (std::size_t j = 0; j < 4; ++j) sum[j] += a[i + j] * b[i + j];
  for (; i < a.size(); ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

Model::Model(System system, const comm::Communicator& world, ProcessCounts counts, const ModelOptions& options)
    : system_(validated(std::move(system), world, options.odd_allowed)),
      decomposition_(world, system_, counts),
      hamiltonian_(system_, decomposition_, options.transport),
      hartree_(decomposition_, options.hartree),
      xc_(options.xc, system_.spins),
      odd_allowed_(options.odd_allowed),
      ion_tables_(system_),
      core_density_(tddft::core_density(system_, decomposition_)),
      hartree_potential_(size(decomposition_.box().points())),
      xc_potential_(size(system_.spins * decomposition_.box().points())),
      kinetic_slope_(xc_.functional().has_kinetic() ? xc_potential_.size() : 0),
      flux_(3 * kinetic_slope_.size()),
      with_core_(core_density_.empty() ? 0 : xc_potential_.size()) {
  comm::on_every_rank(world, [&] { check_meta(); });
}

/// Refuses what functionals of the kinetic energy density cannot do.
void Model::check_meta() const {
  if (!has_kinetic()) return;
  const std::string& name = xc().name();
  if (!core_density_.empty())
    throw core::InvalidArgument(fmt::format(
        "the functional {} was given with pseudopotentials that have core corrections; their files do not hold the "
        "kinetic energy density of the core on which it depends: take potentials without core corrections",
        name));
  const Grid& grid = system_.grid;
  if (xc().has_mean_slope() && (grid.boundary != Boundary::periodic || grid.open != std::array<bool, 3>{}))
    throw core::InvalidArgument(fmt::format(
        "the functional {} was given where there is vacuum; it contains the mean of |grad n| / n over the cell, which "
        "exists in crystals that are periodic along all axes only: give its parameter c, as in tb-mbj:1.12, or take "
        "another functional",
        name));
}

std::size_t Model::potential_numbers(bool flowing) const noexcept {
  const std::size_t numbers = size(system_.spins * decomposition_.box().points());
  return has_kinetic_operator() ? (flowing ? 8 : 5) * numbers : numbers;
}

void Model::sum_kinetic(State& state) {
  KineticSum sum(decomposition_, system_);
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    const std::vector<double> factors = weights(state, channel);
    for (std::int64_t block = 0; block < state.orbitals.blocks(); ++block) {
      const std::span lanes = std::span(factors).subspan(size(block * orbital_lanes), orbital_lanes);
      if (std::ranges::all_of(lanes, [](double f) { return f == 0; })) continue;
      sum.add(hamiltonian_, state.orbitals.block(channel, block), 1, lanes);
    }
    sum.finish_channel(hamiltonian_.spin(channel), hamiltonian_.momentum(channel));
  }
  sum.finish(state.kinetic, false);
}

KineticFields Model::kinetic_of_gas(std::span<const double> density) {
  const std::size_t points = size(decomposition_.box().points());
  const double both = 2.0 / system_.spins;  // spins in a density
  constexpr double steepest = 4;            // |grad n| / n [1/bohr]: of electrons 54 eV below the vacuum
  KineticFields fields{std::vector<double>(density.size()), std::vector<double>(3 * density.size()), {}};
  core::AlignedArray<double> block(static_cast<std::int64_t>(points) * doubles_per_point);
  for (std::size_t first = 0; first < density.size(); first += points) {
    for (std::size_t i = 0; i < points; ++i)
      block[static_cast<std::int64_t>(i) * doubles_per_point] = density[first + i];
    const std::span<double> gradient = std::span(fields.gradient).subspan(3 * first, 3 * points);
    hamiltonian_.stencil().gradient(gradient, block.data(), 1);
    for (std::size_t i = 0; i < points; ++i) {
      const double n = std::max(density[first + i], 0.0);
      // In tails that fall by orders of magnitude from point to point the derivative means nothing.
      double slope = std::hypot(gradient[i], gradient[points + i], gradient[2 * points + i]);
      if (slope > steepest * n) {
        for (std::size_t a = 0; a < 3; ++a) gradient[a * points + i] *= steepest * n / slope;
        slope = steepest * n;
      }
      constexpr double momentum = 6 * std::numbers::pi * std::numbers::pi;
      fields.density[first + i] = both * 0.3 * std::cbrt(momentum * momentum) * std::pow(n / both, 5.0 / 3) +
                                  (n > 1e-12 ? slope * slope / (8 * n) : 0.0);
    }
  }
  return fields;
}

void Model::move_atoms(std::span<const Vec3> positions) {
  core::Region region("tddft/moving atoms");
  System moved = system_;
  comm::on_every_rank(decomposition_.world(), [&] {
    if (positions.size() != moved.atoms.size())
      throw core::InvalidArgument(
          fmt::format("{} positions given for {} atoms; one of each expected", positions.size(), moved.atoms.size()));
    for (std::size_t i = 0; i < positions.size(); ++i) moved.atoms[i].position = positions[i];
    for (Symmetry& symmetry : moved.symmetries) symmetry = symmetry_of(moved, symmetry.rotation, symmetry.shift);
    validate(moved, odd_allowed_);
    check_room(moved);
  });
  system_ = std::move(moved);
  ion_potential_.reset();
  ion_ion_.reset();
  core_density_ = tddft::core_density(system_, decomposition_);
  hamiltonian_.move_atoms(system_);
}

std::span<const double> Model::ion_potential() {
  if (!ion_potential_) {
    core::Region region("tddft/potential of the ions");
    ion_potential_ = tddft::ion_potential(system_, decomposition_, ion_tables_);
  }
  return *ion_potential_;
}

double Model::ion_ion_energy() {
  if (!ion_ion_) ion_ion_ = tddft::ion_ion_energy(system_, decomposition_);
  return *ion_ion_;
}

State Model::empty_state() const {
  State state;
  state.orbitals = Orbitals(decomposition_);
  const std::size_t states = system_.channels.size() * size(system_.states);
  state.occupations.assign(states, 0.0);
  state.eigenvalues.assign(states, 0.0);
  state.density.assign(size(system_.spins * decomposition_.box().points()), 0.0);
  return state;
}

double* Model::scratch(std::int64_t doubles) {
  if (scratch_.size() < doubles) scratch_ = core::AlignedArray<double>(doubles);
  return scratch_.data();
}

int Model::state_number(std::int64_t block, int lane) const noexcept {
  const std::int64_t state = (decomposition_.blocks().begin + block) * orbital_lanes + lane;
  return state < system_.states ? static_cast<int>(state) : -1;
}

std::vector<double> Model::weights(const State& state, std::int64_t channel) const {
  const auto global = size(decomposition_.channels().begin + channel);
  const double weight = system_.channels[global].weight;
  std::vector<double> factors(size(decomposition_.blocks().size() * orbital_lanes), 0.0);
  for (std::int64_t block = 0; block < decomposition_.blocks().size(); ++block)
    for (int lane = 0; lane < orbital_lanes; ++lane) {
      const int number = state_number(block, lane);
      if (number >= 0)
        factors[size(block * orbital_lanes + lane)] =
            weight * state.occupations[global * size(system_.states) + size(number)];
    }
  return factors;
}

void Model::sum_density(State& state) const {
  core::Region region("tddft/density");
  const std::size_t points = size(decomposition_.box().points());
  std::fill(state.density.begin(), state.density.end(), 0.0);
  DoubleBlocks orbitals(state.orbitals);
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    const std::vector<double> factors = weights(state, channel);
    const int spin = hamiltonian_.spin(channel);
    const std::span density(state.density.data() + size(spin) * points, points);
    for (std::int64_t block = 0; block < state.orbitals.blocks(); ++block) {
      const std::span<const double, orbital_lanes> lanes(factors.data() + block * orbital_lanes, orbital_lanes);
      if (std::all_of(lanes.begin(), lanes.end(), [](double f) { return f == 0; })) continue;
      add_density(density, orbitals.read(channel, block), lanes);
    }
  }
  decomposition_.box_mates().sum(state.density);
  symmetrise_density(state);
}

void Model::symmetrise_density(State& state) const {
  const std::size_t points = size(decomposition_.box().points());
  for (int spin = 0; spin < system_.spins; ++spin)
    symmetrise(std::span(state.density).subspan(size(spin) * points, points), decomposition_, system_.symmetries);
}

/// Fills xc_potential_ and kinetic_slope_. Each spin has half of the core. @return sum over the points of this process
/// of the energy
double Model::fill_xc_potential(const ElectronFields& fields) {
  core::Region region("tddft/xc");
  const std::span<const double> density = fields.density;
  if (has_kinetic()) {
    if (fields.kinetic.size() != density.size() || fields.gradient.size() != 3 * density.size())
      throw core::InvalidArgument(fmt::format(
          "the functional {} was given {} densities and {} kinetic energy densities, as many of these expected: it "
          "depends on both; sum them over the orbitals",
          xc().name(), density.size(), fields.kinetic.size()));
    return xc_.evaluate({.f = {}, .v = xc_potential_, .flux = flux_, .kinetic_slope = kinetic_slope_},
                        {.n = density, .gradient = fields.gradient, .laplacian = {}, .kinetic = fields.kinetic},
                        hamiltonian_.stencil(), decomposition_);
  }
  if (core_density_.empty())
    return xc_.evaluate(xc_potential_, density, hamiltonian_.stencil(), decomposition_.box_mates());
  const double share = 1.0 / system_.spins;
  const std::size_t points = core_density_.size();
  for (std::size_t first = 0; first < with_core_.size(); first += points)
    for (std::size_t i = 0; i < points; ++i) with_core_[first + i] = density[first + i] + share * core_density_[i];
  return xc_.evaluate(xc_potential_, with_core_, hamiltonian_.stencil(), decomposition_.box_mates());
}

std::vector<double> Model::mean_xc_potential(std::span<const double> density) {
  static_cast<void>(fill_xc_potential(density));
  const std::size_t points = size(decomposition_.box().points());
  std::vector<double> mean(points, 0.0);
  for (std::size_t first = 0; first < xc_potential_.size(); first += points)
    for (std::size_t i = 0; i < points; ++i) mean[i] += xc_potential_[first + i] / system_.spins;
  return mean;
}

void Model::xc_derivatives(const XcResult& result, const State& state) {
  static_cast<void>(xc_.evaluate(
      result,
      {.n = state.density, .gradient = state.kinetic.gradient, .laplacian = {}, .kinetic = state.kinetic.density},
      hamiltonian_.stencil(), decomposition_));
}

std::vector<double> Model::force_defect(std::span<const double> density, std::span<const double> slopes, bool whole) {
  core::Region region("tddft/grid's force");
  const std::size_t points = size(decomposition_.box().points()), spins = size(system_.spins);
  std::vector<double> of_both;
  if (spins == 2) {
    of_both.assign(density.begin(), density.begin() + static_cast<std::ptrdiff_t>(points));
    for (std::size_t i = 0; i < points; ++i) of_both[i] += density[points + i];
  }
  const std::span<const double> total = spins == 2 ? std::span<const double>(of_both) : density;
  // The densities of exchange and correlation, and their slopes, with their shares of the core.
  std::vector<double> with_core, slopes_with_core;
  if (!core_density_.empty()) {
    with_core.assign(density.begin(), density.end());
    slopes_with_core.assign(slopes.begin(), slopes.end());
    const double share = 1.0 / system_.spins;
    const std::vector<double> core = core_gradient(system_, decomposition_);
    for (std::size_t s = 0; s < spins; ++s) {
      for (std::size_t i = 0; i < points; ++i) with_core[s * points + i] += share * core_density_[i];
      for (std::size_t i = 0; whole && i < 3 * points; ++i) slopes_with_core[3 * s * points + i] += share * core[i];
    }
  }
  const std::span<const double> n = with_core.empty() ? density : std::span<const double>(with_core);
  const std::span<const double> slopes_xc = with_core.empty() ? slopes : std::span<const double>(slopes_with_core);

  const bool known = decomposition_.world().all(std::ranges::equal(total, hartree_density_));
  std::vector<double> hartree_of_another(known ? 0 : points);
  if (!known) hartree_.solve(hartree_of_another, total);
  const std::vector<double>& hartree = known ? hartree_potential_ : hartree_of_another;
  std::vector<double> xc_of_another;
  if (!has_kinetic() && !decomposition_.world().all(xc_.remembers(n))) {
    xc_of_another.resize(n.size());
    xc_.evaluate_alone(xc_of_another, n, hamiltonian_.stencil());
  }
  const std::vector<double>& v = xc_of_another.empty() ? xc_potential_ : xc_of_another;

  // The gradients of the density and of the energy of exchange and correlation, in one sweep. The processes with parts
  // of the slopes have the same box: each takes part in the sweeps, one of them counts.
  const std::span<const double> f = has_kinetic() ? std::span<const double>() : xc_.energies();
  const int fields = f.empty() ? 1 : 2;
  const auto count = static_cast<std::int64_t>(points);
  double* block = scratch(count * doubles_per_point);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    block[i * doubles_per_point] = total[size(i)];
    if (!f.empty()) block[i * doubles_per_point + 1] = f[size(i)];
  }
  std::vector<double> gradients(size(3 * fields) * points), field(3 * points);
  hamiltonian_.stencil().gradient(gradients, block, fields);
  const double counts = whole ? 1.0 : 0.0;
#pragma omp parallel for schedule(static)
  for (std::int64_t point = 0; point < count; ++point)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto i = size(point);
      const std::size_t place = axis * points + i;
      double slope = -counts * gradients[place], of_xc = 0;
      for (std::size_t s = 0; s < spins; ++s) slope += slopes[(3 * s + axis) * points + i];
      if (!f.empty()) {
        of_xc = -counts * gradients[3 * points + place];
        for (std::size_t s = 0; s < spins; ++s) of_xc += v[s * points + i] * slopes_xc[(3 * s + axis) * points + i];
      }
      field[place] = hartree[i] * slope + of_xc;
    }
  if (!has_kinetic()) xc_.add_flux_of_slopes(field, counts, hamiltonian_.stencil());
  return field;
}

/// Fills hartree_potential_ and those of fill_xc_potential(). @return as the latter
double Model::fill_electrons_potential(const ElectronFields& fields) {
  const std::size_t points = size(decomposition_.box().points());
  const std::span<const double> density = fields.density;
  assert(density.size() == points * size(system_.spins));
  std::vector<double>& total = hartree_density_;
  total.assign(density.begin(), density.begin() + static_cast<std::ptrdiff_t>(points));
  for (int spin = 1; spin < system_.spins; ++spin)
    for (std::size_t i = 0; i < points; ++i) total[i] += density[size(spin) * points + i];
  {
    core::Region region("tddft/hartree");
    hartree_.solve(hartree_potential_, total);
  }
  return fill_xc_potential(fields);
}

/// @return  Hartree energy, energy in the ions' local potential, exchange-correlation energy: this process's
///          contributions
std::array<double, 3> Model::fill_potential(std::span<double> v, const ElectronFields& fields) {
  assert(v.size() == potential_numbers(!fields.velocity.empty()));
  const double xc = fill_electrons_potential(fields), volume = decomposition_.grid().point_volume();
  add_potentials(v, fields);
  return {0.5 * volume * dot(hartree_density_, hartree_potential_), volume * dot(hartree_density_, ion_potential()),
          volume * xc};
}

void Model::solve_electrons_potential(const ElectronFields& fields) {
  static_cast<void>(fill_electrons_potential(fields));
}

void Model::add_potentials(std::span<double> v, const ElectronFields& fields) {
  const std::span<const double> of_ions = ion_potential();
  const std::size_t points = of_ions.size(), numbers = xc_potential_.size();
  for (std::size_t first = 0; first < numbers; first += points)
    for (std::size_t i = 0; i < points; ++i)
      v[first + i] = of_ions[i] + hartree_potential_[i] + xc_potential_[first + i];
  if (!has_kinetic_operator()) return;
  std::ranges::copy(kinetic_slope_, v.subspan(numbers).begin());
  std::ranges::copy(flux_, v.subspan(2 * numbers).begin());
  std::ranges::copy(fields.velocity, v.subspan(5 * numbers).begin());
}

void Model::effective_potential(std::span<double> v, const ElectronFields& fields) { fill_potential(v, fields); }

void Model::potential_after_move(std::span<double> v, const ElectronFields& fields) {
  if (!core_density_.empty()) static_cast<void>(fill_xc_potential(fields));
  add_potentials(v, fields);
}

Energies Model::potential_and_energies(std::span<double> v, const ElectronFields& fields) {
  std::array<double, 3> sums = fill_potential(v, fields);
  decomposition_.space().sum(sums);
  Energies energy;
  energy.hartree = sums[0];
  energy.ion_local = sums[1];
  energy.xc = sums[2];
  energy.ion_ion = ion_ion_energy();
  return energy;
}

void Model::inner_products(std::span<double> out, const double* a, const double* b, std::int64_t blocks) const {
  const std::int64_t doubles = decomposition_.box().points() * doubles_per_point;
  const double volume = decomposition_.grid().point_volume();
  for (std::int64_t block = 0; block < blocks; ++block) {
    const double* left = a + block * doubles;
    const double* right = b + block * doubles;
    std::array<double, doubles_per_point> sum{};
    for (std::int64_t i = 0; i < doubles; i += doubles_per_point)
      for (int lane = 0; lane < orbital_lanes; ++lane) {
        const std::int64_t re = i + 2 * lane, im = re + 1;
        sum[size(2 * lane)] += left[re] * right[re] + left[im] * right[im];
        sum[size(2 * lane + 1)] += left[re] * right[im] - left[im] * right[re];
      }
    for (std::size_t j = 0; j < sum.size(); ++j) out[size(block) * doubles_per_point + j] = volume * sum[j];
  }
  decomposition_.space().sum(out.first(size(blocks) * doubles_per_point));
}

Energies Model::energies(const State& state) {
  const std::size_t points = size(decomposition_.box().points());
  // The kinetic energy is the expectation value of the stencil alone, with v = 0.
  const std::vector<double> nothing(points, 0.0);
  const std::int64_t blocks = state.orbitals.blocks();
  const double volume = decomposition_.grid().point_volume();
  core::AlignedArray<double> out(state.orbitals.block_doubles());
  // Orbitals in float are converted a few at a time.
  const std::int64_t together =
      state.orbitals.precision() == Precision::float64 ? std::max<std::int64_t>(1, blocks) : 8;
  std::vector<double> nonlocal(size(std::min(together, std::max<std::int64_t>(1, blocks)) * orbital_lanes));
  std::array<double, 2> sums{};
  DoubleBlocks orbitals(state.orbitals);
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    const std::vector<double> factors = weights(state, channel);
    for (std::int64_t block = 0; block < blocks; ++block) {
      const double* psi = orbitals.read(channel, block);
      hamiltonian_.apply_kinetic(channel, out.data(), psi, nothing);
      std::array<double, orbital_lanes> product{};
      for (std::int64_t i = 0; i < out.size(); ++i) product[size(i % doubles_per_point / 2)] += psi[i] * out[i];
      for (int lane = 0; lane < orbital_lanes; ++lane)
        sums[0] += factors[size(block * orbital_lanes + lane)] * product[size(lane)] * volume;
    }
    if (hamiltonian_.nonlocal().empty() || blocks == 0) continue;
    for (std::int64_t block = 0; block < blocks; block += together) {
      const std::int64_t count = std::min(together, blocks - block);
      const std::span<double> found = std::span(nonlocal).first(size(count * orbital_lanes));
      hamiltonian_.nonlocal().energy(channel, orbitals.read(channel, block, count), count, found);
      for (std::size_t i = 0; i < found.size(); ++i) sums[1] += factors[size(block * orbital_lanes) + i] * found[i];
    }
  }
  // Each process has the kinetic energy of its own points, but all ranks of space() have the complete nonlocal energy.
  if (decomposition_.space().rank() != 0) sums[1] = 0;
  decomposition_.world().sum(sums);
  std::vector<double> v(potential_numbers(!state.kinetic.velocity.empty()));
  Energies energy = potential_and_energies(v, state);
  energy.kinetic = sums[0];
  energy.ion_nonlocal = sums[1];
  energy.total = energy.kinetic + energy.hartree + energy.ion_local + energy.ion_nonlocal + energy.xc + energy.ion_ion;
  return energy;
}

}  // namespace halocline::tddft
