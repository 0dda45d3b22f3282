// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The phases of staggered quarks: eta_mu, and the boundary phases of a step.

#include <complex>

#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::staggered {

/// eta_mu at a site, +1 or -1: eta_t = 1, eta_x = (-1)^t, eta_y = (-1)^(t+x), eta_z = (-1)^(t+x+y), of coordinates of
/// the whole lattice.
inline double eta(const lattice::Geometry4& geometry, const lattice::Coordinates<4>& x, int mu) {
  if (mu == 3) return 1;
  std::int64_t sum = x[3] + geometry.offset()[3];
  for (int axis = 0; axis < mu; ++axis) sum += x[axis] + geometry.offset()[axis];
  return (sum & 1) == 0 ? 1 : -1;
}

/// The phase of psi over `steps` steps along +mu from a local site, which may lie outside the box: the boundary phase
/// to the power of the edges of the lattice that are crossed.
inline std::complex<double> boundary_phase(const lattice::Geometry4& geometry, const StaggeredAction& action,
                                           const lattice::Coordinates<4>& from, int mu, int steps) {
  const auto extent = geometry.global()[mu];
  const auto begin = ((from[mu] + geometry.offset()[mu]) % extent + extent) % extent;
  std::complex<double> phase = 1;
  for (auto crossed = (begin + steps) / extent; crossed > 0; --crossed) phase *= action.boundary[mu];
  return phase;
}

/// The link of direction mu of a site of the box, or up to three steps below it along mu. On an axis that one process
/// holds whole, ghosts are not read.
inline Su3<double> link_from(const GaugeField& links, lattice::Coordinates<4> from, int mu) {
  const auto extent = links.geometry().local()[mu];
  if (!links.geometry().is_split(mu)) from[mu] = (from[mu] + 4 * extent) % extent;
  return links.link(from, mu);
}

/// The matrix of a step of `length` sites in direction d from a local site x, with eta and the boundary phase: -2 (D -
/// m) sums these matrices times psi. @param links  of the direction: fat for one site, long for three
inline Su3<double> step_matrix(const GaugeField& links, const StaggeredAction& action, const lattice::Coordinates<4>& x,
                               int d, int length) {
  const auto& geometry = links.geometry();
  const int mu = lattice::axis_of(d);
  auto from = x;
  if (d >= 4) from[mu] -= length;
  const std::complex<double> factor = -eta(geometry, x, mu) * boundary_phase(geometry, action, from, mu, length);
  const Su3<double> u = Complex<double>{factor.real(), factor.imag()} * link_from(links, from, mu);
  return d < 4 ? u : -1.0 * adjoint(u);
}

}  // namespace halocline::qcd::staggered
