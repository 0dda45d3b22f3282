// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/goedecker.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/detail/goedecker_table.hpp"
#include "halocline/tddft/pseudopotential/detail/spacing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace halocline::tddft {

namespace {

using detail::GoedeckerEntry;

constexpr double smallest_projector = 1e-6;  // fraction of its maximum at which a projector is cut off
constexpr double nothing_left = 9;           // in r_loc: beyond it erfc(9/sqrt 2) and exp(-81/2) are below 3e-18

/// h_ij over h_jj for j > i, for each l as in Phys. Rev. B 58, 3641.
double off_diagonal(int l, int i, int j) {
  static constexpr std::array<std::array<double, 3>, 3> squares{{
      // h_12/h_22, h_13/h_33, h_23/h_33, squared
      {3.0 / 20, 5.0 / 84, 25.0 / 63},
      {5.0 / 28, 35.0 / 396, 49.0 / 99},
      {7.0 / 36, 63.0 / 572, 81.0 / 143},
  }};
  const int which = j == 1 ? 0 : 1 + i;
  const double magnitude = std::sqrt(squares[at(l)][at(which)]);
  return which == 1 ? magnitude : -magnitude;
}

class Goedecker final : public Pseudopotential {
public:
  explicit Goedecker(const GoedeckerEntry& entry) : entry_(entry), symbol_(entry.symbol) {
    for (int l = 0; l < 3; ++l) {
      const auto& channel = entry.channels[at(l)];
      while (count_[at(l)] < 3 && channel.h[at(count_[at(l)])] != 0) ++count_[at(l)];
      if (count_[at(l)] == 0) continue;
      largest_l_ = l;
      for (int i = 0; i < count_[at(l)]; ++i) {
        const int power = l + 2 * i;
        norm_[at(l)][at(i)] =
            std::sqrt(2 / std::tgamma(power + 1.5)) / std::pow(channel.radius, static_cast<double>(power) + 1.5);
        radius_[at(l)] = std::max(radius_[at(l)], channel.radius * reach(power));
      }
    }
    coarsest_ = detail::coarsest_spacing(*this);
  }

  const std::string& symbol() const noexcept override { return symbol_; }
  std::string origin() const override {
    return fmt::format("GTH (Pade) with {} electrons, Phys. Rev. B 58, 3641", entry_.valence);
  }
  double valence() const noexcept override { return entry_.valence; }
  std::string functional() const override { return "pade"; }

  double local(double r) const override {
    const double x = r / entry_.local_radius;
    if (x > nothing_left) return -valence() / r;
    const auto& c = entry_.c;
    const double x2 = x * x;
    const double polynomial = c[0] + x2 * (c[1] + x2 * (c[2] + x2 * c[3]));
    const double coulomb = x > 1e-4 ? std::erf(x / std::numbers::sqrt2) / x : root_2_over_pi * (1 - x2 / 6);
    return -valence() / entry_.local_radius * coulomb + std::exp(-0.5 * x2) * polynomial;
  }

  double local_slope(double r) const override {
    const double x = r / entry_.local_radius;
    if (x > nothing_left) return valence() / (r * r);
    const auto& c = entry_.c;
    const double x2 = x * x, gauss = std::exp(-0.5 * x2);
    const double polynomial = c[0] + x2 * (c[1] + x2 * (c[2] + x2 * c[3]));
    const double derivative = x * (2 * c[1] + x2 * (4 * c[2] + x2 * 6 * c[3]));
    // d/dx of erf(x/sqrt 2)/x; near 0 the two terms cancel, so the power series is used.
    const double coulomb =
        x > 0.1 ? (root_2_over_pi * gauss - std::erf(x / std::numbers::sqrt2) / x) / x
                : -root_2_over_pi * x * (1.0 / 3 - x2 * (0.1 - x2 * (1.0 / 56 - x2 * (1.0 / 432 - x2 / 4224))));
    return (-valence() / entry_.local_radius * coulomb + gauss * (derivative - x * polynomial)) / entry_.local_radius;
  }

  double local_fourier(double g) const override {
    const double rl = entry_.local_radius, y2 = g * g * rl * rl, gauss = std::exp(-0.5 * y2);
    const auto& c = entry_.c;
    const double polynomial =
        c[0] + c[1] * (3 - y2) + c[2] * (15 + y2 * (y2 - 10)) + c[3] * (105 - y2 * (105 - y2 * (21 - y2)));
    constexpr double pi = std::numbers::pi;
    const double coulomb = g > 0 ? -4 * pi * valence() / (g * g) * std::expm1(-0.5 * y2) : 2 * pi * valence() * rl * rl;
    return coulomb + std::pow(2 * pi, 1.5) * rl * rl * rl * gauss * polynomial;
  }

  int largest_l() const noexcept override { return largest_l_; }
  int projectors(int l) const override { return l >= 0 && l < 3 ? count_[at(l)] : 0; }
  double projector(int l, int i, double r) const override {
    if (i < 0 || i >= projectors(l) || r >= radius_[at(l)]) return 0;
    const double x = r / entry_.channels[at(l)].radius;
    return norm_[at(l)][at(i)] * power(r, l + 2 * i) * std::exp(-0.5 * x * x);
  }
  double projector_slope(int l, int i, double r) const override {
    if (i < 0 || i >= projectors(l) || r >= radius_[at(l)]) return 0;
    const double rl = entry_.channels[at(l)].radius, x = r / rl;
    const int n = l + 2 * i;
    const double polynomial = (n > 0 ? n * power(r, n - 1) : 0.0) - power(r, n + 1) / (rl * rl);
    return norm_[at(l)][at(i)] * polynomial * std::exp(-0.5 * x * x);
  }
  double coupling(int l, int i, int j) const override {
    if (i < 0 || j < 0 || std::max(i, j) >= projectors(l)) return 0;
    const auto [low, high] = std::minmax(i, j);
    const double h = entry_.channels[at(l)].h[at(high)];
    return low == high ? h : h * off_diagonal(l, low, high);
  }
  double projector_radius(int l) const override { return l >= 0 && l < 3 ? radius_[at(l)] : 0.0; }

  double coarsest_spacing() const override { return coarsest_; }
  double start_density(double r) const override {
    const double a = 0.5 / (entry_.width * entry_.width);
    return valence() * std::pow(a / std::numbers::pi, 1.5) * std::exp(-a * r * r);
  }

private:
  static constexpr double root_2_over_pi = 0.79788456080286535588;

  static double power(double r, int n) noexcept {
    double result = 1;
    for (int k = 0; k < n; ++k) result *= r;
    return result;
  }

  /// The x at which x^n exp(-x^2/2) has fallen to smallest_projector of its maximum at sqrt n. Newton's method from
  /// above on its logarithm, which is concave.
  static double reach(int n) {
    const double peak = n > 0 ? 0.5 * n * (std::log(static_cast<double>(n)) - 1) : 0.0;
    double x = 12;
    for (int step = 0; step < 50; ++step)
      x -= (n * std::log(x) - 0.5 * x * x - peak - std::log(smallest_projector)) / (n / x - x);
    return x;
  }

  GoedeckerEntry entry_;
  std::string symbol_;
  int largest_l_ = -1;
  std::array<int, 3> count_{};                   ///< number of projectors for each l
  std::array<std::array<double, 3>, 3> norm_{};  ///< of projector i of l
  std::array<double, 3> radius_{};               ///< for each l
  double coarsest_ = 0;
};

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_symbol(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::shared_ptr<const Pseudopotential> goedecker(std::string_view symbol, int valence) {
  for (const GoedeckerEntry& entry : detail::goedecker_table())
    if (same_symbol(entry.symbol, symbol) && (valence == 0 || entry.valence == valence))
      return std::make_shared<const Goedecker>(entry);
  const auto valences = goedecker_valences(symbol);
  if (!valences.empty())
    throw core::InvalidArgument(fmt::format("no built-in pseudopotential of {} has {} electrons; {} exist", symbol,
                                            valence, fmt::join(valences, " and ")));
  throw core::InvalidArgument(
      fmt::format("no built-in pseudopotential for element \"{}\"; there are {}; for others read "
                  "a UPF or KY file",
                  symbol, fmt::join(goedecker_symbols(), ", ")));
}

std::vector<std::string> goedecker_symbols() {
  std::vector<std::string> symbols;
  for (const GoedeckerEntry& entry : detail::goedecker_table())
    if (symbols.empty() || symbols.back() != entry.symbol) symbols.emplace_back(entry.symbol);
  return symbols;
}

std::vector<int> goedecker_valences(std::string_view symbol) {
  std::vector<int> valences;
  for (const GoedeckerEntry& entry : detail::goedecker_table())
    if (same_symbol(entry.symbol, symbol)) valences.push_back(entry.valence);
  return valences;
}

}  // namespace halocline::tddft
