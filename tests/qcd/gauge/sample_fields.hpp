// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Gauge fields and transformations for the tests of qcd/gauge: a function of the global site and a seed alone, so the
/// same whatever the process grid, and made without the library's own generators.

#include "halocline/comm/group/process_grid.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/su3_projection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace sample {

using halocline::lattice::Coordinates;
using halocline::lattice::Geometry4;
using halocline::qcd::GaugeField;
using halocline::qcd::Su3;

inline std::shared_ptr<const Geometry4> geometry(const Coordinates<4>& global) {
  const auto self = halocline::comm::Communicator::self();
  return std::make_shared<const Geometry4>(global, halocline::comm::ProcessGrid(self, {1, 1, 1, 1}));
}

/// exp of a Gaussian algebra element of the given width, or any SU(3) matrix for width 0.
inline Su3<double> group_element(std::uint64_t key, double width) {
  std::seed_seq seeds{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  std::mt19937_64 engine(seeds);
  std::normal_distribution<double> normal(0, width > 0 ? width : 1);
  Su3<double> m;
  for (auto& row : m.e)
    for (auto& z : row) {
      z.re = normal(engine);
      z.im = normal(engine);
    }
  if (width > 0) return halocline::qcd::exponential(halocline::qcd::traceless_antihermitian(m));
  halocline::qcd::reunitarise(m);
  return m;
}

template <class F>
void for_each_site(const Geometry4& geometry, F&& f) {
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site)
    f(halocline::lattice::coordinates_of<4>(site, geometry.local()));
}

/// Links exp(A) with A of the given width (0: anywhere in the group).
inline GaugeField field(const std::shared_ptr<const Geometry4>& geometry, double width, std::uint64_t seed = 1) {
  GaugeField u(geometry);
  for_each_site(*geometry, [&](const Coordinates<4>& x) {
    for (int mu = 0; mu < 4; ++mu)
      u.set_link(x, mu,
                 group_element(seed * 1000003 + 4 * static_cast<std::uint64_t>(geometry->global_index(x)) +
                                   static_cast<std::uint64_t>(mu),
                               width));
  });
  u.exchange_ghosts();
  return u;
}

/// g(x) of a random gauge transformation, x in local coordinates, periodic in the whole lattice.
inline Su3<double> transformation(const Geometry4& geometry, Coordinates<4> x, std::uint64_t seed, double width) {
  for (int axis = 0; axis < 4; ++axis)
    x[axis] = (x[axis] + geometry.offset()[axis] + geometry.global()[axis]) % geometry.global()[axis];
  return group_element(
      seed * 7000003 + static_cast<std::uint64_t>(halocline::lattice::linear_index<4>(x, geometry.global())), width);
}

/// g(x) U_mu(x) g(x+mu)^dagger
inline GaugeField transformed(const GaugeField& u, std::uint64_t seed, double width = 0) {
  GaugeField v = u;
  const Geometry4& geometry = u.geometry();
  for_each_site(geometry, [&](const Coordinates<4>& x) {
    const auto g = transformation(geometry, x, seed, width);
    for (int mu = 0; mu < 4; ++mu) {
      auto forward = x;
      ++forward[mu];
      v.set_link(x, mu, times_adjoint(g * u.link(x, mu), transformation(geometry, forward, seed, width)));
    }
  });
  v.exchange_ghosts();
  return v;
}

/// A field of plane waves in the algebra, smooth and far from pure gauge: amplitude [1/a].
inline GaugeField smooth_field(const std::shared_ptr<const Geometry4>& geometry, double amplitude) {
  GaugeField u(geometry);
  for_each_site(*geometry, [&](const Coordinates<4>& x) {
    for (int mu = 0; mu < 4; ++mu) {
      Su3<double> a = Su3<double>::zero();
      for (int nu = 0; nu < 4; ++nu) {
        if (nu == mu) continue;
        const double phase = 2 * 3.14159265358979323846 * static_cast<double>(x[nu] + geometry->offset()[nu]) /
                             static_cast<double>(geometry->global()[nu]);
        const Su3<double> direction =
            halocline::qcd::traceless_antihermitian(group_element(static_cast<std::uint64_t>(17 + 4 * mu + nu), 0));
        a += amplitude * std::cos(phase + mu) * direction;
      }
      u.set_link(x, mu, halocline::qcd::exponential(a));
    }
  });
  u.exchange_ghosts();
  return u;
}

inline double distance(const Su3<double>& a, const Su3<double>& b) {
  const auto d = a - b;
  return std::sqrt(real_trace_times_adjoint(d, d));
}

/// The largest distance of two links of this process; NaN where one is.
inline double distance(const GaugeField& u, const GaugeField& v) {
  double largest = 0;
  for_each_site(u.geometry(), [&](const Coordinates<4>& x) {
    for (int mu = 0; mu < 4; ++mu) {
      const double d = distance(u.link(x, mu), v.link(x, mu));
      if (!(d <= largest)) largest = d;
    }
  });
  return largest;
}

}  // namespace sample
