// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/gauge/staggered_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <memory>
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

/// The links of one direction s around the sites of a pack, for the staples of a link of direction mu.
struct StapleLinks {
  const double* here;  ///< U_s at x
  std::int64_t along;  ///< distance in memory to x + mu
  std::int64_t aside;  ///< to x + s
  std::int64_t component_stride;

  StapleLinks(const GaugeField& u, const Site& x, int mu, int s)
      : here(u.field().data() + u.link_offset(x, s)),
        along(u.field().stride(mu)),
        aside(u.field().stride(s)),
        component_stride(u.field().component_stride()) {}

  template <class Real>
  HALOCLINE_INLINE Su3<Real> at(std::int64_t distance) const {
    return load_link<Real>(here + distance, component_stride);
  }
};

/// Adds S_s(M), the two staples along s around the matrices M of direction mu, to a sum. 828 flops.
/// @param middle  the matrix M at x;  @param up, down  distances in memory to the neighbours of x along s
template <class Real>
HALOCLINE_INLINE void add_staples(Su3<Real>& sum, const StapleLinks& u, const double* middle,
                                  std::int64_t component_stride, std::int64_t up, std::int64_t down) {
  sum += u.at<Real>(0) * times_adjoint(load_link<Real>(middle + up, component_stride), u.at<Real>(u.along));
  sum += adjoint_times(u.at<Real>(-u.aside),
                       load_link<Real>(middle + down, component_stride) * u.at<Real>(u.along - u.aside));
}

/// Three matrices a site, for all time slices or for a ring of the four that are in use.
class Slices {
public:
  /// @param ring  keep four slices; the lattice must not be split
  Slices(const std::shared_ptr<const lattice::Geometry4>& geometry, bool ring)
      : ring_(ring), matrices_(ring ? ring_of(*geometry) : geometry, 3 * link_reals, 1) {}

  Matrices& matrices() noexcept { return matrices_; }
  const Matrices& matrices() const noexcept { return matrices_; }
  /// The offset of a site, whose time may lie outside of the lattice in a ring.
  std::int64_t offset(Site x) const noexcept {
    if (ring_) x[3] = (x[3] % ring_extent + ring_extent) % ring_extent;
    return matrices_.offset(x);
  }
  /// Number k of the three matrices at an offset.
  const double* matrix(std::int64_t offset, int k) const noexcept {
    return matrices_.data() + offset + k * link_reals * matrices_.component_stride();
  }
  /// The distance in memory from a site to its neighbour along an axis; step is 1 or -1.
  std::int64_t distance(const Site& x, int axis, int step) const noexcept {
    if (axis != 3 || !ring_) return step * matrices_.stride(axis);
    Site there = x;
    there[3] += step;
    return offset(there) - offset(x);
  }

private:
  // A slice is begun while the three before it are in use.
  static constexpr std::int64_t ring_extent = 4;
  static std::shared_ptr<const lattice::Geometry4> ring_of(const lattice::Geometry4& whole) {
    Site extents = whole.local();
    extents[3] = ring_extent;
    return std::make_shared<const lattice::Geometry4>(extents,
                                                      comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}));
  }

  bool ring_;
  Matrices matrices_;
};

/// Fat links of one direction, time slice by time slice.
class FatLinks {
public:
  FatLinks(const GaugeField& u, const PathCoefficients& c, GaugeField& fat)
      : u_(u),
        c_(c),
        fat_(fat),
        whole_(is_split(u.geometry())),
        inner_(u.geometry_ptr(), !whole_),
        outer_(u.geometry_ptr(), !whole_) {}

  void make(int mu) {
    const std::int64_t slices = u_.geometry().local()[3];
    mu_ = mu;
    others_ = others_of(mu);
    if (whole_) {
      for (std::int64_t t = 0; t < slices; ++t) make_inner(t);
      inner_.matrices().exchange_ghosts();
      for (std::int64_t t = 0; t < slices; ++t) make_outer(t);
      outer_.matrices().exchange_ghosts();
      for (std::int64_t t = 0; t < slices; ++t) add_up(t);
      return;
    }
    // A slice needs those before and after it. Four slices fit into the caches where a lattice does not.
    for (std::int64_t t = -2; t < slices + 2; ++t) {
      make_inner(t);
      wrap(inner_, t);
      if (t < 0) continue;
      make_outer(t - 1);
      wrap(outer_, t - 1);
      if (t >= 2) add_up(t - 2);
    }
  }

private:
  static bool is_split(const lattice::Geometry4& geometry) {
    for (int axis = 0; axis < 4; ++axis)
      if (geometry.is_split(axis)) return true;
    return false;
  }

  /// Calls f(Kind<Real>, x, x with its time on the lattice) for packs of the slice t, in parallel.
  template <class F>
  void for_each_pack_of(std::int64_t t, const F& f) const {
    const Site& local = u_.geometry().local();
    const std::int64_t wrapped = (t % local[3] + local[3]) % local[3];
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < local[1] * local[2]; ++row)
      detail::for_each_pack(local[0], [&](auto kind, std::int64_t x) {
        const std::int64_t y = row % local[1], z = row / local[1];
        f(kind, Site{x, y, z, t}, Site{x, y, z, wrapped});
      });
  }

  /// Fills the ghosts of a slice in x, y and z from the slice itself.
  void wrap(Slices& slices, std::int64_t t) const {
    Matrices& m = slices.matrices();
    const Site& local = u_.geometry().local();
    const std::int64_t row = m.component_stride(), numbers = row * m.components();
    double* const first = m.data() + slices.offset({0, 0, 0, t});
#pragma omp parallel for schedule(static)
    for (std::int64_t line = 0; line < local[1] * local[2]; ++line) {
      double* at = first + line % local[1] * m.stride(1) + line / local[1] * m.stride(2);
      for (int k = 0; k < m.components(); ++k, at += row) {
        at[-1] = at[local[0] - 1];
        at[local[0]] = at[0];
      }
    }
    // Whole rows, with their ghosts. The number before a row is a ghost of it, and its last number is padding.
    const auto copy = [&](double* to, const double* from) { std::copy_n(from - 1, numbers, to - 1); };
    for (std::int64_t z = 0; z < local[2]; ++z) {
      double* plane = first + z * m.stride(2);
      copy(plane - m.stride(1), plane + (local[1] - 1) * m.stride(1));
      copy(plane + local[1] * m.stride(1), plane);
    }
    for (std::int64_t y = -1; y <= local[1]; ++y) {
      double* line = first + y * m.stride(1);
      copy(line - m.stride(2), line + (local[2] - 1) * m.stride(2));
      copy(line + local[2] * m.stride(2), line);
    }
  }

  /// inner_n = c_5 U + c_7 S_n(U), and the first two terms of A_n.
  void make_inner(std::int64_t t) {
    for_each_pack_of(t, [&](auto kind, const Site& x, const Site& wrapped) {
      using Real = typename decltype(kind)::type;
      const std::int64_t in = inner_.offset(x), out = outer_.offset(x), component = u_.field().component_stride();
      const double* here = u_.field().data() + u_.link_offset(wrapped, mu_);
      for (int k = 0; k < 3; ++k) {
        const StapleLinks links(u_, wrapped, mu_, others_[static_cast<std::size_t>(k)]);
        Su3<Real> s = Su3<Real>::zero();
        add_staples(s, links, here, component, links.aside, -links.aside);
        const Su3<Real> link = load_link<Real>(here, component);
        set_matrix_at(inner_.matrices(), in, k, Real(c_.five_links) * link + Real(c_.seven_links) * s);
        set_matrix_at(outer_.matrices(), out, k, Real(c_.three_links) * link + Real(c_.lepage) * s);
      }
    });
  }

  /// A_s = its first terms + sum_r S_r(inner_n)
  void make_outer(std::int64_t t) {
    for_each_pack_of(t, [&](auto kind, const Site& x, const Site& wrapped) {
      using Real = typename decltype(kind)::type;
      const std::int64_t in = inner_.offset(x), out = outer_.offset(x);
      for (int s = 0; s < 3; ++s) {
        Su3<Real> a = matrix_at<Real>(outer_.matrices(), out, s);
        for (const int r : {(s + 1) % 3, (s + 2) % 3}) {
          const int direction = others_[static_cast<std::size_t>(r)];
          add_staples(a, StapleLinks(u_, wrapped, mu_, direction), inner_.matrix(in, 3 - s - r),
                      inner_.matrices().component_stride(), inner_.distance(x, direction, 1),
                      inner_.distance(x, direction, -1));
        }
        set_matrix_at(outer_.matrices(), out, s, a);
      }
    });
  }

  void add_up(std::int64_t t) {
    for_each_pack_of(t, [&](auto kind, const Site& x, const Site&) {
      using Real = typename decltype(kind)::type;
      const std::int64_t at = outer_.offset(x);
      Su3<Real> sum = Real(c_.one_link - 6 * c_.lepage) * detail::link_at<Real>(u_, x, mu_);
      for (int s = 0; s < 3; ++s) {
        const int direction = others_[static_cast<std::size_t>(s)];
        add_staples(sum, StapleLinks(u_, x, mu_, direction), outer_.matrix(at, s), outer_.matrices().component_stride(),
                    outer_.distance(x, direction, 1), outer_.distance(x, direction, -1));
      }
      detail::set_link_at(fat_, x, mu_, sum);
    });
  }

  const GaugeField& u_;
  PathCoefficients c_;
  GaugeField& fat_;
  bool whole_;  ///< all slices are kept, because some axis is split and its ghosts come from other processes
  Slices inner_, outer_;
  int mu_ = 0;
  std::array<int, 3> others_{};
};

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
  FatLinks links(u, c, fat);
  for (int mu = 0; mu < 4; ++mu) links.make(mu);
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
