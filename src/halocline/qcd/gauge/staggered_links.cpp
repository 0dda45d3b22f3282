// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/gauge/staggered_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <numbers>

#include "halocline/core/error.hpp"
#include "halocline/lattice/ghost_field.hpp"
#include "halocline/qcd/gauge/detail/lane_of.hpp"
#include "halocline/qcd/gauge/detail/nearest_unitary.hpp"
#include "halocline/qcd/gauge/detail/rows.hpp"

namespace halocline::qcd::gauge {
namespace {

using detail::Site;
using Matrices = lattice::GhostField<double>;

/// The other three directions.
constexpr std::array<int, 3> others_of(int mu) {
  std::array<int, 3> out{};
  int count = 0;
  for (int axis = 0; axis < 4; ++axis)
    if (axis != mu) out[static_cast<std::size_t>(count++)] = axis;
  return out;
}

/// Number k of three matrices at the sites of a pack that begins at x.
template <class Real>
HALOCLINE_INLINE Su3<Real> matrix_at(const Matrices& m, std::int64_t offset, int k) {
  return load_link<Real>(m.data() + offset + k * link_reals * m.component_stride(), m.component_stride());
}
template <class Real>
HALOCLINE_INLINE void set_matrix_at(Matrices& m, std::int64_t offset, int k, const Su3<Real>& value) {
  store_link<Real>(m.data() + offset + k * link_reals * m.component_stride(), m.component_stride(), value);
}

/// S_s(M): the two staples along s around the matrices of direction mu that `middle(distance)` gives at a distance in
/// memory, in fields whose rows have the strides of u. 810 flops.
template <class Real, class Middle>
HALOCLINE_INLINE Su3<Real> staple(const detail::RowLinks<Real>& links, int mu, int s, std::int64_t stride,
                                  const Middle& middle) {
  constexpr detail::Shift here;
  const detail::Shift below = here.plus(s, -1);
  Su3<Real> sum = links(here, s) * times_adjoint(middle(stride), links(here.plus(mu), s));
  sum += adjoint_times(links(below, s), middle(-stride) * links(below.plus(mu), s));
  return sum;
}

}  // namespace

PathCoefficients fat7_coefficients() noexcept { return {1.0 / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, 0}; }

PathCoefficients asqtad_coefficients(double u0) noexcept {
  const double u2 = u0 * u0, u4 = u2 * u2, u6 = u4 * u2;
  return {5.0 / 8, 1.0 / 16 / u2, 1.0 / 64 / u4, 1.0 / 384 / u6, -1.0 / 16 / u4};
}

PathCoefficients hisq_coefficients(double epsilon) noexcept {
  return {1.0 + epsilon / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, -1.0 / 8};
}

GaugeField fat_links(const GaugeField& u, const PathCoefficients& c) {
  GaugeField fat(u.geometry_ptr());
  const Site& local = u.geometry().local();
  Matrices inner(u.geometry_ptr(), 3 * link_reals, 1), outer(u.geometry_ptr(), 3 * link_reals, 1);
  for (int mu = 0; mu < 4; ++mu) {
    const auto others = others_of(mu);
    // inner_n = c_5 U + c_7 S_n(U), and the first two terms of A_n.
    detail::for_each_site_pack(local, [&](auto kind, const Site& x) {
      using Real = typename decltype(kind)::type;
      const detail::RowLinks<Real> links(u, x);
      const Su3<Real> link = links(detail::Shift{}, mu);
      const std::int64_t at = inner.offset(x);
      for (int k = 0; k < 3; ++k) {
        const int n = others[static_cast<std::size_t>(k)];
        const std::int64_t stride = u.field().stride(n);
        const double* here = u.field().data() + u.link_offset(x, mu);
        const Su3<Real> s = staple<Real>(links, mu, n, stride, [&](std::int64_t distance) {
          return load_link<Real>(here + distance, u.field().component_stride());
        });
        set_matrix_at(inner, at, k, Real(c.five_links) * link + Real(c.seven_links) * s);
        set_matrix_at(outer, at, k, Real(c.three_links) * link + Real(c.lepage) * s);
      }
    });
    inner.exchange_ghosts();
    // A_s = its first terms + sum_r S_r(inner_n)
    detail::for_each_site_pack(local, [&](auto kind, const Site& x) {
      using Real = typename decltype(kind)::type;
      const detail::RowLinks<Real> links(u, x);
      const std::int64_t at = inner.offset(x);
      for (int s = 0; s < 3; ++s) {
        Su3<Real> a = matrix_at<Real>(outer, at, s);
        for (int r = 0; r < 3; ++r) {
          if (r == s) continue;
          const int n = 3 - s - r, direction = others[static_cast<std::size_t>(r)];
          a += staple<Real>(links, mu, direction, inner.stride(direction),
                            [&](std::int64_t distance) { return matrix_at<Real>(inner, at + distance, n); });
        }
        set_matrix_at(outer, at, s, a);
      }
    });
    outer.exchange_ghosts();
    detail::for_each_site_pack(local, [&](auto kind, const Site& x) {
      using Real = typename decltype(kind)::type;
      const detail::RowLinks<Real> links(u, x);
      const std::int64_t at = outer.offset(x);
      Su3<Real> sum = Real(c.one_link - 6 * c.lepage) * links(detail::Shift{}, mu);
      for (int s = 0; s < 3; ++s) {
        const int direction = others[static_cast<std::size_t>(s)];
        sum += staple<Real>(links, mu, direction, outer.stride(direction),
                            [&](std::int64_t distance) { return matrix_at<Real>(outer, at + distance, s); });
      }
      detail::set_link_at(fat, x, mu, sum);
    });
  }
  fat.exchange_ghosts();
  return fat;
}

GaugeField long_links(const GaugeField& u, double coefficient, int depth) {
  GaugeField naik(u.geometry_ptr(), depth);
  // Two steps by two passes, so that one layer of ghosts is enough.
  GaugeField two(u.geometry_ptr());
  constexpr detail::Shift here;
  for (const bool last : {false, true}) {
    const GaugeField& from = last ? two : u;
    GaugeField& to = last ? naik : two;
    detail::for_each_site_pack(u.geometry().local(), [&](auto kind, const Site& x) {
      using Real = typename decltype(kind)::type;
      const detail::RowLinks<Real> links(u, x), next(from, x);
      for (int mu = 0; mu < 4; ++mu)
        detail::set_link_at(to, x, mu, Real(last ? coefficient : 1.0) * (links(here, mu) * next(here.plus(mu), mu)));
    });
    to.exchange_ghosts();
  }
  return naik;
}

namespace {

/// The eigenvalues of a hermitian matrix with these traces of its powers, in falling order; NaN stays NaN.
std::array<double, 3> eigenvalues(double c0, double c1, double c2) {
  // c_n = tr Q^(n+1) / (n+1), as in hep-lat/0702028.
  const double s = c1 / 3 - c0 * c0 / 18;
  const double root = std::sqrt(std::max(s, 0.0));
  const double r = c2 / 2 - c0 * c1 / 3 + c0 * c0 * c0 / 27;
  const double cosine = root > 0 ? std::clamp(r / (root * root * root), -1.0, 1.0) : 1.0;
  const double theta = std::acos(cosine) / 3, third = 2 * std::numbers::pi / 3;
  return {c0 / 3 + 2 * root * std::cos(theta), c0 / 3 + 2 * root * std::cos(theta - third),
          c0 / 3 + 2 * root * std::cos(theta + third)};
}

/// Numbers a lane at a time.
template <class Real>
using LaneValues = std::array<double, core::Lanes<Real>::count>;

}  // namespace

void unitarise(GaugeField& v) {
  constexpr double smallest_quotient = 1e-5;
  const Site local = v.geometry().local();
  std::atomic<std::int64_t> failed{-1};
  detail::for_each_site_pack(local, [&](auto kind, const Site& x) {
    using Real = typename decltype(kind)::type;
    using L = core::Lanes<Real>;
    for (int mu = 0; mu < 4; ++mu) {
      const Su3<Real> link = detail::link_at<Real>(v, x, mu);
      const Su3<Real> q = adjoint_times(link, link), q2 = q * q;
      LaneValues<Real> c0{}, c1{}, c2{}, f0{}, f1{}, f2{};
      std::array<bool, L::count> near_singular{};
      L::store(c0.data(), trace(q).re);
      L::store(c1.data(), Real(0.5) * trace(q2).re);
      L::store(c2.data(), Real(1.0 / 3) * real_trace_times_adjoint(q2, q));
      for (std::size_t lane = 0; lane < c0.size(); ++lane) {
        const auto g = eigenvalues(c0[lane], c1[lane], c2[lane]);
        near_singular[lane] = !(g[2] > smallest_quotient * g[0]);
        if (near_singular[lane]) continue;
        const double a = std::sqrt(g[0]), b = std::sqrt(g[1]), c = std::sqrt(g[2]);
        const double sum = a + b + c, pairs = a * b + b * c + c * a, product = a * b * c;
        const double scale = 1 / (product * (sum * pairs - product));
        f0[lane] = (sum * pairs * pairs - product * (sum * sum + pairs)) * scale;
        f1[lane] = (2 * sum * pairs - product - sum * sum * sum) * scale;
        f2[lane] = sum * scale;
      }
      Su3<Real> root = L::load(f1.data()) * q + L::load(f2.data()) * q2;
      for (int i = 0; i < 3; ++i) root.e[i][i].re += L::load(f0.data());
      Su3<Real> w = link * root;
      // One step of Newton's iteration makes w unitary to rounding.
      w = Real(1.5) * w - Real(0.5) * (w * adjoint_times(w, w));
      detail::set_link_at(v, x, mu, w);
      for (std::size_t lane = 0; lane < near_singular.size(); ++lane) {
        if (!near_singular[lane]) continue;
        Site at = x;
        at[0] += static_cast<std::int64_t>(lane);
        Su3<double> one = detail::lane_of(link, static_cast<int>(lane));
        if (!detail::nearest_unitary(one)) failed = 4 * v.geometry().global_index(at) + mu;
        v.set_link(at, mu, one);
      }
    }
  });
  std::array<double, 1> worst{static_cast<double>(failed.load())};
  v.geometry().communicator().max(worst);
  if (worst[0] >= 0) {
    const auto index = static_cast<std::int64_t>(worst[0]);
    const auto site = lattice::coordinates_of<4>(index / 4, v.geometry().global());
    throw core::Error(fmt::format(
        "the smeared link in direction {} of site ({}, {}, {}, {}) is singular and has no nearest unitary matrix; look "
        "at the links around this site, which may be damaged",
        lattice::axis_name[static_cast<std::size_t>(index % 4)], site[0], site[1], site[2], site[3]));
  }
  v.exchange_ghosts();
}

StaggeredLinks staggered_links(const GaugeField& u, const StaggeredAction& action) {
  action.validate();
  if (!action.has_long_links()) return {u, std::nullopt};
  bool split = false;
  for (int axis = 0; axis < 4; ++axis) {
    split = split || u.geometry().is_split(axis);
    if (u.geometry().local()[axis] < action.reach())
      throw core::InvalidArgument(fmt::format("the action \"{}\" has links of three steps, and a process holds {} "
                                              "sites along {}; give it at least 4 there: "
                                              "a larger lattice, or fewer processes along this axis",
                                              name(action.kind), u.geometry().local()[axis],
                                              lattice::axis_name[static_cast<std::size_t>(axis)]));
  }
  const int depth = split ? action.reach() : 1;
  if (action.kind == StaggeredKind::asqtad)
    return {fat_links(u, asqtad_coefficients(action.u0)), long_links(u, -1.0 / 24 / (action.u0 * action.u0), depth)};
  GaugeField w = fat_links(u, fat7_coefficients());
  unitarise(w);
  return {fat_links(w, hisq_coefficients(action.epsilon)), long_links(w, -(1 + action.epsilon) / 24, depth)};
}

}  // namespace halocline::qcd::gauge
