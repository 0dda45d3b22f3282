// SPDX-License-Identifier: Apache-2.0
/// @file
/// Guard vectors, bounds and degrees of the filter, and the results that all ranks share.
///
/// The damped part of the spectrum begins at the largest Ritz value of the last pass. All vectors grow relative to it,
/// the occupied ones most. For a channel without meaningful vectors yet, it begins at a fixed fraction of the spectrum.
/// The degree of the polynomial is chosen so that the last occupied state gains a factor of ten in each pass.

#include "halocline/tddft/ground_state/eigensolver.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ground_state/lobpcg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tuple>
#include <utility>

namespace halocline::tddft {
namespace {

/// Number of states of a channel that electrons fill at temperature 0, if all channels have equally many.
int filled(const System& system) {
  return std::min(system.states, static_cast<int>(std::ceil(system.electrons / 2 - 1e-9)));
}

/// Number of guard blocks, such that about 8 % of the filled states, and at least three vectors, exist above them.
std::int64_t wanted_guards(const System& system) {
  const int lanes = (system.states + orbital_lanes - 1) / orbital_lanes * orbital_lanes;
  const int missing = std::max(3, filled(system) / 12) - (lanes - filled(system));
  return missing > 0 ? (missing + orbital_lanes - 1) / orbital_lanes : 0;
}

EigensolverOptions checked(const Model& model, const EigensolverOptions& options) {
  comm::on_every_rank(model.decomposition().world(), [&] {
    const std::vector<std::string> known = Eigensolver::methods();
    if (std::find(known.begin(), known.end(), options.method) == known.end())
      throw core::InvalidArgument(
          fmt::format("the eigensolver \"{}\" is not known; there are {}", options.method, fmt::join(known, ", ")));
    if (options.degree < 0)
      throw core::InvalidArgument(
          fmt::format("the filter degree is {}; it must be positive, or 0 to have it chosen", options.degree));
    const std::int64_t vectors = orbital_lanes * (model.decomposition().all_blocks() + wanted_guards(model.system()));
    if (const std::int64_t most = model.decomposition().grid().points() / (options.method == "lobpcg" ? 4 : 2);
        vectors > most)
      throw core::InvalidArgument(
          fmt::format("{} states with guards are {} vectors, too many for a grid of {} points; at most {} will do",
                      model.system().states, vectors, model.decomposition().grid().points(), most));
  });
  return options;
}

}  // namespace

std::vector<std::string> Eigensolver::methods() { return {"chebyshev", "lobpcg"}; }

Eigensolver::Eigensolver(Model& model, const EigensolverOptions& options)
    : model_(model),
      options_(checked(model, options)),
      subspace_(model.decomposition(), wanted_guards(model.system())),
      dense_(model.decomposition(), subspace_.vectors(), options_.method == "lobpcg" ? "lapack" : options_.dense),
      ritz_(size(model.decomposition().channels().size())),
      guards_(model.decomposition().channels().size() * subspace_.guard_blocks() *
              model.decomposition().box().points() * doubles_per_point),
      x_(options_.method == "lobpcg" ? subspace_.set_doubles() : 0),
      scratch_(subspace_.largest_part() * model.decomposition().box().points() * doubles_per_point),
      residuals_(model.system().channels.size() * size(model.system().states), 0.0) {}

/// The vectors of a channel: its orbitals, and guards.
VectorSet Eigensolver::set_of(State& state, std::int64_t channel) {
  const std::int64_t own = state.orbitals.blocks(), doubles = state.orbitals.block_doubles();
  double* first = own > 0 ? state.orbitals.block(channel, 0) : nullptr;
  return {first, own, guards_.data() + channel * subspace_.guard_blocks() * doubles, doubles};
}

void Eigensolver::load(const VectorSet& x) {
  const std::int64_t doubles = subspace_.set_doubles() / std::max<std::int64_t>(1, subspace_.blocks());
  for (std::int64_t b = 0; b < subspace_.blocks(); ++b) std::copy_n(x.block(b), doubles, x_.data() + b * doubles);
}

void Eigensolver::store(const VectorSet& x) {
  const std::int64_t doubles = subspace_.set_doubles() / std::max<std::int64_t>(1, subspace_.blocks());
  for (std::int64_t b = 0; b < subspace_.blocks(); ++b) std::copy_n(x_.data() + b * doubles, doubles, x.block(b));
}

bool Eigensolver::start(State& state) {
  bool fresh = false;
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    const ChannelProblem problem(model_, subspace_, channel);
    const bool random = problem.fill_zeros(set_of(state, channel), options_.seed, model_.system().states) > 0;
    fresh = random || fresh;
    Ritz& ritz = ritz_[size(channel)];
    ritz = {};
    const std::size_t first = size(model_.decomposition().channels().begin + channel) * size(model_.system().states);
    const std::span<const double> known(state.eigenvalues.data() + first, size(model_.system().states));
    if (!random && std::ranges::any_of(known, [](double e) { return e != 0; }))
      ritz.values.assign(known.begin(), known.end());
  }
  return model_.decomposition().world().any(fresh);
}

void Eigensolver::finish(State& state) const {
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel)
    for (std::int64_t block = 0; block < state.orbitals.blocks(); ++block)
      for (int lane = 0; lane < orbital_lanes; ++lane) {
        if (model_.state_number(block, lane) >= 0) continue;
        double* values = state.orbitals.block(channel, block) + 2 * lane;
        for (std::int64_t point = 0; point < state.orbitals.points(); ++point)
          values[point * doubles_per_point] = values[point * doubles_per_point + 1] = 0;
      }
}

int Eigensolver::occupied(const State& state, std::int64_t channel) const {
  const System& system = model_.system();
  const double* first =
      state.occupations.data() + size(model_.decomposition().channels().begin + channel) * size(system.states);
  int last = 0;
  for (int i = 0; i < system.states; ++i)
    if (first[i] > 1e-4 * system.full()) last = i + 1;
  if (last > 0) return last;
  const bool none = std::all_of(state.occupations.begin(), state.occupations.end(), [](double f) { return f == 0; });
  return none ? std::max(1, filled(system)) : 1;  // an empty channel: its lowest state
}

/// Computes the bounds of the spectrum once, and again when the potential has risen much. In between, a higher
/// potential raises the upper bound by at most its largest rise. Returns false for a potential that is not finite.
bool Eigensolver::update_bounds() {
  const comm::Communicator& world = model_.decomposition().world();
  const std::span<const double> v = model_.hamiltonian().potential();
  if (!world.all(std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); }))) return false;
  const bool known = potential_of_bound_.size() == v.size();
  const std::size_t numbers = size(model_.system().spins * model_.decomposition().box().points());
  // Of the potential, and of the slopes of a kinetic operator: t of the kinetic energy, and w of twice the momentum.
  std::array<double, 3> rises{};
  for (std::size_t i = 0; known && i < v.size(); ++i) {
    const double change = v[i] - potential_of_bound_[i];
    double& most = rises[std::min<std::size_t>(i / numbers, 2)];
    most = std::max(most, i < 2 * numbers ? change : std::abs(change));
  }
  world.max(rises);
  const double kinetic = Stencil::largest_kinetic(model_.system().grid, {});
  double rise = rises[0] + rises[1] * kinetic + rises[2] * 2 * std::sqrt(3 * 2 * kinetic);
  if (!known || rise > 0.05 * (highest_ - lowest_)) {
    potential_of_bound_.assign(v.begin(), v.end());
    std::tie(lowest_, highest_) = model_.hamiltonian().spectrum_bounds();
    rise = 0;
  }
  highest_now_ = highest_ + rise;
  return std::isfinite(highest_ - lowest_);
}

bool Eigensolver::chebyshev_pass(const ChannelProblem& problem, const VectorSet& x, Ritz& ritz, int occupied,
                                 std::vector<double>& norms) {
  constexpr double growth = 8, later_growth = 14;  // exponents: while vectors are far from eigenvectors, and later
  FilterBounds bounds{lowest_, lowest_ + 0.05 * (highest_now_ - lowest_), highest_now_};
  int degree = filter_degree(bounds, bounds.lowest, 1e3, growth);
  if (!ritz.values.empty()) {
    const double last = ritz.values[size(occupied - 1)];
    bounds.lowest = ritz.values.front();
    bounds.cut = std::min(std::max(ritz.values.back(), last + 0.02), 0.5 * (bounds.lowest + highest_now_));
    degree = options_.degree > 0 ? options_.degree
                                 : filter_degree(bounds, last, 10, ritz.worst > 0.1 ? growth : later_growth);
  }
  chebyshev_filter(problem, x, scratch_.data(), degree, bounds);
  ritz.values = problem.rayleigh_ritz(x, scratch_.data(), dense_);
  if (ritz.values.empty()) return false;
  norms = problem.residuals_of(x, scratch_.data(), ritz.values);
  return true;
}

bool Eigensolver::improve(State& state, int passes) {
  constexpr double near = 0.03;  // residual [hartree] below which further passes wait for a better potential
  if (!update_bounds()) return false;
  const System& system = model_.system();
  const Decomposition& decomposition = model_.decomposition();
  const std::size_t all = system.channels.size() * size(system.states);
  // Eigenvalues and residuals of all channels. One rank writes each entry, so a sum over ranks distributes them.
  std::vector<double> shared(2 * all + 1, 0.0);
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    const ChannelProblem problem(model_, subspace_, channel);
    Ritz& ritz = ritz_[size(channel)];
    const int matter = occupied(state, channel);
    std::vector<double> norms;
    const VectorSet x = set_of(state, channel);
    bool good = true;
    if (options_.method == "lobpcg") {
      // LOBPCG is slow from random vectors, so a filter provides the first vectors.
      if (ritz.values.empty()) good = chebyshev_pass(problem, x, ritz, matter, norms);
      if (good) {
        load(x);
        const int iterations = std::min(passes, 3) * (options_.degree > 0 ? options_.degree : 3);
        LobpcgResult result = lobpcg(problem, x_.data(), iterations, 1e-13, matter);
        good = !result.values.empty();
        ritz.values = std::move(result.values);
        norms = std::move(result.residuals);
        store(x);
      }
    } else {
      for (int pass = 0; pass < passes && good && (pass == 0 || ritz.worst > near); ++pass) {
        good = chebyshev_pass(problem, x, ritz, matter, norms);
        ritz.worst = 0;
        for (std::size_t i = 0; i < norms.size() && good; ++i)
          if (subspace_.first_vector() + static_cast<int>(i) < matter) ritz.worst = std::max(ritz.worst, norms[i]);
        decomposition.orbitals().max(std::span(&ritz.worst, 1));
      }
    }
    if (decomposition.space().rank() != 0) continue;
    if (!good) {
      shared.back() += 1;
      continue;
    }
    const std::size_t first = size(decomposition.channels().begin + channel) * size(system.states);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      const std::size_t number = size(subspace_.first_vector()) + i;
      if (number >= size(system.states)) break;
      shared[first + number] = ritz.values[number];
      shared[all + first + number] = norms[i];
    }
  }
  decomposition.world().sum(shared);
  state.eigenvalues.assign(shared.begin(), shared.begin() + static_cast<std::ptrdiff_t>(all));
  residuals_.assign(shared.begin() + static_cast<std::ptrdiff_t>(all), shared.end() - 1);
  return shared.back() == 0 && std::all_of(shared.begin(), shared.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace halocline::tddft
