// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Products of links around one site, written once over the number type and the accessor.
///
/// An accessor `links` stands on a site (or on a pack of sites along x) and gives `links(shift, mu)`, the link in
/// direction mu at that displacement, as Su3<Real>. Displacements are at most one step in each of two axes, so one
/// layer of ghost sites with its corners is enough.

#include <array>

#include "halocline/qcd/field/su3.hpp"

namespace halocline::qcd::gauge::detail {

/// A displacement from the site an accessor stands on.
struct Shift {
  std::array<int, 4> by{0, 0, 0, 0};

  constexpr Shift plus(int axis, int steps = 1) const {
    Shift s = *this;
    s.by[axis] += steps;
    return s;
  }
};

/// Sum over the given axes nu of the two staples of link mu, both as paths from x to x + mu:
/// U_nu(x) U_mu(x+nu) U_nu(x+mu)^dagger + U_nu(x-nu)^dagger U_mu(x-nu) U_nu(x-nu+mu).
/// @param axes  how many of the axes from x on take part as nu: 3 space only, 4 all
/// 4 products an axis nu, 792 flops and about 36 more for the sum.
template <class Real, class Links>
HALOCLINE_INLINE Su3<Real> staple_sum(const Links& links, int mu, int axes) {
  constexpr Shift here;
  Su3<Real> sum = Su3<Real>::zero();
  for (int nu = 0; nu < axes; ++nu) {
    if (nu == mu) continue;
    sum += links(here, nu) * times_adjoint(links(here.plus(nu), mu), links(here.plus(mu), nu));
    const Shift below = here.plus(nu, -1);
    sum += adjoint_times(links(below, nu), links(below, mu) * links(below.plus(mu), nu));
  }
  return sum;
}

/// The plaquette that starts at x along mu and returns along nu.
template <class Real, class Links>
HALOCLINE_INLINE Su3<Real> plaquette_loop(const Links& links, int mu, int nu) {
  constexpr Shift here;
  return (links(here, mu) * links(here.plus(mu), nu)) * adjoint(links(here, nu) * links(here.plus(nu), mu));
}

/// The three other leaves of the clover in the mu-nu plane, each turning from mu to nu as the plaquette does.
template <class Real, class Links>
HALOCLINE_INLINE Su3<Real> other_leaves(const Links& links, int mu, int nu) {
  constexpr Shift here;
  const Shift left = here.plus(mu, -1), below = here.plus(nu, -1);
  const Shift corner = left.plus(nu, -1);
  // x -> x+nu -> x+nu-mu -> x-mu -> x
  Su3<Real> sum =
      (times_adjoint(links(here, nu), links(left.plus(nu), mu)))*adjoint_times(links(left, nu), links(left, mu));
  // x -> x-mu -> x-mu-nu -> x-nu -> x
  sum += adjoint(links(corner, nu) * links(left, mu)) * (links(corner, mu) * links(below, nu));
  // x -> x-nu -> x-nu+mu -> x+mu -> x
  sum += adjoint_times(links(below, nu), links(below, mu)) * times_adjoint(links(below.plus(mu), nu), links(here, mu));
  return sum;
}

/// F_munu = (Q - Q^dagger) / 8 of the sum Q of the four leaves: anti-hermitian, its trace kept.
template <class Real>
HALOCLINE_INLINE Su3<Real> field_strength_of_leaves(const Su3<Real>& q) {
  return Real(0.125) * (q - adjoint(q));
}

/// F_munu where the accessor stands; mu and nu differ.
template <class Real, class Links>
HALOCLINE_INLINE Su3<Real> clover_field_strength(const Links& links, int mu, int nu) {
  return field_strength_of_leaves(plaquette_loop<Real>(links, mu, nu) + other_leaves<Real>(links, mu, nu));
}

/// tr(a b) of two anti-hermitian matrices: real, and minus Re tr(a b^dagger). 36 flops.
template <class Real>
HALOCLINE_INLINE Real trace_product(const Su3<Real>& a, const Su3<Real>& b) {
  return -real_trace_times_adjoint(a, b);
}

}  // namespace halocline::qcd::gauge::detail
