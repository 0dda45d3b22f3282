// SPDX-License-Identifier: Apache-2.0
/// @file
/// Local exchange and correlation: the sum of one or two functionals of libxc, point by point.
///
/// libxc needs the two spins of a point side by side, but the grid keeps them apart. So points are passed in chunks
/// that stay in the first-level cache. The energies of the chunks are added in the order of the grid, so that the sum
/// does not depend on the number of threads.
///
/// Some codes add 1e-10 to the density for "pz" to keep it from zero. Here the density is unchanged. The shift would
/// change the energy of a density n by about 1e-10 times the volume times eps_xc / 3 (1e-8 hartree for ten cubic
/// angstrom of silicon), and the potential only where there are no electrons.

#include "halocline/tddft/xc/xc.hpp"

#include "halocline/core/error.hpp"

#include <xc.h>

#include <algorithm>
#include <array>
#include <new>
#include <numeric>
#include <utility>

namespace halocline::tddft {
namespace {

constexpr std::int64_t chunk = 256;  ///< points in one call of libxc: four arrays of two spins are 16 KiB
constexpr std::size_t most_spins = 2;

/// Below this density [1/bohr^3] libxc leaves energy and potential zero. Its own limits, about 1e-15, would cause a
/// step of 1e-5 hartree in the potential; with this one the step is 1e-9.
constexpr double smallest_density = 1e-27;

struct Named {
  std::string_view name;
  std::vector<int> parts;
};

const std::vector<Named>& functionals() {
  static const std::vector<Named> known{{"pz", {XC_LDA_X, XC_LDA_C_PZ}},
                                        {"pz-mod", {XC_LDA_X, XC_LDA_C_PZ_MOD}},
                                        {"pw", {XC_LDA_X, XC_LDA_C_PW_MOD}},
                                        {"pade", {XC_LDA_XC_TETER93}},
                                        {"x", {XC_LDA_X}},
                                        {"none", {}}};
  return known;
}

/// One functional of libxc.
class Functional {
public:
  Functional(int number, int spins) : functional_(xc_func_alloc()) {
    if (functional_ == nullptr) throw std::bad_alloc();
    if (xc_func_init(functional_, number, spins == 1 ? XC_UNPOLARIZED : XC_POLARIZED) != 0) {
      xc_func_free(functional_);
      throw core::Error("libxc does not know its functional number " + std::to_string(number) +
                        "; link a libxc of version 5 or newer");
    }
    xc_func_set_dens_threshold(functional_, smallest_density);
  }
  Functional(Functional&& other) noexcept : functional_(std::exchange(other.functional_, nullptr)) {}
  Functional(const Functional&) = delete;
  Functional& operator=(const Functional&) = delete;
  ~Functional() {
    if (functional_ == nullptr) return;
    xc_func_end(functional_);
    xc_func_free(functional_);
  }

  /// For densities of shape (points, spins): energy of an electron, shape (points,), and potential, shape (points,
  /// spins).
  void evaluate(std::int64_t points, const double* n, double* energy, double* potential) const {
    xc_lda_exc_vxc(functional_, static_cast<std::size_t>(points), n, energy, potential);
  }

private:
  xc_func_type* functional_;
};

}  // namespace

struct ExchangeCorrelation::State {
  std::string name;
  std::int64_t spins;
  std::vector<Functional> functionals;

  /// Evaluates the points [begin, begin + count) of n and v, whose spins are `points` apart. Returns the sum of n eps.
  double evaluate(double* v, const double* n, std::int64_t points, std::int64_t begin, std::int64_t count) const;
};

double ExchangeCorrelation::State::evaluate(double* v, const double* n, std::int64_t points, std::int64_t begin,
                                            std::int64_t count) const {
  std::array<double, most_spins * chunk> density, potential, part_potential;
  std::array<double, chunk> energy, part_energy;
  for (std::int64_t s = 0; s < spins; ++s) {
    for (std::int64_t i = 0; i < count; ++i)
      density[static_cast<std::size_t>(i * spins + s)] = std::max(n[s * points + begin + i], 0.0);
  }
  potential.fill(0.0);
  energy.fill(0.0);
  for (const Functional& functional : functionals) {
    functional.evaluate(count, density.data(), part_energy.data(), part_potential.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) energy[i] += part_energy[i];
    for (std::size_t i = 0; i < static_cast<std::size_t>(count * spins); ++i) potential[i] += part_potential[i];
  }
  double sum = 0;
  for (std::int64_t s = 0; s < spins; ++s) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i * spins + s);
      v[s * points + begin + i] = potential[at];
      sum += density[at] * energy[static_cast<std::size_t>(i)];
    }
  }
  return sum;
}

ExchangeCorrelation::ExchangeCorrelation(std::string_view name, int spins) {
  if (spins != 1 && spins != 2)
    throw core::InvalidArgument("exchange-correlation was asked for " + std::to_string(spins) + " spins; give 1 or 2");
  const auto& known = functionals();
  const auto found = std::ranges::find(known, name, &Named::name);
  if (found == known.end()) {
    std::string list;
    for (const std::string& other : names()) list += (list.empty() ? "" : ", ") + other;
    throw core::InvalidArgument("the functional \"" + std::string(name) + "\" is not known; there are " + list);
  }
  state_ = std::make_unique<State>();
  state_->name = name;
  state_->spins = spins;
  for (const int number : found->parts) state_->functionals.emplace_back(number, spins);
}

ExchangeCorrelation::ExchangeCorrelation(ExchangeCorrelation&&) noexcept = default;
ExchangeCorrelation::~ExchangeCorrelation() = default;

std::vector<std::string> ExchangeCorrelation::names() {
  std::vector<std::string> list;
  for (const Named& functional : functionals()) list.emplace_back(functional.name);
  return list;
}

const std::string& ExchangeCorrelation::name() const noexcept { return state_->name; }

double ExchangeCorrelation::evaluate(std::span<double> v, std::span<const double> n) const {
  const State& state = *state_;
  if (v.size() != n.size() || n.size() % static_cast<std::size_t>(state.spins) != 0)
    throw core::InvalidArgument("exchange-correlation was given " + std::to_string(n.size()) + " densities and " +
                                std::to_string(v.size()) + " potentials; both must be " + std::to_string(state.spins) +
                                " times the points");
  const std::int64_t points = static_cast<std::int64_t>(n.size()) / state.spins;
  const std::int64_t chunks = (points + chunk - 1) / chunk;
  std::vector<double> energies(static_cast<std::size_t>(chunks));
#pragma omp parallel for schedule(static)
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t begin = c * chunk;
    energies[static_cast<std::size_t>(c)] =
        state.evaluate(v.data(), n.data(), points, begin, std::min(chunk, points - begin));
  }
  return std::accumulate(energies.begin(), energies.end(), 0.0);
}

}  // namespace halocline::tddft
