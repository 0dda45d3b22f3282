// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/kinetic_sum.hpp"

#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>

namespace halocline::tddft {

KineticSum::KineticSum(const Decomposition& decomposition, const System& system)
    : decomposition_(decomposition),
      symmetries_(system.symmetries),
      points_(size(decomposition.box().points())),
      spins_(system.spins),
      of_channel_(kinetic_sums * points_),
      sums_(size(spins_) * kinetic_sums * points_) {}

void KineticSum::clear() {
  std::ranges::fill(of_channel_, 0.0);
  std::ranges::fill(sums_, 0.0);
}

void KineticSum::add(Hamiltonian& hamiltonian, const double* psi, std::int64_t blocks,
                     std::span<const double> weights) {
  const core::Region region("tddft/kinetic energy density");
  const std::int64_t doubles = static_cast<std::int64_t>(points_) * doubles_per_point;
  for (std::int64_t b = 0; b < blocks; ++b)
    hamiltonian.stencil().add_kinetic(
        of_channel_, psi + b * doubles,
        std::span<const double, orbital_lanes>(weights.data() + b * orbital_lanes, orbital_lanes));
}

void KineticSum::finish_channel(int spin, const Vec3& k) {
  double* const to = sums_.data() + size(spin) * kinetic_sums * points_;
  const double* const from = of_channel_.data();
  for (std::size_t i = 0; i < points_; ++i) {
    const double n = from[i];
    to[i] += n;
    double tau = from[points_ + i];
    for (std::size_t a = 0; a < 3; ++a) {
      const double j = from[(2 + a) * points_ + i];
      tau += k[a] * (2 * j + k[a] * n);
      to[(2 + a) * points_ + i] += j + k[a] * n;
      to[(5 + a) * points_ + i] += from[(5 + a) * points_ + i];
    }
    to[points_ + i] += 0.5 * tau;
  }
  std::ranges::fill(of_channel_, 0.0);
}

void KineticSum::finish(KineticFields& fields, bool flowing) {
  const core::Region region("tddft/kinetic energy density");
  decomposition_.box_mates().sum(sums_);
  const auto spins = size(spins_);
  fields.density.resize(spins * points_);
  fields.gradient.resize(3 * spins * points_);
  fields.velocity.resize(flowing ? 3 * spins * points_ : 0);
  for (std::size_t s = 0; s < spins; ++s) {
    const std::span<double> of_spin = std::span(sums_).subspan(s * kinetic_sums * points_, kinetic_sums * points_);
    for (const std::size_t k : {0, 1}) symmetrise(of_spin.subspan(k * points_, points_), decomposition_, symmetries_);
    for (const std::size_t k : {2, 5})
      symmetrise_vectors(of_spin.subspan(k * points_, 3 * points_), decomposition_, symmetries_);
    std::ranges::copy(of_spin.subspan(5 * points_),
                      fields.gradient.begin() + static_cast<std::ptrdiff_t>(3 * s * points_));
    for (std::size_t i = 0; i < points_; ++i) {
      const double* const at = of_spin.data() + i;
      double tau = at[points_];
      for (std::size_t a = 0; flowing && a < 3; ++a) {
        const double u = at[0] > 0 ? at[(2 + a) * points_] / at[0] : 0.0;
        tau -= 0.5 * u * at[(2 + a) * points_];
        fields.velocity[(3 * s + a) * points_ + i] = u;
      }
      fields.density[s * points_ + i] = std::max(tau, 0.0);
    }
  }
}

}  // namespace halocline::tddft
