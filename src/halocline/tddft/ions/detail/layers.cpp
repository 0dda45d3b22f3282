// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/detail/layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace halocline::tddft::detail {

Layers::Layers(const Grid& grid, const Box& box, std::size_t axis, const Vec3& centre, double radius) {
  const Vec3 inverse = dual(grid.axes)[axis];
  const double middle = dot(centre, inverse), reach = radius * norm(inverse);
  const double h = grid.spacing[axis], first = grid.position(static_cast<int>(axis), 0);
  const std::int64_t n = grid.extent[axis];
  auto low = static_cast<std::int64_t>(std::ceil((middle - reach - first) / h));
  auto high = static_cast<std::int64_t>(std::floor((middle + reach - first) / h));
  if (grid.boundary == Boundary::isolated) {
    low = std::max<std::int64_t>(low, 0);
    high = std::min(high, n - 1);
  }
  for (std::int64_t i = low; i <= high; ++i) {
    const std::int64_t here = ((i % n) + n) % n - box.offset[axis];
    if (here < 0 || here >= box.extent[axis]) continue;
    place.push_back(here);
    along.push_back(grid.position(static_cast<int>(axis), i) - middle);
  }
}

}  // namespace halocline::tddft::detail
