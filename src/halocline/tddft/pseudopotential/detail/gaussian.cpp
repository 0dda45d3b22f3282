// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/gaussian.hpp"

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/detail/spacing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace halocline::tddft::detail {

namespace {

constexpr double smallest_projector = 1e-6;  // fraction of its maximum at which a projector is cut off
constexpr double nothing_left = 10;          // in r_loc: beyond it erfc(10/sqrt 2) and 10^6 exp(-50) are below 1e-15

class Gaussian final : public Pseudopotential {
public:
  explicit Gaussian(GaussianParameters parameters) : entry_(std::move(parameters)) {
    if (entry_.width == 0) entry_.width = average_width;
    for (int l = 0; l < channels; ++l) {
      const auto& channel = entry_.channels[at(l)];
      if (channel.count == 0) continue;
      largest_l_ = l;
      for (int i = 0; i < channel.count; ++i) {
        const int power = l + 2 * i;
        norm_[at(l)][at(i)] =
            std::sqrt(2 / std::tgamma(power + 1.5)) / std::pow(channel.radius, static_cast<double>(power) + 1.5);
        radius_[at(l)] = std::max(radius_[at(l)], channel.radius * reach(power));
      }
    }
    coarsest_ = detail::coarsest_spacing(*this);
  }

  const std::string& symbol() const noexcept override { return entry_.symbol; }
  std::string origin() const override { return entry_.origin; }
  double valence() const noexcept override { return entry_.valence; }
  std::string functional() const override { return entry_.functional; }

  double local(double r) const override {
    const double x = r / entry_.local_radius;
    if (x > nothing_left) return -valence() / r;
    const auto& c = entry_.c;
    const double x2 = x * x;
    const double polynomial = c[0] + x2 * (c[1] + x2 * (c[2] + x2 * c[3]));
    const double coulomb = x > 1e-4 ? std::erf(x / std::numbers::sqrt2) / x : root_2_over_pi * (1 - x2 / 6);
    return -valence() / entry_.local_radius * coulomb + std::exp(-0.5 * x2) * polynomial;
  }

  double local_radius() const override { return nothing_left * entry_.local_radius; }
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
  int projectors(int l) const override { return l >= 0 && l < channels ? entry_.channels[at(l)].count : 0; }
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
    return entry_.channels[at(l)].h[at(i)][at(j)];
  }
  double projector_radius(int l) const override { return l >= 0 && l < channels ? radius_[at(l)] : 0.0; }

  double coarsest_spacing() const override { return coarsest_; }
  double start_density(double r) const override {
    const double a = 0.5 / (entry_.width * entry_.width);
    const double b = a / std::numbers::pi;
    return valence() * b * std::sqrt(b) * std::exp(-a * r * r);
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

  static constexpr int channels = 4;
  static constexpr double average_width = 1.2;  // [bohr]

  GaussianParameters entry_;
  int largest_l_ = -1;
  std::array<std::array<double, 3>, channels> norm_{};  ///< of projector i of l
  std::array<double, channels> radius_{};               ///< for each l
  double coarsest_ = 0;
};

}  // namespace

double hgh_off_diagonal(int l, int i, int j) {
  // h_12/h_22, h_13/h_33, h_23/h_33, squared.
  static constexpr std::array<std::array<double, 3>, 3> squares{
      {{3.0 / 20, 5.0 / 84, 25.0 / 63}, {5.0 / 28, 35.0 / 396, 49.0 / 99}, {7.0 / 36, 63.0 / 572, 81.0 / 143}}};
  const int which = j == 1 ? 0 : 1 + i;
  const double magnitude = std::sqrt(squares[at(l)][at(which)]);
  return which == 1 ? magnitude : -magnitude;
}

std::string gaussian_fault(const GaussianParameters& parameters) {
  constexpr double largest_radius = 10, largest_energy = 1e6;
  if (!(parameters.valence > 0 && parameters.valence < 120))
    return fmt::format("the valence charge is {:g}; a positive one below 120 expected", parameters.valence);
  if (!(parameters.local_radius > 0.01 && parameters.local_radius < largest_radius))
    return fmt::format("r_loc is {:g} bohr; from 0.01 to {:g} expected", parameters.local_radius, largest_radius);
  for (const double c : parameters.c)
    if (!(std::abs(c) < largest_energy)) return fmt::format("{:g} is no coefficient of the local potential", c);
  for (const auto& channel : parameters.channels) {
    if (channel.count == 0) continue;
    if (!(channel.radius > 0.01 && channel.radius < largest_radius))
      return fmt::format("the radius of a projector is {:g} bohr; from 0.01 to {:g} expected", channel.radius,
                         largest_radius);
    for (const auto& row : channel.h)
      for (const double h : row)
        if (!(std::abs(h) < largest_energy)) return fmt::format("{:g} is no coupling of projectors", h);
  }
  return "";
}

std::shared_ptr<const Pseudopotential> make_gaussian(GaussianParameters parameters) {
  return std::make_shared<const Gaussian>(std::move(parameters));
}

}  // namespace halocline::tddft::detail
