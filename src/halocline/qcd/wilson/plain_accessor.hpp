// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The accessor of the per-site kernels (site/hop.hpp) at one site of plain fields: spinors with ghost sites, and the
/// links of the gauge field itself.

#include <complex>
#include <span>

#include "halocline/lattice/ghost_field.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/site/hop.hpp"

namespace halocline::qcd::wilson {

/// Copies a canonical array [t][z][y][x][spin][colour] into a field with one layer of ghosts, and fills the ghosts.
/// The component is 2 (3 spin + colour), plus 1 for the imaginary part. Collective: yes.
inline lattice::GhostField<double> with_ghosts(const std::shared_ptr<const lattice::Geometry4>& geometry,
                                               std::span<const std::complex<double>> canonical) {
  lattice::GhostField<double> psi(geometry, 24, 1);
  for (std::int64_t site = 0; site < geometry->local_volume(); ++site)
    for (int k = 0; k < 12; ++k) {
      const auto x = lattice::coordinates_of<4>(site, geometry->local());
      psi.at(x, 2 * k) = canonical[static_cast<std::size_t>(12 * site + k)].real();
      psi.at(x, 2 * k + 1) = canonical[static_cast<std::size_t>(12 * site + k)].imag();
    }
  psi.exchange_ghosts();
  return psi;
}

struct PlainAccessor {
  const lattice::GhostField<double>& psi;  ///< from with_ghosts()
  const GaugeField& gauge;
  const WilsonCloverAction& action;
  lattice::Coordinates<4> x;

  lattice::Coordinates<4> neighbour(int d) const {
    auto y = x;
    y[d % 4] += d < 4 ? 1 : -1;
    return y;
  }

  template <int d, int sign>
  HalfSpinor<double> half() const {
    const auto y = neighbour(d);
    return project<d % 4, sign, double>([&](int colour, int spin) {
      const int component = 2 * (3 * spin + colour);
      return Complex<double>{psi.at(y, component), psi.at(y, component + 1)};
    });
  }

  template <int d>
  Complex<double> link(int row, int column) const {
    constexpr int mu = d % 4;
    const auto from = d < 4 ? x : neighbour(d);
    const auto edge = gauge.geometry().global()[mu];
    std::complex<double> factor = action.hopping(mu);
    if ((gauge.geometry().offset()[mu] + from[mu] + edge) % edge == edge - 1) factor *= action.boundary[mu];
    const Complex<double> c{factor.real(), factor.imag()};
    const Su3<double> u = gauge.link(from, mu);
    return d < 4 ? c * u.e[row][column] : core::conj(c * u.e[column][row]);
  }
};

}  // namespace halocline::qcd::wilson
