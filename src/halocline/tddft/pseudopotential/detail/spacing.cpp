// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/spacing.hpp"

#include "halocline/tddft/pseudopotential/detail/radial.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace halocline::tddft::detail {

namespace {

constexpr double missed_energy = 1e-3;  // [hartree]
constexpr double trusted = 0.8;         // of pi/h
constexpr double q_step = 0.2, q_largest = 50;
constexpr double overlap2 = 0.1;  // p|psi>^2 / <p|p> of a bound orbital, which has little weight inside the core

}  // namespace

double coarsest_spacing(const Pseudopotential& pseudopotential) {
  constexpr double pi = std::numbers::pi;
  double density = 0;
  for (double r = 0; r < 4; r += 0.05) density = std::max(density, pseudopotential.start_density(r));

  const auto q_points = static_cast<std::size_t>(q_largest / q_step);
  std::vector<double> loss(q_points, 0.0);  // dE/dq
  for (std::size_t k = 0; k < q_points; ++k) {
    const double q = q_step * (static_cast<double>(k) + 0.5);
    const double local = pseudopotential.local_fourier(q) - 4 * pi * pseudopotential.valence() / (q * q);
    loss[k] += density / (pi * pi) * local * local;
  }
  for (int l = 0; l <= pseudopotential.largest_l(); ++l)
    for (int i = 0; i < pseudopotential.projectors(l); ++i) {
      const RadialFunction p([&](double r) { return pseudopotential.projector(l, i, r); },
                             pseudopotential.projector_radius(l));
      const double h = pseudopotential.coupling(l, i, i);
      const double electrons = std::min(pseudopotential.valence(), 2.0 * (2 * l + 1));
      const double strength = electrons * overlap2 * p.norm2() * h * h;
      for (std::size_t k = 0; k < q_points; ++k) {
        const double transform = p.bessel_transform(l, q_step * (static_cast<double>(k) + 0.5));
        loss[k] += 2 * strength * transform * transform;
      }
    }
  double missed = 0, q = q_largest;
  for (std::size_t k = q_points; k-- > 0 && missed < missed_energy;) {
    const double more = loss[k] * q_step;
    q -= q_step * std::min(1.0, (missed_energy - missed) / more);
    missed += more;
  }
  return trusted * pi / std::max(q, q_step);
}

}  // namespace halocline::tddft::detail
