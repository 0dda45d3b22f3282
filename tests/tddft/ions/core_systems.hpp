// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Systems whose ions have partial core densities of closed form.

#include "tddft/ions/ion_systems.hpp"

#include <cmath>
#include <memory>
#include <string>

namespace halocline::tddft::test {

/// A built-in pseudopotential with the core c exp(-a r^2) (1 - r^2/R^2)^4.
class WithCore final : public Pseudopotential {
public:
  WithCore(const char* symbol, double density, double exponent)
      : bare_(goedecker(symbol)), density_(density), exponent_(exponent) {}

  const std::string& symbol() const noexcept override { return bare_->symbol(); }
  std::string origin() const override { return "test"; }
  double valence() const noexcept override { return bare_->valence(); }
  std::string functional() const override { return bare_->functional(); }
  double local(double r) const override { return bare_->local(r); }
  double local_slope(double r) const override { return bare_->local_slope(r); }
  double local_fourier(double g) const override { return bare_->local_fourier(g); }
  int largest_l() const noexcept override { return bare_->largest_l(); }
  int projectors(int l) const override { return bare_->projectors(l); }
  double projector(int l, int i, double r) const override { return bare_->projector(l, i, r); }
  double projector_slope(int l, int i, double r) const override { return bare_->projector_slope(l, i, r); }
  double coupling(int l, int i, int j) const override { return bare_->coupling(l, i, j); }
  double projector_radius(int l) const override { return bare_->projector_radius(l); }
  double coarsest_spacing() const override { return bare_->coarsest_spacing(); }
  double start_density(double r) const override { return bare_->start_density(r); }
  double core_density(double r) const override {
    const double edge = 1 - r * r / (radius * radius);
    return edge > 0 ? density_ * std::exp(-exponent_ * r * r) * std::pow(edge, 4) : 0.0;
  }
  double core_slope(double r) const override {
    const double edge = 1 - r * r / (radius * radius);
    return edge > 0 ? -2 * r * (exponent_ + 4 / (radius * radius * edge)) * core_density(r) : 0.0;
  }
  double core_radius() const override { return radius; }

private:
  static constexpr double radius = 2.8;
  std::shared_ptr<const Pseudopotential> bare_;
  double density_, exponent_;
};

/// ion_system() with a core for carbon, which lies near the edge of the cell, and one hydrogen with one.
inline System core_system(Boundary boundary, std::array<std::int64_t, 3> extent = {10, 9, 12}) {
  System system = ion_system(boundary, extent);
  system.species = {std::make_shared<WithCore>("C", 0.4, 0.7), goedecker("H"),
                    std::make_shared<WithCore>("H", 0.2, 1.1)};
  system.atoms[2].species = 2;
  return system;
}

}  // namespace halocline::tddft::test
