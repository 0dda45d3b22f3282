// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small systems whose motion is known, or at least smooth on a coarse grid.

#include "halocline/comm/group/communicator.hpp"
#include "halocline/core/philox.hpp"
#include "halocline/tddft/model/model.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace soft {

using namespace halocline;
using namespace halocline::tddft;
using Complex = std::complex<double>;

/// An ion without structure: what it does is said by the classes below.
class Ion : public Pseudopotential {
public:
  Ion(std::string symbol, double valence) : symbol_(std::move(symbol)), valence_(valence) {}
  const std::string& symbol() const noexcept override { return symbol_; }
  std::string origin() const override { return "test"; }
  double valence() const noexcept override { return valence_; }
  std::string functional() const override { return {}; }
  double local(double) const override { return 0; }
  double local_slope(double) const override { return 0; }
  double local_fourier(double) const override { return 0; }
  int largest_l() const noexcept override { return -1; }
  int projectors(int) const override { return 0; }
  double projector(int, int, double) const override { return 0; }
  double projector_slope(int, int, double) const override { return 0; }
  double coupling(int, int, int) const override { return 0; }
  double projector_radius(int) const override { return 0; }
  double coarsest_spacing() const override { return 10; }
  double start_density(double r) const override {
    return valence_ * std::pow(std::numbers::pi, -1.5) * std::exp(-r * r);
  }

private:
  std::string symbol_;
  double valence_;
};

/// V = 0 in a periodic cell: the short-range part takes the Coulomb part away again.
class Nothing : public Ion {
public:
  using Ion::Ion;
  double local_fourier(double g) const override { return g > 0 ? 4 * std::numbers::pi * valence() / (g * g) : 0.0; }
};

/// V = omega^2 r^2 / 2, for isolated boxes.
class Trap : public Ion {
public:
  Trap(double omega, double electrons) : Ion("Trap", electrons), omega_(omega) {}
  double local(double r) const override { return 0.5 * omega_ * omega_ * r * r; }
  double local_slope(double r) const override { return omega_ * omega_ * r; }

private:
  double omega_;
};

/// A charge Z smeared out as a Gaussian of width s, and, with `strength`, one Gaussian projector for l = 0 and l = 1.
class SoftIon : public Ion {
public:
  SoftIon(double valence, double s, double strength = 0) : Ion("Soft", valence), s_(s), strength_(strength) {}
  double local(double r) const override {
    return r < 1e-6 ? -valence() * std::sqrt(2 / std::numbers::pi) / s_
                    : -valence() * std::erf(r / (std::numbers::sqrt2 * s_)) / r;
  }
  double local_slope(double r) const override {
    const double gauss = std::sqrt(2 / std::numbers::pi) / s_ * std::exp(-0.5 * r * r / (s_ * s_));
    return r < 1e-6 ? 0.0 : valence() * (std::erf(r / (std::numbers::sqrt2 * s_)) / r - gauss) / r;
  }
  double local_fourier(double g) const override {
    return g > 0 ? 4 * std::numbers::pi * valence() * -std::expm1(-0.5 * g * g * s_ * s_) / (g * g)
                 : 2 * std::numbers::pi * valence() * s_ * s_;
  }
  int largest_l() const noexcept override { return strength_ == 0 ? -1 : 1; }
  int projectors(int l) const override { return strength_ == 0 || l > 1 ? 0 : 1; }
  double projector(int l, int, double r) const override {
    return r < 3.0 ? std::pow(r, l) * std::exp(-1.2 * r * r) : 0.0;
  }
  double projector_slope(int l, int, double r) const override {
    return r < 3.0 ? (l * (l > 0 ? 1.0 : 0.0) - 2.4 * r * std::pow(r, l)) * std::exp(-1.2 * r * r) : 0.0;
  }
  double coupling(int l, int, int) const override { return l == 0 ? strength_ : -0.5 * strength_; }
  double projector_radius(int) const override { return strength_ == 0 ? 0.0 : 3.0; }

private:
  double s_, strength_;
};

inline System isolated(std::int64_t n, double h, std::shared_ptr<const Pseudopotential> ion, double electrons,
                       int states) {
  System system;
  system.grid = {{n, n, n}, {h, h, h}, Boundary::isolated};
  system.species = {std::move(ion)};
  system.atoms = {{0, {0, 0, 0}}};
  system.electrons = electrons;
  system.states = states;
  return system;
}

/// A box of different lengths, so that no axis can be taken for another.
inline System periodic(std::shared_ptr<const Pseudopotential> ion, double electrons, int states,
                       std::array<int, 3> k = {1, 1, 1}, int spins = 1) {
  System system;
  system.grid = {{8, 9, 10}, {0.9, 0.8, 0.75}, Boundary::periodic};
  system.species = {std::move(ion)};
  system.atoms = {{0, {1.1, 2.3, 3.2}}, {0, {4.0, 5.0, 5.9}}};
  system.spins = spins;
  system.channels = monkhorst_pack(system.grid, k, {}, false, spins);
  system.electrons = electrons;
  system.states = states;
  return system;
}

/// Sets every orbital from a function of (global channel, state, x, y, z); occupations from below, the last fractional.
inline State state_of(const Model& model, const std::function<Complex(std::int64_t, int, double, double, double)>& f) {
  State state = model.empty_state();
  const Decomposition& d = model.decomposition();
  const Box& box = d.box();
  for (std::int64_t c = 0; c < state.orbitals.channels(); ++c)
    for (std::int64_t b = 0; b < state.orbitals.blocks(); ++b)
      for (int lane = 0; lane < orbital_lanes; ++lane) {
        const int number = model.state_number(b, lane);
        if (number < 0) continue;
        double* out = state.orbitals.block(c, b) + 2 * lane;
        for (std::int64_t z = 0; z < box.extent[2]; ++z)
          for (std::int64_t y = 0; y < box.extent[1]; ++y)
            for (std::int64_t x = 0; x < box.extent[0]; ++x, out += doubles_per_point) {
              const Complex value = f(d.channels().begin + c, number, d.grid().position(0, box.offset[0] + x),
                                      d.grid().position(1, box.offset[1] + y), d.grid().position(2, box.offset[2] + z));
              out[0] = value.real();
              out[1] = value.imag();
            }
      }
  const System& system = model.system();
  const double channel_electrons = system.electrons / system.spins;
  for (std::size_t c = 0; c < system.channels.size(); ++c)
    for (int i = 0; i < system.states; ++i)
      state.occupations[c * static_cast<std::size_t>(system.states) + static_cast<std::size_t>(i)] =
          std::clamp(channel_electrons - i * system.full(), 0.0, system.full());
  return state;
}

/// A few plane waves of the lowest wave vectors with coefficients drawn by (channel, state): smooth, normalised, and
/// the same whatever the division.
inline State waves(const Model& model) {
  const Grid& grid = model.system().grid;
  return state_of(model, [&](std::int64_t channel, int state, double x, double y, double z) {
    const core::Philox random(7);
    auto numbers = random.at(static_cast<std::uint64_t>(channel * 1000 + state));
    Complex sum = 0;
    double norm = 0;
    for (int gz = -1; gz <= 1; ++gz)
      for (int gy = -1; gy <= 1; ++gy)
        for (int gx = -1; gx <= 1; ++gx) {
          const double re = numbers.uniform() - 0.5, im = numbers.uniform() - 0.5;
          norm += re * re + im * im;
          sum += Complex(re, im) *
                 std::polar(1.0, 2 * std::numbers::pi *
                                     (gx * x / grid.length(0) + gy * y / grid.length(1) + gz * z / grid.length(2)));
        }
    return sum / std::sqrt(norm * grid.volume());
  });
}

/// States of the harmonic oscillator of frequency omega, one quantum along axis state - 1 for states 1 to 3.
inline State oscillator(const Model& model, double omega) {
  return state_of(model, [omega](std::int64_t, int state, double x, double y, double z) {
    const double ground = std::pow(omega / std::numbers::pi, 0.75) * std::exp(-0.5 * omega * (x * x + y * y + z * z));
    const double along[] = {1, x, y, z};
    return Complex(ground * (state == 0 ? 1.0 : std::sqrt(2 * omega) * along[state % 4]));
  });
}

/// Without the trial of both ways to solve Poisson's equation, which takes longer than most tests here.
inline const ModelOptions no_trial{.hartree = HartreeShare::redundant};

inline Model model_of(System system, const ModelOptions& options = no_trial) {
  return Model(std::move(system), comm::Communicator::self(), {}, options);
}

}  // namespace soft
