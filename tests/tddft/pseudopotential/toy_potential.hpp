// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A pseudopotential of closed form for the tests of the nonlocal part, and systems made of it.
///
/// Projectors r^(l + 2 i) exp(-r^2 / 2 w^2) (1 - r^2 / R^2)^4, so that they and three derivatives end at R and finite
/// differences across the edge of the sphere mean something. No local part.

#include "halocline/core/philox.hpp"
#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace halocline::tddft::test {

class ToyPotential final : public Pseudopotential {
public:
  struct Shell {
    int radial;     ///< number of radial functions
    double radius;  ///< R [bohr]
  };

  /// @param shells  of l = 0, 1, ...
  /// @param skew    makes h_01 and h_10 differ by so much
  explicit ToyPotential(std::vector<Shell> shells, double skew = 0) : shells_(std::move(shells)), skew_(skew) {}

  const std::string& symbol() const noexcept override { return symbol_; }
  std::string origin() const override { return "toy"; }
  double valence() const noexcept override { return 1; }
  std::string functional() const override { return ""; }
  double local(double) const override { return 0; }
  double local_slope(double) const override { return 0; }
  double local_fourier(double) const override { return 0; }
  int largest_l() const noexcept override { return static_cast<int>(shells_.size()) - 1; }
  int projectors(int l) const override { return of(l).radial; }
  double projector(int l, int i, double r) const override {
    const double edge = 1 - r * r / (of(l).radius * of(l).radius);
    return r < of(l).radius ? std::pow(r, l + 2 * i) * std::exp(-0.5 * r * r / (width * width)) * std::pow(edge, 4)
                            : 0.0;
  }
  double projector_slope(int l, int i, double r) const override {
    const double square = of(l).radius * of(l).radius, edge = 1 - r * r / square;
    if (r >= of(l).radius) return 0;
    const int n = l + 2 * i;
    const double gauss = std::exp(-0.5 * r * r / (width * width));
    return gauss * std::pow(edge, 3) *
           ((n > 0 ? n * std::pow(r, n - 1) * edge : 0.0) - std::pow(r, n + 1) * edge / (width * width) -
            8 * std::pow(r, n + 1) / square);
  }
  double coupling(int l, int i, int j) const override {
    return (i == j ? 30.0 - 20 * l + 6 * i : -8.0 / (1 + i + j)) + (i < j ? skew_ : 0.0);
  }
  double projector_radius(int l) const override { return of(l).radius; }
  double coarsest_spacing() const override { return 1; }
  double start_density(double) const override { return 0; }

private:
  static constexpr double width = 0.9;
  const Shell& of(int l) const { return shells_[static_cast<std::size_t>(l)]; }

  std::string symbol_ = "X";
  std::vector<Shell> shells_;
  double skew_;
};

/// Species of 4, 18 and 15 projectors, up to l = 3, and one of none.
inline std::vector<std::shared_ptr<const Pseudopotential>> toy_species() {
  using Shells = std::vector<ToyPotential::Shell>;
  return {std::make_shared<ToyPotential>(Shells{{1, 1.6}, {1, 1.9}}),
          std::make_shared<ToyPotential>(Shells{{2, 2.1}, {2, 2.1}, {2, 1.7}}),
          std::make_shared<ToyPotential>(Shells{{3, 1.5}, {0, 0.0}, {1, 1.8}, {1, 2.0}}),
          std::make_shared<ToyPotential>(Shells{})};
}

/// Orbitals drawn by their place in the whole grid, the channel and the state: the same for every division.
inline Orbitals random_orbitals(const Decomposition& decomposition, std::uint64_t seed = 1) {
  Orbitals psi(decomposition);
  const Grid& grid = decomposition.grid();
  const Box& box = decomposition.box();
  for (std::int64_t channel = 0; channel < psi.channels(); ++channel)
    for (std::int64_t block = 0; block < psi.blocks(); ++block) {
      const auto line = static_cast<std::uint32_t>((channel + decomposition.channels().begin) * 1000 + block +
                                                   decomposition.blocks().begin);
      const core::Philox random(seed, line);
      double* to = psi.block(channel, block);
      for (std::int64_t z = 0; z < box.extent[2]; ++z)
        for (std::int64_t y = 0; y < box.extent[1]; ++y)
          for (std::int64_t x = 0; x < box.extent[0]; ++x) {
            const std::int64_t point =
                x + box.offset[0] + grid.extent[0] * (y + box.offset[1] + grid.extent[1] * (z + box.offset[2]));
            auto numbers = random.at(static_cast<std::uint64_t>(point));
            for (int i = 0; i < doubles_per_point; ++i)
              to[box.index(x, y, z) * doubles_per_point + i] = numbers.uniform() - 0.5;
          }
    }
  return psi;
}

}  // namespace halocline::tddft::test
