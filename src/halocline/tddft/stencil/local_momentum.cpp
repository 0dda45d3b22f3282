// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/stencil/local_momentum.hpp"

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/stencil/coefficients.hpp"

namespace halocline::tddft {

LocalMomentum::LocalMomentum(const Grid& grid, const Box& box)
    : box_(box), spacing_(grid.spacing), energies_(size(box.points())), momenta_(size(3 * box.points())) {
  y_ = links_per_axis * (box.extent[0] + stencil_reach);
  z_ = y_ * (box.extent[1] + stencil_reach);
  // Whole cache lines, so that a line has two points of each axis.
  axis_ = (z_ * (box.extent[2] + stencil_reach) + doubles_per_point - 1) / doubles_per_point * doubles_per_point;
  start_ = stencil_reach * (links_per_axis + y_ + z_);
  links_ = core::AlignedArray<double>(3 * axis_);
}

void LocalMomentum::set(const double* block, const Neighbourhood& near) {
  const std::array<std::int64_t, 3>& n = box_.extent;
  std::array<std::array<double, stencil_reach>, 3> half{};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t j = 0; j < stencil_reach; ++j) half[a][j] = 0.5 * slope_weights[j] / spacing_[a];
#pragma omp parallel for schedule(static) if (box_.points() > 4096)
  for (std::int64_t z = 0; z < n[2]; ++z)
    for (std::int64_t y = 0; y < n[1]; ++y) {
      double* row = links_.data() + start_ + y * y_ + z * z_;
      const std::int64_t number = y + n[1] * z, points = box_.points();
      const double* here = block + number * n[0] * doubles_per_point;
      for (std::int64_t x = 0; x < n[0]; ++x)
        for (std::int64_t a = 0; a < 3; ++a)
          momenta_[size(a * points + number * n[0] + x)] = here[x * doubles_per_point + a];
      const auto along = [&](std::int64_t x) {
        if (x >= 0 && x < n[0]) return here + x * doubles_per_point;
        return near.beyond[size(x < 0 ? x + stencil_reach : x - n[0] + stencil_reach)].at(number);
      };
      for (std::int64_t j = 1; j <= stencil_reach; ++j) {
        const std::size_t i = size(j - 1);
        // From every point upwards, and to the first points of the box: those links have no other owner here.
        for (std::int64_t x = -j; x < n[0]; ++x)
          row[x * links_per_axis + j - 1] = half[0][i] * (*along(x) + *along(x + j));
        const auto beside = [&](std::size_t a, std::int64_t place, std::int64_t step, const std::vector<Line>& lines,
                                std::int64_t other) {
          double* links = row + static_cast<std::int64_t>(a) * axis_ + j - 1;
          const double* up = lines[size(place + stencil_reach + j)].at(other) + a;
          const double* down = lines[size(place + stencil_reach - j)].at(other) + a;
          for (std::int64_t x = 0; x < n[0]; ++x) {
            const double q = here[x * doubles_per_point + static_cast<std::int64_t>(a)];
            links[x * links_per_axis] = half[a][i] * (q + up[x * doubles_per_point]);
            if (place < j) links[x * links_per_axis - j * step] = half[a][i] * (down[x * doubles_per_point] + q);
          }
        };
        beside(1, y, y_, near.y, z);
        beside(2, z, z_, near.z, y);
      }
    }
  fill_energies();
}

void LocalMomentum::add(const Vec3& k) {
  if (k == Vec3{}) return;
  for (std::int64_t a = 0; a < 3; ++a) {
    std::array<double, size(links_per_axis)> more;
    for (std::size_t j = 0; j < more.size(); ++j) more[j] = k[size(a)] * slope_weights[j] / spacing_[size(a)];
    double* links = links_.data() + a * axis_;
#pragma omp parallel for schedule(static) if (axis_ > 16384)
    for (std::int64_t p = 0; p < axis_; p += links_per_axis)
      for (std::int64_t i = 0; i < links_per_axis; ++i) links[p + i] += more[size(i)];
    for (std::int64_t i = 0; i < box_.points(); ++i) momenta_[size(a * box_.points() + i)] += k[size(a)];
  }
  fill_energies();
}

void LocalMomentum::fill_energies() {
  const std::size_t points = size(box_.points());
  for (std::size_t i = 0; i < points; ++i) {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) sum += momenta_[a * points + i] * momenta_[a * points + i];
    energies_[i] = 0.5 * sum;
  }
}

}  // namespace halocline::tddft
