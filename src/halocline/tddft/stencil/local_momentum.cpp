// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/stencil/local_momentum.hpp"

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/stencil/coefficients.hpp"

namespace halocline::tddft {

LocalMomentum::LocalMomentum(const Grid& grid, const Box& box, const double* block, const Neighbourhood& near)
    : box_(box), spacing_(grid.spacing), momenta_(size(3 * box.points())) {
  const std::array<std::int64_t, 3>& n = box.extent;
  y_ = links_per_point * (n[0] + stencil_reach);
  z_ = y_ * (n[1] + stencil_reach);
  start_ = stencil_reach * (links_per_point + y_ + z_);
  links_ = core::AlignedArray<double>(z_ * (n[2] + stencil_reach));
#pragma omp parallel for schedule(static) if (box.points() > 4096)
  for (std::int64_t z = 0; z < n[2]; ++z)
    for (std::int64_t y = 0; y < n[1]; ++y) {
      double* row = links_.data() + start_ + y * y_ + z * z_;
      const std::int64_t number = y + n[1] * z;
      const double* here = block + number * n[0] * doubles_per_point;
      const auto along = [&](std::int64_t x) {
        if (x >= 0 && x < n[0]) return here + x * doubles_per_point;
        return near.beyond[size(x < 0 ? x + stencil_reach : x - n[0] + stencil_reach)].at(number);
      };
      for (std::int64_t x = 0; x < n[0]; ++x) {
        const double* q = here + x * doubles_per_point;
        for (std::size_t a = 0; a < 3; ++a) momenta_[a * size(box.points()) + size(number * n[0] + x)] = q[a];
        for (std::int64_t j = 1; j <= stencil_reach; ++j) {
          const std::int64_t line = x * doubles_per_point;
          const std::array<const double*, 3> up{along(x + j), near.y[size(y + stencil_reach + j)].at(z) + line,
                                                near.z[size(z + stencil_reach + j)].at(y) + line};
          const std::array<const double*, 3> down{along(x - j), near.y[size(y + stencil_reach - j)].at(z) + line,
                                                  near.z[size(z + stencil_reach - j)].at(y) + line};
          const std::array<std::int64_t, 3> place{x, y, z}, step{links_per_point, y_, z_};
          for (std::size_t a = 0; a < 3; ++a) {
            const double half = 0.5 * slope_weights[size(j - 1)] / spacing_[a];
            double* link = row + x * links_per_point + 4 * static_cast<std::int64_t>(a) + j - 1;
            *link = half * (q[a] + up[a][a]);
            // The links from points before the box have no other owner here.
            if (place[a] < j) link[-j * step[a]] = half * (down[a][a] + q[a]);
          }
        }
      }
    }
  fill_energies();
}

void LocalMomentum::add(const Vec3& k) {
  if (k == Vec3{}) return;
  std::array<double, size(links_per_point)> more;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t j = 0; j < stencil_reach; ++j) more[4 * a + j] = k[a] * slope_weights[j] / spacing_[a];
  const std::int64_t points = links_.size() / links_per_point;
#pragma omp parallel for schedule(static) if (points > 4096)
  for (std::int64_t p = 0; p < points; ++p)
    for (std::int64_t i = 0; i < links_per_point; ++i) links_[p * links_per_point + i] += more[size(i)];
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t i = 0; i < size(box_.points()); ++i) momenta_[a * size(box_.points()) + i] += k[a];
  fill_energies();
}

void LocalMomentum::fill_energies() {
  const std::size_t points = size(box_.points());
  energies_.resize(points);
  for (std::size_t i = 0; i < points; ++i) {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) sum += momenta_[a * points + i] * momenta_[a * points + i];
    energies_[i] = 0.5 * sum;
  }
}

}  // namespace halocline::tddft
