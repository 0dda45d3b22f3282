// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/characters.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/nonlocal.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"
#include "halocline/tddft/pseudopotential/spherical_harmonics.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include <fmt/core.h>

namespace halocline::tddft {
namespace {

constexpr int functions = 4;  ///< radial ones of an l

/// The first arguments x at which the slope of j_l is zero; 0 among them for l = 0, where the function is constant.
std::array<double, functions> flat_points(int l) {
  const auto order = static_cast<unsigned>(l);
  const auto slope = [&](double x) {
    return l == 0 ? -std::sph_bessel(1U, x) : std::sph_bessel(order - 1, x) - (l + 1) / x * std::sph_bessel(order, x);
  };
  std::array<double, functions> found{};
  std::size_t n = l == 0 ? 1 : 0;
  constexpr double step = 0.05;
  for (double x = step; n < found.size(); x += step) {
    double low = x, high = x + step;
    if (slope(low) * slope(high) > 0) continue;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (slope(low) * slope(middle) <= 0 ? high : low) = middle;
    }
    found[n++] = 0.5 * (low + high);
  }
  return found;
}

/// A species whose projectors are the functions of one l in a sphere. It has no potential.
class Spheres : public Pseudopotential {
public:
  Spheres(int l, double radius) : l_(l), radius_(radius), flat_(flat_points(l)) {
    for (std::size_t n = 0; n < flat_.size(); ++n) {
      constexpr int steps = 2000;
      double norm = 0;
      for (int i = 0; i < steps; ++i) {
        const double r = radius * (i + 0.5) / steps, f = bare(n, r);
        norm += f * f * r * r * radius / steps;
      }
      scale_[n] = 1 / std::sqrt(norm);
    }
  }
  const std::string& symbol() const noexcept override { return symbol_; }
  std::string origin() const override { return "spheres"; }
  double valence() const noexcept override { return 0; }
  std::string functional() const override { return {}; }
  double local(double) const override { return 0; }
  double local_slope(double) const override { return 0; }
  double local_fourier(double) const override { return 0; }
  int largest_l() const noexcept override { return l_; }
  int projectors(int l) const override { return l == l_ ? functions : 0; }
  double projector(int l, int i, double r) const override {
    return l == l_ && r < radius_ ? scale_[size(i)] * bare(size(i), r) : 0.0;
  }
  double projector_slope(int, int, double) const override { return 0; }
  double coupling(int l, int i, int j) const override { return l == l_ && i == j ? 1.0 : 0.0; }
  double projector_radius(int l) const override { return l == l_ ? radius_ : 0.0; }
  double coarsest_spacing() const override { return radius_; }
  double start_density(double) const override { return 0; }

private:
  double bare(std::size_t n, double r) const {
    return std::sph_bessel(static_cast<unsigned>(l_), flat_[n] * r / radius_);
  }

  std::string symbol_ = "sphere";
  int l_;
  double radius_;
  std::array<double, functions> flat_, scale_{};
};

}  // namespace

std::vector<double> characters(const Model& model, const State& state, int species, int l, double radius) {
  const core::Region region("tddft/characters");
  const Decomposition& decomposition = model.decomposition();
  const System& system = model.system();
  comm::on_every_rank(decomposition.world(), [&] {
    if (l < 0 || l > largest_harmonic_l)
      throw core::InvalidArgument(
          fmt::format("characters of l = {} asked for; 0 to {} expected", l, largest_harmonic_l));
    if (species < 0 || species >= static_cast<int>(system.species.size()))
      throw core::InvalidArgument(fmt::format("characters of species {} asked for; there are {}, counted from 0",
                                              species, system.species.size()));
    if (!(radius > 0) || !std::isfinite(radius))
      throw core::InvalidArgument(fmt::format("spheres of radius {:g} bohr given; a positive one expected", radius));
  });
  System alone = system;
  std::erase_if(alone.atoms, [&](const Atom& atom) { return atom.species != species; });
  alone.species[size(species)] = std::make_shared<Spheres>(l, radius);
  Nonlocal spheres(alone, decomposition);
  std::vector<Vec3> k;
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel)
    k.push_back(system.channels[size(decomposition.channels().begin + channel)].k);
  spheres.set_phases(k);

  const auto states = size(system.states);
  std::vector<double> found(system.channels.size() * states, 0.0);
  const std::int64_t blocks = state.orbitals.blocks();
  std::vector<double> norms(size(blocks * orbital_lanes));
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    if (blocks == 0) continue;
    spheres.energy(channel, state.orbitals.block(channel, 0), blocks, norms);
    for (std::int64_t block = 0; block < blocks; ++block)
      for (int lane = 0; lane < orbital_lanes; ++lane)
        if (const int number = model.state_number(block, lane); number >= 0)
          found[size(decomposition.channels().begin + channel) * states + size(number)] =
              norms[size(block * orbital_lanes + lane)];
  }
  decomposition.box_mates().sum(found);
  return found;
}

}  // namespace halocline::tddft
