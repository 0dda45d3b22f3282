// SPDX-License-Identifier: Apache-2.0

#include "halocline/qcd/gauge/fix.hpp"

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/su3_projection.hpp"
#include "halocline/qcd/gauge/detail/rows.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace halocline::qcd::gauge {

namespace {

using detail::Kind;
using detail::Shift;
using detail::Site;
using lattice::GhostField;

constexpr int landau_axes = 4;
constexpr int coulomb_axes = 3;

/// K(x) = sum over mu < axes of U_mu(x) + U_mu(x-mu)^dagger.
template <class Real>
HALOCLINE_INLINE Su3<Real> neighbour_sum(const detail::RowLinks<Real>& links, int axes) {
  constexpr Shift here;
  Su3<Real> k = Su3<Real>::zero();
  for (int mu = 0; mu < axes; ++mu) {
    k += links(here, mu);
    k += adjoint(links(here.plus(mu, -1), mu));
  }
  return k;
}

/// The over-relaxed change of gauge at a site whose neighbours sum up to k.
///
/// One pass over the subgroups overshoots: they share two diagonal generators, and the pass leaves -1/8 of the initial
/// deviation in these, so a factor of 1.7 would act as 1.9. A pass forth and back leaves a positive rest of at most
/// 1/16.
template <class Real>
HALOCLINE_INLINE Su3<Real> best_change(const Su3<Real>& k, double omega) {
  Su3<Real> g = Su3<Real>::unit(), turned = k;
  for (int step : {0, 1, 2, 1, 0}) {
    const auto [i, j] = su2_subgroup[step];
    // q / |q| maximises Re tr(a^dagger k), so its conjugate maximises Re tr(a k).
    const Quaternion<Real> q = quaternion_part(turned, i, j);
    const auto present = q.norm() > Real(0);
    const Real scale = Real(1) / qcd::detail::square_root(qcd::detail::choose(present, q.norm(), Real(1)));
    const Quaternion<Real> a{qcd::detail::choose(present, scale * q.a0, Real(1)), -(scale * q.a1), -(scale * q.a2),
                             -(scale * q.a3)};
    multiply_rows(a, g, i, j);
    multiply_rows(a, turned, i, j);
  }
  Su3<Real> over = Real(omega) * g + Su3<Real>::diagonal(Real(1 - omega));
  reunitarise(over);
  // Far from the unit matrix, the over-relaxed change may lower F; the plain change never does. Near the unit, it gains
  // omega (2 - omega) times as much as the plain change, and a comparison of traces would let rounding decide.
  const Real fall = trace(k).re - real_trace_times_adjoint(over, adjoint(k));
  const Real angle_squared = Real(3) - trace(g).re;
  const Su3<Real> careful = qcd::detail::choose(fall > Real(0), g, over);
  return qcd::detail::choose(angle_squared > Real(1e-6), careful, over);
}

/// Lanes whose site has the wanted parity.
inline bool lanes_of_parity(Kind<double>, int first, int wanted) { return first == wanted; }
template <int N>
inline typename core::Pack<double, N>::Mask lanes_of_parity(Kind<core::Pack<double, N>>, int first, int wanted) {
  typename core::Pack<double, N>::Mask mask{};
  for (int lane = 0; lane < N; ++lane) mask[lane] = ((first + lane) & 1) == wanted ? -1 : 0;
  return mask;
}

template <class Real>
HALOCLINE_INLINE Su3<Real> matrix_at(const GhostField<double>& g, const Site& x) {
  return load_link<Real>(g.data() + g.offset(x), g.component_stride());
}

/// Changes the gauge at the sites of one parity, and with it the local links and the links that lead into the box.
class HalfSweep {
public:
  HalfSweep(GaugeField& u, int axes, double omega)
      : u_(u), axes_(axes), omega_(omega), change_(u.geometry_ptr(), link_reals, 1) {}

  /// Collective: one exchange of `change_`.
  void operator()(int parity) {
    find_changes(parity);
    change_.exchange_ghosts();
    apply_changes(parity);
  }

private:
  void find_changes(int parity) {
    detail::for_each_site_pack(u_.geometry().local(), [&](auto kind, const Site& x) {
      using Real = typename decltype(kind)::type;
      const auto active = lanes_of_parity(kind, u_.geometry().parity(x), parity);
      const Su3<Real> g = best_change(neighbour_sum(detail::RowLinks<Real>(u_, x), axes_), omega_);
      store_link(change_.data() + change_.offset(x), change_.component_stride(),
                 qcd::detail::choose(active, g, Su3<Real>::unit()));
    });
  }

  /// Rows of the box and of its lower ghosts: link mu starts one site below the box along mu, so that K at the lower
  /// edge finds it up to date without another exchange. A site outside along mu is inside along the other axes.
  void apply_changes(int parity) {
    const Site& local = u_.geometry().local();
    const Site with_ghosts{local[0], local[1] + 1, local[2] + 1, local[3] + 1};
    detail::for_each_row(with_ghosts, [&](std::int64_t, std::int64_t row_y, std::int64_t row_z, std::int64_t row_t) {
      const Site row{0, row_y - 1, row_z - 1, row_t - 1};
      int outside = 0, outside_axis = 0;
      for (int axis = 1; axis < 4; ++axis)
        if (row[axis] < 0) {
          ++outside;
          outside_axis = axis;
        }
      if (outside == 0)
        for (int mu = 0; mu < 4; ++mu) apply_to_row(row, mu, parity);
      else if (outside == 1)
        apply_to_row(row, outside_axis, parity);
    });
  }

  void apply_to_row(const Site& row, int mu, int parity) {
    const std::int64_t first = mu == 0 ? -1 : 0;
    detail::for_each_pack(u_.geometry().local()[0] - first, [&](auto kind, std::int64_t step) {
      using Real = typename decltype(kind)::type;
      const Site x{first + step, row[1], row[2], row[3]};
      Site forward = x;
      ++forward[mu];
      const auto here = lanes_of_parity(kind, u_.geometry().parity(x), parity);
      const Su3<Real> link = detail::link_at<Real>(u_, x, mu);
      const Su3<Real> left = qcd::detail::choose(here, matrix_at<Real>(change_, x), link);
      const Su3<Real> right = qcd::detail::choose(here, link, adjoint(matrix_at<Real>(change_, forward)));
      detail::set_link_at(u_, x, mu, left * right);
    });
  }

  GaugeField& u_;
  int axes_;
  double omega_;
  GhostField<double> change_;  ///< g(x); the unit matrix on the other parity
};

/// theta and the functional in one pass. Collective.
FixPoint measured(const GaugeField& u, int axes) {
  const auto sums = detail::sum_over_sites<2>(u.geometry(), [&](auto kind, const Site& x) {
    using Real = typename decltype(kind)::type;
    const Su3<Real> k = neighbour_sum(detail::RowLinks<Real>(u, x), axes);
    const Su3<Real> divergence = traceless_antihermitian(k);  // i Delta
    return std::array<Real, 2>{real_trace_times_adjoint(divergence, divergence), trace(k).re};
  });
  const double volume = static_cast<double>(u.geometry().global_volume());
  return {0, sums[0] / (3 * volume), sums[1] / (6 * axes * volume)};
}

void reunitarise_links(GaugeField& u) {
  detail::for_each_site_pack(u.geometry().local(), [&](auto kind, const Site& x) {
    using Real = typename decltype(kind)::type;
    for (int mu = 0; mu < 4; ++mu) {
      Su3<Real> link = detail::link_at<Real>(u, x, mu);
      reunitarise(link);
      detail::set_link_at(u, x, mu, link);
    }
  });
  u.exchange_ghosts();
}

void check(const GaugeField& u, const FixParameters& parameters) {
  auto refuse = [](const char* what, double given, const char* expected) {
    throw core::InvalidArgument(std::string("gauge fixing with ") + what + " = " + std::to_string(given) + ": give " +
                                expected);
  };
  if (!(parameters.tolerance > 0)) refuse("tolerance", parameters.tolerance, "a positive number");
  if (parameters.max_iterations < 0) refuse("max_iterations", parameters.max_iterations, "0 or more");
  if (!(parameters.omega >= 1 && parameters.omega < 2)) refuse("omega", parameters.omega, "a number from 1 to below 2");
  if (parameters.check_every < 1) refuse("check_every", parameters.check_every, "1 or more");
  for (int axis = 0; axis < 4; ++axis)
    if (u.geometry().global()[axis] % 2 != 0)
      throw core::InvalidArgument("gauge fixing on a lattice with " + std::to_string(u.geometry().global()[axis]) +
                                  " sites along axis " + std::to_string(axis) +
                                  ": even and odd sites take turns, which needs an even number");
}

FixReport fix(GaugeField& u, int axes, const FixParameters& parameters, const FixProgress& progress) {
  check(u, parameters);
  FixReport report;
  HalfSweep half_sweep(u, axes, parameters.omega);
  while (true) {
    FixPoint now = measured(u, axes);
    now.iterations = report.iterations;
    report.history.push_back(now);
    report.theta = now.theta;
    report.functional = now.functional;
    const bool cancelled = u.geometry().communicator().any(progress && !progress(now));
    report.converged = now.theta <= parameters.tolerance;
    if (report.converged)
      report.reason = "converged";
    else if (!std::isfinite(now.theta))
      report.reason = "not finite";
    else if (cancelled)
      report.reason = "cancelled";
    else if (report.iterations >= parameters.max_iterations)
      report.reason = "iteration limit";
    if (!report.reason.empty()) return report;

    for (int k = 0; k < parameters.check_every && report.iterations < parameters.max_iterations; ++k) {
      half_sweep(0);
      half_sweep(1);
      ++report.iterations;
    }
    reunitarise_links(u);
  }
}

}  // namespace

FixReport fix_landau(GaugeField& u, const FixParameters& parameters, const FixProgress& progress) {
  return fix(u, landau_axes, parameters, progress);
}
FixReport fix_coulomb(GaugeField& u, const FixParameters& parameters, const FixProgress& progress) {
  return fix(u, coulomb_axes, parameters, progress);
}

double landau_theta(const GaugeField& u) { return measured(u, landau_axes).theta; }
double coulomb_theta(const GaugeField& u) { return measured(u, coulomb_axes).theta; }

}  // namespace halocline::qcd::gauge
