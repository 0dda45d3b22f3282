// SPDX-License-Identifier: Apache-2.0
/// @file
/// Exchange and correlation: the sum of one or two functionals of libxc, point by point.
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
#include <optional>
#include <ranges>
#include <utility>

namespace halocline::tddft {
namespace {

constexpr std::int64_t chunk = 256;  ///< points in one call of libxc: its arrays have 16 KiB, 34 with gradients
constexpr std::size_t most_spins = 2, most_pairs = 3;  ///< pairs of spins: up up, up down, down down

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
                                        {"none", {}},
                                        {"pbe", {XC_GGA_X_PBE, XC_GGA_C_PBE}},
                                        {"pbesol", {XC_GGA_X_PBE_SOL, XC_GGA_C_PBE_SOL}},
                                        {"revpbe", {XC_GGA_X_PBE_R, XC_GGA_C_PBE}},
                                        {"blyp", {XC_GGA_X_B88, XC_GGA_C_LYP}}};
  return known;
}

/// Numbers of the parts of a name: one of ours, or libxc's names joined by +. Empty: unknown.
std::optional<std::vector<int>> parts_of(std::string_view name) {
  const auto& known = functionals();
  if (const auto found = std::ranges::find(known, name, &Named::name); found != known.end()) return found->parts;
  if (name.empty()) return std::nullopt;
  std::vector<int> parts;
  for (const auto& part : std::views::split(name, '+')) {
    const int number = xc_functional_get_number(std::string(part.begin(), part.end()).c_str());
    if (number <= 0) return std::nullopt;
    parts.push_back(number);
  }
  return parts;
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
    const xc_func_info_type& info = *functional_->info;
    const int family = info.family, needed = XC_FLAGS_HAVE_EXC | XC_FLAGS_HAVE_VXC | XC_FLAGS_3D;
    if ((family != XC_FAMILY_LDA && family != XC_FAMILY_GGA) || info.kind == XC_KINETIC ||
        (info.flags & needed) != needed) {
      const std::string full = info.name;
      xc_func_end(functional_);
      xc_func_free(functional_);
      throw core::InvalidArgument(
          "libxc's functional \"" + full +
          "\" is no exchange or correlation energy of densities and their gradients in three "
          "dimensions; hybrids, meta-GGA, kinetic energies and potentials without an energy are "
          "not available: choose another name that begins with lda_ or gga_");
    }
    if (family == XC_FAMILY_LDA) xc_func_set_dens_threshold(functional_, smallest_density);
  }
  Functional(Functional&& other) noexcept : functional_(std::exchange(other.functional_, nullptr)) {}
  Functional(const Functional&) = delete;
  Functional& operator=(const Functional&) = delete;
  ~Functional() {
    if (functional_ == nullptr) return;
    xc_func_end(functional_);
    xc_func_free(functional_);
  }

  bool has_gradients() const noexcept { return functional_->info->family == XC_FAMILY_GGA; }
  /// For densities of shape (points, spins): energy of an electron, shape (points,), and potential, shape (points,
  /// spins).
  void evaluate(std::int64_t points, const double* n, double* energy, double* potential) const {
    xc_lda_exc_vxc(functional_, static_cast<std::size_t>(points), n, energy, potential);
  }
  /// The same with sigma, the products of two gradients, and the derivative of the energy with respect to sigma, shape
  /// (points, pairs).
  void evaluate(std::int64_t points, const double* n, const double* sigma, double* energy, double* potential,
                double* sigma_slope) const {
    xc_gga_exc_vxc(functional_, static_cast<std::size_t>(points), n, sigma, energy, potential, sigma_slope);
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
  /// @param flux, gradient  null for a local functional
  /// @param f  the energy at each point, or null
  double evaluate(double* f, double* v, double* flux, const double* n, const double* gradient, std::int64_t points,
                  std::int64_t begin, std::int64_t count) const;
  double evaluate_all(double* f, double* v, double* flux, const double* n, const double* gradient,
                      std::int64_t points) const;
};

double ExchangeCorrelation::State::evaluate(double* f, double* v, double* flux, const double* n, const double* gradient,
                                            std::int64_t points, std::int64_t begin, std::int64_t count) const {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const std::int64_t pairs = spins == 1 ? 1 : 3;
  std::array<double, most_spins * chunk> density, potential, part_potential;
  std::array<double, most_pairs * chunk> sigma, sigma_slope, part_sigma_slope;
  std::array<double, chunk> energy, part_energy;
  const auto slope = [&](std::int64_t s, std::int64_t axis, std::int64_t i) {
    return gradient[(3 * s + axis) * points + begin + i];
  };
  for (std::int64_t s = 0; s < spins; ++s)
    for (std::int64_t i = 0; i < count; ++i) density[at(i * spins + s)] = std::max(n[s * points + begin + i], 0.0);
  if (gradient != nullptr)
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t a = 0, pair = 0; a < spins; ++a)
        for (std::int64_t b = a; b < spins; ++b, ++pair)
          sigma[at(i * pairs + pair)] =
              slope(a, 0, i) * slope(b, 0, i) + slope(a, 1, i) * slope(b, 1, i) + slope(a, 2, i) * slope(b, 2, i);
  potential.fill(0.0);
  energy.fill(0.0);
  if (gradient != nullptr) sigma_slope.fill(0.0);
  for (const Functional& functional : functionals) {
    if (functional.has_gradients()) {
      functional.evaluate(count, density.data(), sigma.data(), part_energy.data(), part_potential.data(),
                          part_sigma_slope.data());
      for (std::size_t i = 0; i < at(count * pairs); ++i) sigma_slope[i] += part_sigma_slope[i];
    } else {
      functional.evaluate(count, density.data(), part_energy.data(), part_potential.data());
    }
    for (std::size_t i = 0; i < at(count); ++i) energy[i] += part_energy[i];
    for (std::size_t i = 0; i < at(count * spins); ++i) potential[i] += part_potential[i];
  }
  double sum = 0;
  for (std::int64_t s = 0; s < spins; ++s) {
    for (std::int64_t i = 0; i < count; ++i) {
      v[s * points + begin + i] = potential[at(i * spins + s)];
      sum += density[at(i * spins + s)] * energy[at(i)];
    }
  }
  if (f != nullptr)
    for (std::int64_t i = 0; i < count; ++i)
      f[begin + i] = (density[at(i * spins)] + (spins == 2 ? density[at(2 * i + 1)] : 0.0)) * energy[at(i)];
  if (gradient == nullptr) return sum;
  // sigma of two equal spins has two factors of the gradient, that of two different ones has one.
  for (std::int64_t s = 0; s < spins; ++s)
    for (std::int64_t axis = 0; axis < 3; ++axis)
      for (std::int64_t i = 0; i < count; ++i) {
        const double* slopes = sigma_slope.data() + i * pairs;
        double w = 2 * slopes[s == 0 ? 0 : 2] * slope(s, axis, i);
        if (spins == 2) w += slopes[1] * slope(1 - s, axis, i);
        flux[(3 * s + axis) * points + begin + i] = w;
      }
  return sum;
}

double ExchangeCorrelation::State::evaluate_all(double* f, double* v, double* flux, const double* n,
                                                const double* gradient, std::int64_t points) const {
  const std::int64_t chunks = (points + chunk - 1) / chunk;
  std::vector<double> energies(static_cast<std::size_t>(chunks));
#pragma omp parallel for schedule(static)
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t begin = c * chunk;
    energies[static_cast<std::size_t>(c)] =
        evaluate(f, v, flux, n, gradient, points, begin, std::min(chunk, points - begin));
  }
  return std::accumulate(energies.begin(), energies.end(), 0.0);
}

ExchangeCorrelation::ExchangeCorrelation(std::string_view name, int spins) {
  if (spins != 1 && spins != 2)
    throw core::InvalidArgument("exchange-correlation was asked for " + std::to_string(spins) + " spins; give 1 or 2");
  const auto parts = parts_of(name);
  if (!parts) {
    std::string list;
    for (const std::string& other : names()) list += (list.empty() ? "" : ", ") + other;
    throw core::InvalidArgument("the functional \"" + std::string(name) + "\" is not known; there are " + list +
                                ", and libxc's names joined by +, as in gga_x_pbe+gga_c_pbe");
  }
  state_ = std::make_unique<State>();
  const auto ours = std::ranges::find(functionals(), *parts, &Named::parts);
  state_->name = ours == functionals().end() ? std::string(name) : std::string(ours->name);
  state_->spins = spins;
  for (const int number : *parts) state_->functionals.emplace_back(number, spins);
}

ExchangeCorrelation::ExchangeCorrelation(ExchangeCorrelation&&) noexcept = default;
ExchangeCorrelation::~ExchangeCorrelation() = default;

std::vector<std::string> ExchangeCorrelation::names() {
  std::vector<std::string> list;
  for (const Named& functional : functionals()) list.emplace_back(functional.name);
  return list;
}

const std::string& ExchangeCorrelation::name() const noexcept { return state_->name; }

bool ExchangeCorrelation::has_gradients() const noexcept {
  return std::ranges::any_of(state_->functionals, &Functional::has_gradients);
}

double ExchangeCorrelation::evaluate(std::span<double> v, std::span<const double> n) const {
  const State& state = *state_;
  if (has_gradients())
    throw core::InvalidArgument("the functional " + state.name +
                                " depends on gradients, and was given densities alone");
  if (v.size() != n.size() || n.size() % static_cast<std::size_t>(state.spins) != 0)
    throw core::InvalidArgument("exchange-correlation was given " + std::to_string(n.size()) + " densities and " +
                                std::to_string(v.size()) + " potentials; both must be " + std::to_string(state.spins) +
                                " times the points");
  return state.evaluate_all(nullptr, v.data(), nullptr, n.data(), nullptr,
                            static_cast<std::int64_t>(n.size()) / state.spins);
}

double ExchangeCorrelation::evaluate(std::span<double> v, std::span<double> flux, std::span<const double> n,
                                     std::span<const double> gradient) const {
  return evaluate({}, v, flux, n, gradient);
}

double ExchangeCorrelation::evaluate(std::span<double> f, std::span<double> v, std::span<double> flux,
                                     std::span<const double> n, std::span<const double> gradient) const {
  const State& state = *state_;
  const bool local = !has_gradients() && gradient.empty() && flux.empty();
  const std::size_t points = n.size() / static_cast<std::size_t>(state.spins);
  if (v.size() != n.size() || n.size() % static_cast<std::size_t>(state.spins) != 0 ||
      (!local && (flux.size() != 3 * n.size() || gradient.size() != flux.size())) || (!f.empty() && f.size() != points))
    throw core::InvalidArgument("exchange-correlation was given " + std::to_string(n.size()) + " densities, " +
                                std::to_string(v.size()) + " potentials, " + std::to_string(gradient.size()) +
                                " gradients, " + std::to_string(flux.size()) + " fluxes and " +
                                std::to_string(f.size()) + " energies; the numbers must be as 1, 1, 3 and 3, for " +
                                std::to_string(state.spins) + " times the points, and an energy a point or none");
  return state.evaluate_all(f.empty() ? nullptr : f.data(), v.data(), local ? nullptr : flux.data(), n.data(),
                            local ? nullptr : gradient.data(), static_cast<std::int64_t>(points));
}

}  // namespace halocline::tddft
