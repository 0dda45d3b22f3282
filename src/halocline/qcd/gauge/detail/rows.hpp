// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Loops over the sites of a gauge field, by rows along x and in packs within a row.
///
/// Rows are shared among the OpenMP threads. A row is cut into packs of the register's width, one of half that width
/// and single sites for the rest, so every even or odd extent is served without masks. Reads at a displacement along x
/// are unaligned loads into the ghost sites. Each row has its own sum, and these are added in row order: a sum depends
/// neither on the number of threads nor on their timing, and on the process grid only by rounding.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "halocline/core/pack.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/detail/lane_of.hpp"
#include "halocline/qcd/gauge/detail/loops.hpp"

namespace halocline::qcd::gauge::detail {

using Site = lattice::Coordinates<4>;

/// U_mu at the sites of a pack that begins at x.
template <class Real>
HALOCLINE_INLINE Su3<Real> link_at(const GaugeField& u, const Site& x, int mu) {
  return load_link<Real>(u.field().data() + u.link_offset(x, mu), u.field().component_stride());
}
/// Overwrites U_mu at the sites of a pack that begins at x; the ghosts are then out of date.
template <class Real>
HALOCLINE_INLINE void set_link_at(GaugeField& u, const Site& x, int mu, const Su3<Real>& link) {
  store_link<Real>(u.field().data() + u.link_offset(x, mu), u.field().component_stride(), link);
}

/// The accessor of loops.hpp on a gauge field. Reads ghosts up to the depth of the field.
template <class Real>
class RowLinks {
public:
  HALOCLINE_INLINE RowLinks(const GaugeField& u, const Site& x)
      : field_(u.field()), link_stride_(u.link_stride()), here_(u.field().data() + u.link_offset(x, 0)) {}

  HALOCLINE_INLINE Su3<Real> operator()(const Shift& shift, int mu) const {
    std::int64_t jump = mu * link_stride_;
    for (int axis = 0; axis < 4; ++axis) jump += shift.by[axis] * field_.stride(axis);
    return load_link<Real>(here_ + jump, field_.component_stride());
  }

private:
  const lattice::GhostField<double>& field_;
  std::int64_t link_stride_;
  const double* here_;
};

/// A type as a value, for the body of a loop that runs at several pack widths.
template <class T>
struct Kind {
  using type = T;
};

/// Calls f(Kind<Real>, x) for packs Real that cover 0 <= x < extent from left to right.
template <class F>
HALOCLINE_INLINE void for_each_pack(std::int64_t extent, F&& f) {
  constexpr int wide = core::native_lanes<double>, half = wide / 2;
  std::int64_t x = 0;
  for (; x + wide <= extent; x += wide) f(Kind<core::Number<double, wide>>{}, x);
  if constexpr (half > 1)
    if (x + half <= extent) {
      f(Kind<core::Number<double, half>>{}, x);
      x += half;
    }
  for (; x < extent; ++x) f(Kind<double>{}, x);
}

/// Calls f(row, y, z, t) for all rows of the local box, in parallel; `row` counts them. f must not throw.
template <class F>
void for_each_row(const Site& local, F&& f) {
  const std::int64_t rows = local[1] * local[2] * local[3];
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row)
    f(row, row % local[1], row / local[1] % local[2], row / (local[1] * local[2]));
}

/// Calls f(Kind<Real>, site of the first lane) for packs that cover the local box, in parallel. f must not throw.
template <class F>
void for_each_site_pack(const Site& local, F&& f) {
  for_each_row(local, [&](std::int64_t, std::int64_t y, std::int64_t z, std::int64_t t) {
    for_each_pack(local[0], [&](auto kind, std::int64_t x) { f(kind, Site{x, y, z, t}); });
  });
}

inline double lane_sum(double a) { return a; }
template <int N>
inline double lane_sum(const core::Pack<double, N>& a) {
  return core::horizontal_sum(a);
}

/// Sums over the whole lattice of the K numbers that f(Kind<Real>, site) returns as std::array<Real, K>.
/// Collective: one sum of K doubles.
template <std::size_t K, class F>
std::array<double, K> sum_over_sites(const lattice::Geometry4& geometry, F&& f) {
  const Site& local = geometry.local();
  std::vector<std::array<double, K>> partial(static_cast<std::size_t>(local[1] * local[2] * local[3]));
  for_each_row(local, [&](std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t t) {
    std::array<double, K> sum{};
    for_each_pack(local[0], [&](auto kind, std::int64_t x) {
      const auto values = f(kind, Site{x, y, z, t});
      for (std::size_t k = 0; k < K; ++k) sum[k] += lane_sum(values[k]);
    });
    partial[static_cast<std::size_t>(row)] = sum;
  });
  std::array<double, K> total{};
  for (const auto& sum : partial)
    for (std::size_t k = 0; k < K; ++k) total[k] += sum[k];
  geometry.communicator().sum(total);
  return total;
}

/// The largest number that f(Kind<Real>, site) returns on the lattice, and at least 0; NaN if any number is NaN.
/// Collective.
template <class F>
double largest_over_sites(const lattice::Geometry4& geometry, F&& f) {
  const Site& local = geometry.local();
  std::vector<double> partial(static_cast<std::size_t>(local[1] * local[2] * local[3]));
  auto larger = [](double a, double b) { return a > b || a != a ? a : b; };
  for_each_row(local, [&](std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t t) {
    double largest = 0;
    for_each_pack(local[0], [&](auto kind, std::int64_t x) {
      using Real = typename decltype(kind)::type;
      double lane[core::Lanes<Real>::count];
      core::Lanes<Real>::store(lane, f(kind, Site{x, y, z, t}));
      for (double value : lane) largest = larger(largest, value);
    });
    partial[static_cast<std::size_t>(row)] = largest;
  });
  double largest = 0;
  for (double value : partial) largest = larger(largest, value);
  geometry.communicator().max(std::span(&largest, 1));
  return largest;
}

}  // namespace halocline::qcd::gauge::detail
