// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/propagate/spectrum.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;
using core::InvalidArgument;
using std::numbers::pi;

constexpr double speed_of_light = 137.035999084;  // CODATA 2018: 1 / fine-structure constant

void same_length(std::size_t a, std::size_t b, const char* first, const char* second) {
  if (a != b)
    throw InvalidArgument(fmt::format("{} {} and {} {} given, as many of each expected", a, first, b, second));
}

void check_kick(double kick) {
  if (kick == 0 || !std::isfinite(kick))
    throw InvalidArgument(
        fmt::format("kick {} given; a spectrum needs the kick along its axis, which is not zero", kick));
}

}  // namespace

Window window_from(std::string_view name) {
  if (name == "none") return Window::none;
  if (name == "exponential" || name == "lorentzian") return Window::exponential;
  if (name == "gaussian") return Window::gaussian;
  if (name == "polynomial") return Window::polynomial;
  throw InvalidArgument(
      fmt::format("window '{}' given; there are none, exponential (lorentzian), gaussian, polynomial", name));
}

double resolution(std::span<const double> times) {
  if (times.size() < 4) throw InvalidArgument(fmt::format("{} times given, at least 4 expected", times.size()));
  const double step = times[1] - times[0], last = times.back();
  if (!(step > 0) || !(std::abs(times[0]) <= 1e-6 * step))
    throw InvalidArgument(
        fmt::format("times {}, {}, ... given; they must grow in equal steps from 0", times[0], times[1]));
  for (std::size_t i = 2; i < times.size(); ++i)
    if (!(std::abs(times[i] - static_cast<double>(i) * step) <= 1e-6 * step + 1e-12 * last))
      throw InvalidArgument(fmt::format("time {} has number {} where {} is expected: steps must be equal", times[i], i,
                                        static_cast<double>(i) * step));
  return 2 * pi / last;
}

double window_value(const SpectrumOptions& options, double t, double length) {
  switch (options.window) {
  case Window::exponential:
    return std::exp(-0.5 * options.width * t);
  case Window::gaussian:
    return std::exp(-options.width * options.width * t * t / (16 * std::numbers::ln2));
  case Window::polynomial: {
    const double s = t / length;
    return 1 - 3 * s * s + 2 * s * s * s;
  }
  case Window::none:
    break;
  }
  return 1;
}

std::vector<Complex> transform(std::span<const double> times, std::span<const double> values,
                               std::span<const double> energies, const SpectrumOptions& options) {
  same_length(times.size(), values.size(), "times", "values");
  static_cast<void>(resolution(times));
  const bool wide = options.window == Window::exponential || options.window == Window::gaussian;
  if (wide && !(options.width > 0 && std::isfinite(options.width)))
    throw InvalidArgument(
        fmt::format("width {} hartree given, a positive one expected for this window", options.width));
  const double step = times[1] - times[0];
  std::vector<double> windowed(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double end = i == 0 || i + 1 == times.size() ? 0.5 : 1.0;
    windowed[i] = end * step * values[i] * window_value(options, times[i], times.back());
  }
  std::vector<Complex> result;
  result.reserve(energies.size());
  for (const double energy : energies) {
    if (!(std::abs(energy) <= pi / step))
      throw InvalidArgument(fmt::format("energy {} hartree asked for; steps of {} a.u. tell energies up to {} apart",
                                        energy, step, pi / step));
    Complex sum = 0;
    for (std::size_t i = 0; i < times.size(); ++i) sum += windowed[i] * std::polar(1.0, energy * times[i]);
    result.push_back(sum);
  }
  return result;
}

std::vector<Complex> polarisability(std::span<const double> times, std::span<const double> dipole, double kick,
                                    std::span<const double> energies, const SpectrumOptions& options) {
  check_kick(kick);
  std::vector<double> induced(dipole.begin(), dipole.end());
  for (double& d : induced) d -= dipole[0];
  std::vector<Complex> alpha = transform(times, induced, energies, options);
  for (Complex& a : alpha) a /= kick;
  return alpha;
}

std::vector<Complex> mean_of(std::span<const std::vector<Complex>> elements) {
  if (elements.empty()) throw InvalidArgument("a mean of no polarisabilities asked for, at least one expected");
  std::vector<Complex> mean(elements[0].size());
  for (const auto& element : elements) {
    same_length(mean.size(), element.size(), "values", "values of another kick");
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += element[i] / static_cast<double>(elements.size());
  }
  return mean;
}

std::vector<double> cross_section(std::span<const double> energies, std::span<const Complex> alpha) {
  same_length(energies.size(), alpha.size(), "energies", "polarisabilities");
  std::vector<double> sigma(alpha.size());
  for (std::size_t i = 0; i < alpha.size(); ++i) sigma[i] = 4 * pi * energies[i] / speed_of_light * alpha[i].imag();
  return sigma;
}

std::vector<double> strength(std::span<const double> energies, std::span<const Complex> alpha) {
  same_length(energies.size(), alpha.size(), "energies", "polarisabilities");
  std::vector<double> s(alpha.size());
  for (std::size_t i = 0; i < alpha.size(); ++i) s[i] = 2 * energies[i] / pi * alpha[i].imag();
  return s;
}

std::vector<double> rotatory_strength(std::span<const double> times, std::span<const double> turning, double kick,
                                      std::span<const double> energies, const SpectrumOptions& options) {
  check_kick(kick);
  std::vector<double> found;
  for (const Complex& l : transform(times, turning, energies, options)) found.push_back(l.real() / (2 * pi * kick));
  return found;
}

double sum_rule(std::span<const double> energies, std::span<const double> strengths) {
  same_length(energies.size(), strengths.size(), "energies", "strengths");
  double sum = 0;
  for (std::size_t i = 1; i < energies.size(); ++i)
    sum += 0.5 * (energies[i] - energies[i - 1]) * (strengths[i] + strengths[i - 1]);
  return sum;
}

double drift(std::span<const double> times, std::span<const double> current) {
  const std::vector<double> ones(times.size(), 1.0);
  const std::array zero{0.0};
  const SpectrumOptions polynomial{};
  return tddft::transform(times, current, zero, polynomial)[0].real() /
         tddft::transform(times, ones, zero, polynomial)[0].real();
}

double static_dielectric(std::span<const double> times, std::span<const double> current, double kick) {
  check_kick(kick);
  same_length(times.size(), current.size(), "times", "currents");
  const double length = 2 * pi / resolution(times), step = times[1] - times[0];
  double whole = 0, mean = 0, time = 0, moment = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double t = times[i], half = i == 0 || i + 1 == times.size() ? 0.5 : 1.0;
    const double weight = half * step * std::pow(std::cos(0.5 * pi * t / length), 4);
    whole += weight;
    mean += weight * current[i];
    time += weight * t;
    moment += weight * t * current[i];
  }
  return 1 - 4 * pi / kick * (moment - time * mean / whole);
}

std::vector<Complex> dielectric(std::span<const double> times, std::span<const double> current, double kick,
                                std::span<const double> energies, const SpectrumOptions& options) {
  check_kick(kick);
  std::vector<double> swinging(current.begin(), current.end());
  if (options.subtract_drift)
    for (const double constant = drift(times, current); double& j : swinging) j -= constant;
  std::vector<Complex> epsilon = transform(times, swinging, energies, options);
  for (std::size_t i = 0; i < energies.size(); ++i) {
    if (!(energies[i] > 0))
      throw InvalidArgument(fmt::format("energy {} hartree asked for, a positive one expected: the dielectric function "
                                        "of a conductor has a pole at zero",
                                        energies[i]));
    epsilon[i] = 1.0 + Complex(0, 4 * pi / (kick * energies[i])) * epsilon[i];
  }
  return epsilon;
}

std::vector<Peak> peaks(std::span<const double> energies, std::span<const double> values, double fraction) {
  same_length(energies.size(), values.size(), "energies", "values");
  std::vector<Peak> found;
  double highest = 0;
  for (const double value : values) highest = std::max(highest, value);
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    if (!(values[i] > values[i - 1] && values[i] >= values[i + 1] && values[i] >= fraction * highest)) continue;
    // Newton's form of the parabola through the three points.
    const double x0 = energies[i - 1], x1 = energies[i], x2 = energies[i + 1];
    const double first = (values[i] - values[i - 1]) / (x1 - x0), second = (values[i + 1] - values[i]) / (x2 - x1);
    const double curvature = (second - first) / (x2 - x0);
    const double top = 0.5 * (x0 + x1) - 0.5 * first / curvature;
    found.push_back({top, values[i - 1] + (top - x0) * (first + curvature * (top - x1))});
  }
  return found;
}

}  // namespace halocline::tddft
