// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/gauge/smear.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/su3_projection.hpp"
#include "halocline/qcd/gauge/detail/algebra_field.hpp"
#include "halocline/qcd/gauge/detail/rows.hpp"

namespace halocline::qcd::gauge {

namespace {

int count_of(SmearedAxes axes) { return axes == SmearedAxes::spatial ? 3 : 4; }

void check_steps(int steps) {
  if (steps < 0)
    throw core::InvalidArgument("smearing with " + std::to_string(steps) + " steps: give 0 or a positive number");
}

}  // namespace

void smear_ape(GaugeField& u, const ApeParameters& parameters) {
  check_steps(parameters.steps);
  const double alpha = parameters.alpha;
  if (!(alpha >= 0 && alpha <= 1))
    throw core::InvalidArgument("APE smearing with alpha = " + std::to_string(alpha) + ": give a number from 0 to 1");
  const int axes = count_of(parameters.axes);
  const double staple_weight = alpha / (2 * (axes - 1));
  for (int step = 0; step < parameters.steps; ++step) {
    GaugeField smeared = u;
    detail::for_each_site_pack(u.geometry().local(), [&](auto kind, const detail::Site& x) {
      using Real = typename decltype(kind)::type;
      const detail::RowLinks<Real> links(u, x);
      for (int mu = 0; mu < axes; ++mu) {
        const Su3<Real> link = links(detail::Shift{}, mu);
        const Su3<Real> m = Real(1 - alpha) * link + Real(staple_weight) * detail::staple_sum<Real>(links, mu, axes);
        detail::set_link_at(smeared, x, mu, project_maximal_trace(m, link));
      }
    });
    smeared.exchange_ghosts();
    u = std::move(smeared);
  }
}

void smear_stout(GaugeField& u, const StoutParameters& parameters) {
  check_steps(parameters.steps);
  if (!(std::isfinite(parameters.rho) && parameters.rho >= 0))
    throw core::InvalidArgument("stout smearing with rho = " + std::to_string(parameters.rho) +
                                ": give a finite number above 0, such as 0.1; a negative one would roughen the links");
  if (parameters.steps == 0) return;
  const int axes = count_of(parameters.axes);
  detail::AlgebraField a(u.geometry().local());
  for (int step = 0; step < parameters.steps; ++step) {
    detail::add_force(a, u, parameters.rho, 0, axes);
    detail::follow(u, a, 1, axes);
  }
}

}  // namespace halocline::qcd::gauge
