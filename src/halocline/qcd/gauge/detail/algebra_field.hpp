// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A field of su(3) elements on the links, and the two operations of every flow: set it from the staples, follow it.
///
/// Stout smearing follows the field once, by rho; a Runge-Kutta step of the Wilson flow follows it three times. Both
/// move a link by U -> exp(A) U with A from the traceless anti-hermitian part of (sum of staples) U^dagger. An element
/// is kept as nine reals: the imaginary diagonal and the three complex numbers above it.

#include <cstdint>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/field/su3_projection.hpp"
#include "halocline/qcd/gauge/detail/rows.hpp"

namespace halocline::qcd::gauge::detail {

/// One su(3) element a link of the local box, without ghosts; zero at first. 288 bytes a site.
class AlgebraField {
public:
  explicit AlgebraField(const Site& local) : local_(local), values_(36 * lattice::product<4>(local)) {}

  template <class Real>
  HALOCLINE_INLINE Su3<Real> load(const Site& x, int mu) const {
    const double* from = values_.data() + position(x, mu);
    auto next = [&] {
      const Real value = core::Lanes<Real>::load(from);
      from += local_[0];
      return value;
    };
    Su3<Real> a;
    for (int i = 0; i < 3; ++i) {
      a.e[i][i] = {Real(0), next()};
      for (int j = i + 1; j < 3; ++j) {
        const Real re = next(), im = next();
        a.e[i][j] = {re, im};
        a.e[j][i] = {-re, im};
      }
    }
    return a;
  }
  template <class Real>
  HALOCLINE_INLINE void store(const Site& x, int mu, const Su3<Real>& a) {
    double* to = values_.data() + position(x, mu);
    auto put = [&](const Real& value) {
      core::Lanes<Real>::store(to, value);
      to += local_[0];
    };
    for (int i = 0; i < 3; ++i) {
      put(a.e[i][i].im);
      for (int j = i + 1; j < 3; ++j) {
        put(a.e[i][j].re);
        put(a.e[i][j].im);
      }
    }
  }

private:
  std::int64_t position(const Site& x, int mu) const {
    const std::int64_t row = x[1] + local_[1] * (x[2] + local_[2] * x[3]);
    return (4 * row + mu) * 9 * local_[0] + x[0];
  }

  Site local_;
  core::AlignedArray<double> values_;
};

/// a = scale * TA(staples U^dagger) + keep * a, for links mu < axes with staples in axes nu < axes.
/// TA(staples U^dagger) is the direction of steepest ascent of the plaquette.
/// @param u  links with valid ghost sites
/// Cost with axes = 4: 52 products, about 11000 flops a site; from memory 576 bytes of links and 288 to 576 of `a`.
inline void add_force(AlgebraField& a, const GaugeField& u, double scale, double keep, int axes) {
  for_each_site_pack(u.geometry().local(), [&](auto kind, const Site& x) {
    using Real = typename decltype(kind)::type;
    const RowLinks<Real> links(u, x);
    for (int mu = 0; mu < axes; ++mu) {
      const Su3<Real> staples = staple_sum<Real>(links, mu, axes);
      Su3<Real> force = Real(scale) * traceless_antihermitian(times_adjoint(staples, links(Shift{}, mu)));
      if (keep != 0) force += Real(keep) * a.load<Real>(x, mu);
      a.store<Real>(x, mu, force);
    }
  });
}

/// U = exp(scale * a) U for links mu < axes, and exchange of the ghosts. Collective.
inline void follow(GaugeField& u, const AlgebraField& a, double scale, int axes) {
  for_each_site_pack(u.geometry().local(), [&](auto kind, const Site& x) {
    using Real = typename decltype(kind)::type;
    for (int mu = 0; mu < axes; ++mu)
      set_link_at(u, x, mu, exponential(Real(scale) * a.load<Real>(x, mu)) * link_at<Real>(u, x, mu));
  });
  u.exchange_ghosts();
}

}  // namespace halocline::qcd::gauge::detail
