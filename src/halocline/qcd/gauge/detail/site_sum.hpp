// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums over all sites of a function of the links around each site, for a pack of consecutive x at a time.
///
/// Each row along x is summed by one thread. Rows are added in their order, and processes in rank order, so the result
/// depends neither on threads nor on timing, and on the process grid only by rounding.

#include "halocline/core/pack.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace halocline::qcd::gauge::detail {

/// Consecutive sites of a row that are computed together.
using Sites = core::Pack<double, core::native_lanes<double>>;

/// The links around a pack of sites; `distance` is the offset in memory to the site of a link.
struct LinksAround {
  const double* site;  ///< U_x of the first site
  std::int64_t component_stride;
  std::int64_t link_stride;

  HALOCLINE_INLINE Su3<Sites> operator()(int mu, std::int64_t distance = 0) const {
    return load_link<Sites>(site + distance + mu * link_stride, component_stride);
  }
};

/// The sum over all sites of the whole lattice of the `n` numbers that values(links) gives for each.
/// @param values  LinksAround -> std::array<Sites, n>; may read at distances up to the field's depth
/// Collective: yes.
template <int n, class Values>
std::array<double, n> sum_over_sites(const GaugeField& gauge, Values&& values) {
  const auto& local = gauge.geometry().local();
  const auto& field = gauge.field();
  const std::int64_t rows = local[1] * local[2] * local[3];
  std::vector<std::array<double, n>> row_sum(static_cast<std::size_t>(rows));
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    const lattice::Coordinates<4> first = {0, row % local[1], row / local[1] % local[2], row / (local[1] * local[2])};
    const double* site = field.data() + field.offset(first);
    std::array<Sites, n> sum;
    sum.fill(Sites(0.0));
    for (std::int64_t x = 0; x < local[0]; x += Sites::lanes) {
      const auto term = values(LinksAround{site + x, field.component_stride(), gauge.link_stride()});
      const std::int64_t valid = local[0] - x;
      if (valid >= Sites::lanes) {
        for (int i = 0; i < n; ++i) sum[i] += term[i];
      } else {
        for (int i = 0; i < n; ++i)
          for (int lane = 0; lane < valid; ++lane) sum[i].set(lane, sum[i][lane] + term[i][lane]);
      }
    }
    for (int i = 0; i < n; ++i) row_sum[static_cast<std::size_t>(row)][i] = core::horizontal_sum(sum[i]);
  }
  std::array<double, n> total{};
  for (const auto& sum : row_sum)
    for (int i = 0; i < n; ++i) total[i] += sum[i];
  gauge.geometry().communicator().sum(total);
  return total;
}

}  // namespace halocline::qcd::gauge::detail
