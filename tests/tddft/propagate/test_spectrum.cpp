// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/spectrum.hpp"

#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

using namespace halocline;
using namespace halocline::tddft;
using Complex = std::complex<double>;
using std::numbers::pi;

namespace {

std::vector<double> steps(double step, int count) {
  std::vector<double> times;
  for (int i = 0; i <= count; ++i) times.push_back(i * step);
  return times;
}

/// The dipole of electrons bound by springs after a kick: sum of kick f_j / omega_j sin(omega_j t).
struct Springs {
  double kick = 0.02;
  std::vector<double> omega{0.3, 0.8}, electrons{1.5, 4.5};

  std::vector<double> dipole(const std::vector<double>& times) const {
    std::vector<double> d;
    for (const double t : times) {
      double sum = 3;  // a dipole that was there before
      for (std::size_t j = 0; j < omega.size(); ++j) sum += kick * electrons[j] / omega[j] * std::sin(omega[j] * t);
      d.push_back(sum);
    }
    return d;
  }
};

}  // namespace

TEST_CASE("spectrum: a damped oscillator has the Lorentzian line of the exponential window") {
  const Springs springs;
  const std::vector<double> times = steps(0.05, 20000), energies{0.1, 0.25, 0.3, 0.31, 0.7, 0.8, 0.85};
  const double width = 0.03;
  const auto alpha = polarisability(times, springs.dipole(times), springs.kick, energies,
                                    {.window = Window::exponential, .width = width});
  for (std::size_t i = 0; i < energies.size(); ++i) {
    Complex expected = 0;  // integral of sin(w t) exp(i z t) = w / (w^2 - z^2), z = omega + i width / 2
    const Complex z(energies[i], width / 2);
    for (std::size_t j = 0; j < 2; ++j)
      expected += springs.electrons[j] / (springs.omega[j] * springs.omega[j] - z * z);
    // The window is down to exp(-15) at the end, the trapezoidal rule off by (omega step)^2 / 12.
    CHECK(std::abs(alpha[i] - expected) < 3e-4 * std::abs(expected));
  }
  CHECK(resolution(times) == doctest::Approx(2 * pi / 1000));
}

TEST_CASE("spectrum: the Gaussian window's line falls to half at half its width") {
  Springs one;
  one.omega = {0.8};
  one.electrons = {2};
  const std::vector<double> times = steps(0.05, 20000), energies{0.8, 0.82};
  const auto alpha =
      polarisability(times, one.dipole(times), one.kick, energies, {.window = Window::gaussian, .width = 0.04});
  CHECK(alpha[1].imag() == doctest::Approx(0.5 * alpha[0].imag()).epsilon(1e-3));
}

TEST_CASE("spectrum: the strength function adds up to the electrons, whatever the window") {
  const Springs springs;
  const std::vector<double> times = steps(0.1, 2000), energies = steps(0.004, 2000);
  for (const SpectrumOptions& options :
       {SpectrumOptions{Window::polynomial, 0}, SpectrumOptions{Window::gaussian, 0.1}}) {
    const auto alpha = polarisability(times, springs.dipole(times), springs.kick, energies, options);
    CHECK(sum_rule(energies, strength(energies, alpha)) == doctest::Approx(6).epsilon(0.002));
  }
}

TEST_CASE("spectrum: the cross-section is 2 pi^2 / c times the strength function") {
  const std::vector<double> energies{0.2, 0.7};
  const std::vector<Complex> alpha{{1, 2}, {3, -4}};
  const auto sigma = cross_section(energies, alpha), s = strength(energies, alpha);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(sigma[i] == doctest::Approx(2 * pi * pi / 137.035999084 * s[i]).epsilon(1e-12));
}

TEST_CASE("spectrum: free electrons give Drude's dielectric function, bound ones Lorentz's") {
  const double density = 0.03, kick = 0.01, width = 0.02;
  const std::vector<double> times = steps(0.02, 60000), energies{0.1, 0.5, 1.0};
  std::vector<double> drude, lorentz;
  const double omega = 0.6;
  for (const double t : times) {
    drude.push_back(density * kick);
    lorentz.push_back(density * kick * std::cos(omega * t));
  }
  const SpectrumOptions options{Window::exponential, width};
  const auto free = dielectric(times, drude, kick, energies, options);
  const auto bound = dielectric(times, lorentz, kick, energies, options);
  for (std::size_t i = 0; i < energies.size(); ++i) {
    const Complex z(energies[i], width / 2);
    const Complex prefactor = 4 * pi * density / energies[i];
    CHECK(std::abs(free[i] - (1.0 - prefactor / z)) < 1e-4 * std::abs(free[i] - 1.0));
    CHECK(std::abs(bound[i] - (1.0 + prefactor * z / (omega * omega - z * z))) < 1e-4 * std::abs(bound[i] - 1.0));
  }
}

TEST_CASE("spectrum: the mean over three kicks is the mean of the diagonal") {
  const std::vector<std::vector<Complex>> three{{{1, 2}, {0, 1}}, {{2, 0}, {0, 3}}, {{3, 4}, {0, 5}}};
  const auto mean = mean_of(three);
  CHECK(std::abs(mean[0] - Complex(2, 2)) < 1e-15);
  CHECK(std::abs(mean[1] - Complex(0, 3)) < 1e-15);
}

TEST_CASE("spectrum: peaks are found between the points") {
  std::vector<double> energies, values;
  for (double e = 0; e < 2; e += 0.03) {
    energies.push_back(e);
    values.push_back(5 - 40 * (e - 0.517) * (e - 0.517));
    if (e > 1) values.back() = 0.02 - std::abs(e - 1.5);
  }
  const auto found = peaks(energies, values, 0.1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].energy == doctest::Approx(0.517).epsilon(1e-10));
  CHECK(found[0].height == doctest::Approx(5).epsilon(1e-10));
}

TEST_CASE("spectrum: what has no spectrum is refused") {
  const std::vector<double> times = steps(0.1, 100), values(101, 1.0), energies{0.5};
  CHECK_THROWS_AS(polarisability(times, values, 0, energies), core::InvalidArgument);
  CHECK_THROWS_AS(transform(times, std::vector<double>(7, 1.0), energies, {}), core::InvalidArgument);
  CHECK_THROWS_AS(transform(times, values, energies, {Window::gaussian, 0}), core::InvalidArgument);
  CHECK_THROWS_AS(transform(times, values, std::vector<double>{40.0}, {}), core::InvalidArgument);
  CHECK_THROWS_AS(dielectric(times, values, 1, std::vector<double>{0.0}), core::InvalidArgument);
  std::vector<double> uneven = times;
  uneven[50] += 0.01;
  CHECK_THROWS_AS(resolution(uneven), core::InvalidArgument);
  CHECK_THROWS_AS(resolution(std::vector<double>{1, 2, 3, 4}), core::InvalidArgument);
  CHECK_THROWS_AS(window_from("hann"), core::InvalidArgument);
  CHECK(window_from("lorentzian") == Window::exponential);
}

TEST_CASE("spectrum: a constant in a crystal's current spoils epsilon at low energies, and is subtracted") {
  // Electrons bound by springs: J = kappa n cos(omega_0 t), epsilon(0) = 1 + 4 pi n / omega_0^2.
  constexpr double kick = 0.01, density = 0.03, omega = 0.15;
  const std::vector<double> times = steps(0.1, 20000), energies{0.002, 0.05, 0.1};
  const double exact = 1 + 4 * pi * density / (omega * omega);
  const auto current = [&](double constant) {
    std::vector<double> j;
    for (const double t : times) j.push_back(kick * density * (std::cos(omega * t) + constant));
    return j;
  };
  for (const Window window : {Window::polynomial, Window::gaussian, Window::exponential}) {
    const SpectrumOptions kept{window, 0.01, false}, subtracted{window, 0.01, true};
    const auto clean = dielectric(times, current(0), kick, energies, kept);
    const auto spoilt = dielectric(times, current(0.02), kick, energies, kept);
    const auto mended = dielectric(times, current(0.02), kick, energies, subtracted);
    // A constant c adds 4 pi c / kappa integral of t w to Re epsilon(0): some multiple of T^2 or 1 / width^2.
    CHECK(std::abs(spoilt[0].real() - exact) > 5 * exact);
    // What remains of the mean of the oscillation, (omega_0 T)^-3, times T^2: of order 4 / (omega_0 T) = 0.013.
    for (std::size_t i = 0; i < energies.size(); ++i) CHECK(std::abs(mended[i] - clean[i]) < 0.02 * std::abs(clean[i]));
    CHECK(mended[0].real() == doctest::Approx(exact).epsilon(0.02));  // lines of a width of 0.01 at 0.15
  }
  CHECK(drift(times, current(0.02)) == doctest::Approx(0.02 * kick * density).epsilon(1e-4));
  // The absorption knows epsilon(0) in either case, to 30 / (omega_0 T)^2.
  CHECK(static_dielectric(times, current(0.02), kick) == doctest::Approx(exact).epsilon(5e-4));
  CHECK(static_dielectric(times, current(0), kick) == doctest::Approx(exact).epsilon(5e-4));
}
