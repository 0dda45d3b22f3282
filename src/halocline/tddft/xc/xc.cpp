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
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <numbers>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>

#include <fmt/format.h>

namespace halocline::tddft {
namespace {

/// Points in one call of libxc: its arrays have 16 KiB, 34 with gradients, 58 with kinetic energy densities.
constexpr std::int64_t chunk = 256;
constexpr std::size_t most_spins = 2, most_pairs = 3;  ///< pairs of spins: up up, up down, down down

/// Below this density [1/bohr^3] libxc leaves energy and potential zero. Its own limits, about 1e-15, would cause a
/// step of 1e-5 hartree in the potential; with this one the step is 1e-9.
constexpr double smallest_density = 1e-27;

/// Below this share of the other spin in the density the correlation of a meta-GGA is that of this share. Its potential
/// on the minority would grow as the third root of one over the share, to hundreds of hartree.
constexpr double smallest_minority = 1e-8;

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
                                        {"blyp", {XC_GGA_X_B88, XC_GGA_C_LYP}},
                                        {"r2scan", {XC_MGGA_X_R2SCAN, XC_MGGA_C_R2SCAN}},
                                        {"scan", {XC_MGGA_X_SCAN, XC_MGGA_C_SCAN}},
                                        {"tpss", {XC_MGGA_X_TPSS, XC_MGGA_C_TPSS}},
                                        {"tb-mbj", {XC_MGGA_X_TB09, XC_LDA_C_PW_MOD}}};
  return known;
}

/// The parameter c in "tb-mbj:1.12". Empty: the name is another one.
std::optional<double> given_tran_blaha(std::string_view name) {
  constexpr std::string_view begin = "tb-mbj:";
  if (!name.starts_with(begin)) return std::nullopt;
  const std::string_view text = name.substr(begin.size());
  double c = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), c);
  if (error != std::errc() || end != text.data() + text.size() || !(c > 0.5 && c < 3))
    throw core::InvalidArgument(fmt::format(
        "\"{}\" given for the parameter c of tb-mbj; a number between 0.5 and 3 expected, as in tb-mbj:1.12", text));
  return c;
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
    const int family = info.family, needed = XC_FLAGS_HAVE_VXC | XC_FLAGS_3D;
    const bool of_kind = family == XC_FAMILY_LDA || family == XC_FAMILY_GGA || family == XC_FAMILY_MGGA;
    const bool has_energy = (info.flags & XC_FLAGS_HAVE_EXC) != 0 && (info.flags & XC_FLAGS_NEEDS_LAPLACIAN) == 0;
    if (!of_kind || info.kind == XC_KINETIC || (info.flags & needed) != needed ||
        (!has_energy && number != XC_MGGA_X_TB09)) {
      const std::string full = info.name;
      xc_func_end(functional_);
      xc_func_free(functional_);
      throw core::InvalidArgument(
          "libxc's functional \"" + full +
          "\" is not available: choose another name that begins with lda_, gga_ or mgga_. It must be an exchange or "
          "correlation energy of densities, their gradients and kinetic energy densities in three dimensions; hybrids, "
          "functionals of the density's Laplacian and potentials without an energy are not, but for tb-mbj");
    }
    if (family == XC_FAMILY_LDA) xc_func_set_dens_threshold(functional_, smallest_density);
    if (family == XC_FAMILY_MGGA) xc_func_set_zeta_threshold(functional_, smallest_minority);
  }
  Functional(Functional&& other) noexcept : functional_(std::exchange(other.functional_, nullptr)) {}
  Functional(const Functional&) = delete;
  Functional& operator=(const Functional&) = delete;
  ~Functional() {
    if (functional_ == nullptr) return;
    xc_func_end(functional_);
    xc_func_free(functional_);
  }

  bool has_gradients() const noexcept { return functional_->info->family != XC_FAMILY_LDA; }
  bool has_kinetic() const noexcept { return functional_->info->family == XC_FAMILY_MGGA; }
  bool is_potential() const noexcept { return functional_->info->number == XC_MGGA_X_TB09; }
  void set_tran_blaha(double c) { xc_func_set_ext_params_name(functional_, "c", c); }

  /// What libxc takes, shape (points, spins), and sigma, the products of two gradients, shape (points, pairs).
  struct In {
    const double *n, *sigma, *laplacian, *kinetic;
  };
  /// Energy of an electron, shape (points,), and derivatives of the energy in a volume, shapes as those of In.
  struct Out {
    double *energy, *n, *sigma, *laplacian, *kinetic;
  };
  void evaluate(std::int64_t count, const In& in, const Out& out) const {
    const auto points = static_cast<std::size_t>(count);
    if (is_potential())
      xc_mgga_vxc(functional_, points, in.n, in.sigma, in.laplacian, in.kinetic, out.n, out.sigma, out.laplacian,
                  out.kinetic);
    else if (has_kinetic())
      xc_mgga_exc_vxc(functional_, points, in.n, in.sigma, in.laplacian, in.kinetic, out.energy, out.n, out.sigma,
                      out.laplacian, out.kinetic);
    else if (has_gradients())
      xc_gga_exc_vxc(functional_, points, in.n, in.sigma, out.energy, out.n, out.sigma);
    else
      xc_lda_exc_vxc(functional_, points, in.n, out.energy, out.n);
  }

private:
  xc_func_type* functional_;
};

/// Takes gradients out of empty cores. At a nucleus the density of pseudo-orbitals almost vanishes, while it is large a
/// step of the grid away. There a meta-GGA depends so steeply on the gradient, which is a difference of large numbers,
/// that self-consistency fails, for energies of 1e-7 hartree. Such points have
///   alpha = (tau - tau_1) / (tau_gas + 0.001 tau_1),   tau_1 = sigma / 8 n,
/// of 1e3 to 1e6, where bonds and gaps of real systems have less than 20. So the product sigma_st of the gradients of
/// two spins is replaced by
///   g_s g_t sigma_st,   g_s^2 = 1 / (1 + (alpha_s / 100)^4),
/// and derivatives follow by the chain rule. At alpha = 10 sigma changes by 1e-4, at alpha = 1 by 1e-8.
class EmptyCores {
public:
  /// Replaces sigma, shape (points, pairs), for densities and kinetic energy densities, shape (points, spins).
  EmptyCores(std::int64_t count, std::int64_t spins, const double* n, double* sigma, const double* kinetic)
      : count_(count), spins_(spins) {
    const double both = 2.0 / static_cast<double>(spins);  // spins in a density
    for (std::int64_t i = 0; i < count; ++i) {
      double* of_pairs = sigma + pairs() * i;
      std::copy_n(of_pairs, pairs(), sigma_.data() + pairs() * i);
      for (std::int64_t s = 0; s < spins; ++s) {
        const double density = n[spins * i + s], tau = kinetic[spins * i + s];
        Spin& spin = of_spins_[static_cast<std::size_t>(spins * i + s)];
        spin = {};
        if (density < 1e-20) continue;
        const double gas =
            both * 0.3 * std::cbrt(36 * std::pow(std::numbers::pi, 4)) * std::pow(density / both, 5.0 / 3);
        const double single = of_pairs[2 * s] / (8 * density), scale = gas + eta * single;
        const double alpha = (tau - single) / scale;
        if (!(alpha > 0)) continue;
        const double ratio = alpha / 100, fourth = ratio * ratio * ratio * ratio;
        spin.factor = 1 / std::sqrt(1 + fourth);
        spin.excess = (1 - spin.factor) * alpha * scale;
        const double slope = -2 * fourth / (1 + fourth) * spin.factor / (alpha * scale);  // of the factor, by tau
        spin.by_tau = slope;
        spin.by_sigma = -slope * (1 + eta * alpha) / (8 * density);
        spin.by_n = slope * ((1 + eta * alpha) * single - 5.0 / 3 * alpha * gas) / density;
      }
      for (std::int64_t pair = 0; pair < pairs(); ++pair)
        of_pairs[pair] *= of_spin(i, pair / 2).factor * of_spin(i, (pair + 1) / 2).factor;
    }
  }
  /// For a potential that depends on sqrt(tau / n): takes alpha out of the kinetic energy densities, shape (points,
  /// spins), by the same factor.
  void limit(double* kinetic) const {
    for (std::int64_t i = 0; i < count_ * spins_; ++i) kinetic[i] -= of_spins_[static_cast<std::size_t>(i)].excess;
  }
  /// Turns derivatives with respect to the replaced sigma into those with respect to what it depends on.
  void apply(double* by_n, double* by_sigma, double* by_kinetic) const {
    for (std::int64_t i = 0; i < count_; ++i) {
      double* of_pairs = by_sigma + pairs() * i;
      const double* sigma = sigma_.data() + pairs() * i;
      std::array<double, most_pairs> result{};
      for (std::int64_t pair = 0; pair < pairs(); ++pair) {
        const std::array<std::int64_t, 2> of_pair{pair / 2, (pair + 1) / 2};
        const Spin &one = of_spin(i, of_pair[0]), &two = of_spin(i, of_pair[1]);
        result[static_cast<std::size_t>(pair)] += of_pairs[pair] * one.factor * two.factor;
        for (std::size_t k = 0; k < 2; ++k) {
          const std::int64_t s = of_pair[k];
          const double by_factor = of_pairs[pair] * sigma[pair] * (k == 0 ? two : one).factor;
          by_n[spins_ * i + s] += by_factor * of_spin(i, s).by_n;
          by_kinetic[spins_ * i + s] += by_factor * of_spin(i, s).by_tau;
          result[static_cast<std::size_t>(2 * s)] += by_factor * of_spin(i, s).by_sigma;
        }
      }
      std::copy_n(result.data(), pairs(), of_pairs);
    }
  }

private:
  /// g of a spin at a point, and its derivatives.
  struct Spin {
    double factor = 1, by_n = 0, by_sigma = 0, by_tau = 0, excess = 0;
  };
  static constexpr double eta = 0.001;  ///< as in r2SCAN: in tails tau and tau_1 are equal but for rounding
  std::int64_t pairs() const { return spins_ == 1 ? 1 : 3; }
  const Spin& of_spin(std::int64_t point, std::int64_t s) const {
    return of_spins_[static_cast<std::size_t>(spins_ * point + s)];
  }

  std::int64_t count_, spins_;
  std::array<Spin, most_spins * chunk> of_spins_;
  std::array<double, most_pairs * chunk> sigma_;
};

}  // namespace

struct ExchangeCorrelation::State {
  std::string name;
  std::int64_t spins;
  std::vector<Functional> functionals;
  std::optional<Functional> energy_instead;  ///< of a potential without an energy
  bool c_given = false;                      ///< of "tb-mbj"

  void set_tran_blaha(double c) {
    for (Functional& functional : functionals)
      if (functional.is_potential()) functional.set_tran_blaha(c);
  }

  bool gradients() const { return std::ranges::any_of(functionals, &Functional::has_gradients); }
  bool kinetic() const { return std::ranges::any_of(functionals, &Functional::has_kinetic); }
  bool potential() const { return std::ranges::any_of(functionals, &Functional::is_potential); }

  /// Evaluates the points [begin, begin + count) of fields whose spins are `points` apart. Returns the sum of n eps.
  double evaluate(const XcResult& to, const XcFields& from, std::int64_t points, std::int64_t begin,
                  std::int64_t count) const;
  double evaluate_all(const XcResult& to, const XcFields& from, std::int64_t points) const;
};

double ExchangeCorrelation::State::evaluate(const XcResult& to, const XcFields& from, std::int64_t points,
                                            std::int64_t begin, std::int64_t count) const {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const std::int64_t pairs = spins == 1 ? 1 : 3;
  const bool with_gradients = gradients(), with_kinetic = kinetic();
  std::array<double, most_spins * chunk> density, potential, part_potential;
  std::array<double, most_pairs * chunk> sigma, sigma_slope, part_sigma_slope;
  std::array<double, most_spins * chunk> laplacian, unused, kinetic, kinetic_slope, part_kinetic_slope;
  std::array<double, chunk> energy, part_energy;
  const auto slope = [&](std::int64_t s, std::int64_t axis, std::int64_t i) {
    return from.gradient[at((3 * s + axis) * points + begin + i)];
  };
  const auto gather = [&](auto& to_points, std::span<const double> field, double smallest) {
    for (std::int64_t s = 0; s < spins; ++s)
      for (std::int64_t i = 0; i < count; ++i)
        to_points[at(i * spins + s)] = field.empty() ? 0.0 : std::max(field[at(s * points + begin + i)], smallest);
  };
  gather(density, from.n, 0.0);
  if (with_gradients)
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t a = 0, pair = 0; a < spins; ++a)
        for (std::int64_t b = a; b < spins; ++b, ++pair)
          sigma[at(i * pairs + pair)] =
              slope(a, 0, i) * slope(b, 0, i) + slope(a, 1, i) * slope(b, 1, i) + slope(a, 2, i) * slope(b, 2, i);
  if (with_kinetic) {
    gather(kinetic, from.kinetic, 0.0);
    gather(laplacian, from.laplacian, -std::numeric_limits<double>::infinity());
    kinetic_slope.fill(0.0);
  }
  potential.fill(0.0);
  energy.fill(0.0);
  if (with_gradients) sigma_slope.fill(0.0);
  const auto add = [](auto& sum, const auto& part, std::size_t numbers) {
    for (std::size_t i = 0; i < numbers; ++i) sum[i] += part[i];
  };
  const Functional::In in{density.data(), sigma.data(), laplacian.data(), kinetic.data()};
  const Functional::Out out{part_energy.data(), part_potential.data(), part_sigma_slope.data(), unused.data(),
                            part_kinetic_slope.data()};
  std::optional<EmptyCores> cores;
  if (with_kinetic) cores.emplace(count, spins, density.data(), sigma.data(), kinetic.data());
  if (this->potential()) cores->limit(kinetic.data());
  for (const Functional& functional : functionals) {
    functional.evaluate(count, in, out);
    add(potential, part_potential, at(count * spins));
    if (!functional.is_potential()) add(energy, part_energy, at(count));
    if (functional.has_gradients() && !functional.is_potential()) add(sigma_slope, part_sigma_slope, at(count * pairs));
    if (functional.has_kinetic() && !functional.is_potential())
      add(kinetic_slope, part_kinetic_slope, at(count * spins));
  }
  if (cores) cores->apply(potential.data(), sigma_slope.data(), kinetic_slope.data());
  if (energy_instead) {
    energy_instead->evaluate(count, in, out);
    add(energy, part_energy, at(count));
  }
  double sum = 0;
  for (std::int64_t s = 0; s < spins; ++s) {
    for (std::int64_t i = 0; i < count; ++i) {
      to.v[at(s * points + begin + i)] = potential[at(i * spins + s)];
      sum += density[at(i * spins + s)] * energy[at(i)];
    }
  }
  if (!to.f.empty())
    for (std::int64_t i = 0; i < count; ++i)
      to.f[at(begin + i)] = (density[at(i * spins)] + (spins == 2 ? density[at(2 * i + 1)] : 0.0)) * energy[at(i)];
  if (with_kinetic)
    for (std::int64_t s = 0; s < spins; ++s)
      for (std::int64_t i = 0; i < count; ++i)
        to.kinetic_slope[at(s * points + begin + i)] = kinetic_slope[at(i * spins + s)];
  if (!with_gradients) return sum;
  // sigma of two equal spins has two factors of the gradient, that of two different ones has one.
  for (std::int64_t s = 0; s < spins; ++s)
    for (std::int64_t axis = 0; axis < 3; ++axis)
      for (std::int64_t i = 0; i < count; ++i) {
        const double* slopes = sigma_slope.data() + i * pairs;
        double w = 2 * slopes[s == 0 ? 0 : 2] * slope(s, axis, i);
        if (spins == 2) w += slopes[1] * slope(1 - s, axis, i);
        to.flux[at((3 * s + axis) * points + begin + i)] = w;
      }
  return sum;
}

double ExchangeCorrelation::State::evaluate_all(const XcResult& to, const XcFields& from, std::int64_t points) const {
  const std::int64_t chunks = (points + chunk - 1) / chunk;
  std::vector<double> energies(static_cast<std::size_t>(chunks));
#pragma omp parallel for schedule(static)
  for (std::int64_t c = 0; c < chunks; ++c) {
    const std::int64_t begin = c * chunk;
    energies[static_cast<std::size_t>(c)] = evaluate(to, from, points, begin, std::min(chunk, points - begin));
  }
  return std::accumulate(energies.begin(), energies.end(), 0.0);
}

ExchangeCorrelation::ExchangeCorrelation(std::string_view name, int spins) {
  if (spins != 1 && spins != 2)
    throw core::InvalidArgument("exchange-correlation was asked for " + std::to_string(spins) + " spins; give 1 or 2");
  const std::optional<double> c = given_tran_blaha(name);
  const auto parts = parts_of(c ? "tb-mbj" : name);
  if (!parts) {
    std::string list;
    for (const std::string& other : names()) list += (list.empty() ? "" : ", ") + other;
    throw core::InvalidArgument("the functional \"" + std::string(name) + "\" is not known; there are " + list +
                                ", and libxc's names joined by +, as in gga_x_pbe+gga_c_pbe");
  }
  state_ = std::make_unique<State>();
  const auto ours = std::ranges::find(functionals(), *parts, &Named::parts);
  state_->name = c || ours == functionals().end() ? std::string(name) : std::string(ours->name);
  state_->spins = spins;
  for (const int number : *parts) state_->functionals.emplace_back(number, spins);
  if (state_->potential()) state_->energy_instead.emplace(XC_LDA_X, spins);
  state_->c_given = c.has_value();
  if (c) state_->set_tran_blaha(*c);
}

ExchangeCorrelation::ExchangeCorrelation(ExchangeCorrelation&&) noexcept = default;
ExchangeCorrelation::~ExchangeCorrelation() = default;

std::vector<std::string> ExchangeCorrelation::names() {
  std::vector<std::string> list;
  for (const Named& functional : functionals()) list.emplace_back(functional.name);
  return list;
}

const std::string& ExchangeCorrelation::name() const noexcept { return state_->name; }

bool ExchangeCorrelation::has_gradients() const noexcept { return state_->gradients(); }
bool ExchangeCorrelation::has_kinetic() const noexcept { return state_->kinetic(); }
bool ExchangeCorrelation::is_potential() const noexcept { return state_->potential(); }
bool ExchangeCorrelation::has_mean_slope() const noexcept { return is_potential() && !state_->c_given; }

void ExchangeCorrelation::set_mean_slope(double mean) {
  if (!state_->c_given) state_->set_tran_blaha(-0.012 + 1.023 * std::sqrt(std::max(mean, 0.0)));
}

double ExchangeCorrelation::evaluate(std::span<double> v, std::span<const double> n) const {
  if (has_gradients())
    throw core::InvalidArgument("the functional " + state_->name +
                                " depends on gradients, and was given densities alone");
  return evaluate(XcResult{.f = {}, .v = v, .flux = {}, .kinetic_slope = {}},
                  XcFields{.n = n, .gradient = {}, .laplacian = {}, .kinetic = {}});
}

double ExchangeCorrelation::evaluate(std::span<double> v, std::span<double> flux, std::span<const double> n,
                                     std::span<const double> gradient) const {
  return evaluate(XcResult{.f = {}, .v = v, .flux = flux, .kinetic_slope = {}},
                  XcFields{.n = n, .gradient = gradient, .laplacian = {}, .kinetic = {}});
}

double ExchangeCorrelation::evaluate(const XcResult& result, const XcFields& fields) const {
  const State& state = *state_;
  const std::size_t numbers = fields.n.size(), points = numbers / static_cast<std::size_t>(state.spins);
  const auto fits = [&](std::size_t given, bool needed, std::size_t each) {
    return given == each * numbers || (given == 0 && !needed);
  };
  const bool gradients = state.gradients(), kinetic = state.kinetic();
  if (numbers % static_cast<std::size_t>(state.spins) != 0 || result.v.size() != numbers ||
      !fits(fields.gradient.size(), gradients, 3) || !fits(result.flux.size(), gradients, 3) ||
      !fits(fields.kinetic.size(), kinetic, 1) || !fits(result.kinetic_slope.size(), kinetic, 1) ||
      !fits(fields.laplacian.size(), state.potential(), 1) || (!result.f.empty() && result.f.size() != points))
    throw core::InvalidArgument(fmt::format(
        "the functional {} of {} spins was given {} densities, {} gradients, {} Laplacians and {} kinetic energy "
        "densities, for {} potentials, {} fluxes, {} kinetic slopes and {} energies; one of each a point and spin is "
        "expected, three gradients and fluxes, and one energy a point or none, of those that it depends on",
        state.name, state.spins, numbers, fields.gradient.size(), fields.laplacian.size(), fields.kinetic.size(),
        result.v.size(), result.flux.size(), result.kinetic_slope.size(), result.f.size()));
  if (!gradients) std::ranges::fill(result.flux, 0.0);
  if (!kinetic) std::ranges::fill(result.kinetic_slope, 0.0);
  return state.evaluate_all(result, fields, static_cast<std::int64_t>(points));
}

}  // namespace halocline::tddft
