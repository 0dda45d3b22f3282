// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/gauge/topological_charge.hpp"

#include <array>
#include <numbers>

#include "halocline/qcd/gauge/detail/rows.hpp"
#include "halocline/qcd/gauge/field_strength.hpp"

namespace halocline::qcd::gauge {

CloverObservables clover_observables(const GaugeField& u) {
  const auto sums = detail::sum_over_sites<3>(u.geometry(), [&](auto kind, const detail::Site& x) {
    using Real = typename decltype(kind)::type;
    const detail::RowLinks<Real> links(u, x);
    Real plaquette = Real(0), energy = Real(0);
    Su3<Real> f[6];
    for (int plane = 0; plane < 6; ++plane) {
      const auto [mu, nu] = field_strength_plane[plane];
      const Su3<Real> loop = detail::plaquette_loop<Real>(links, mu, nu);
      plaquette += trace(loop).re;
      f[plane] = detail::field_strength_of_leaves(loop + detail::other_leaves<Real>(links, mu, nu));
      const Real mean = Real(1.0 / 3.0) * trace(f[plane]).im;
      for (int i = 0; i < 3; ++i) f[plane].e[i][i].im -= mean;
      energy += detail::trace_product(f[plane], f[plane]);
    }
    const Real charge =
        detail::trace_product(f[0], f[5]) - detail::trace_product(f[1], f[4]) + detail::trace_product(f[2], f[3]);
    return std::array<Real, 3>{plaquette, energy, charge};
  });
  const double volume = static_cast<double>(u.geometry().global_volume());
  CloverObservables result;
  result.plaquette = sums[0] / (18 * volume);
  result.energy_plaquette = 36 * (1 - result.plaquette);
  result.energy_clover = -sums[1] / volume;
  result.topological_charge = -sums[2] / (4 * std::numbers::pi * std::numbers::pi);
  return result;
}

double topological_charge(const GaugeField& u) { return clover_observables(u).topological_charge; }
double energy_density(const GaugeField& u) { return clover_observables(u).energy_clover; }

}  // namespace halocline::qcd::gauge
