// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/base/coulomb_cut.hpp"

#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace halocline::tddft {
namespace {

using std::numbers::pi;

/// K_n(x), zero where it is smaller than any number.
double k_bessel(int n, double x) { return x > 600 ? 0.0 : std::cyl_bessel_k(n, x); }

double of_wire(double along, double across, double c) {
  const double g2 = along * along + across * across;
  if (g2 == 0) return -pi * c * c * (2 * std::log(c) - 1);
  const double x = across * c, j0 = std::cyl_bessel_j(0, x), j1 = std::cyl_bessel_j(1, x);
  if (along == 0) return 4 * pi / g2 * (1 - j0 - x * std::log(c) * j1);
  return 4 * pi / g2 * (1 + x * j1 * k_bessel(0, along * c) - along * c * j0 * k_bessel(1, along * c));
}

double of_slab(double along, double across, double c) {
  const double g2 = along * along + across * across;
  if (g2 == 0) return -2 * pi * c * c;
  return 4 * pi / g2 * (1 - std::exp(-along * c) * std::cos(across * c));
}

}  // namespace

int open_axes(const Grid& grid) noexcept { return static_cast<int>(std::ranges::count(grid.open, true)); }

double coulomb_in_waves(const Grid& grid, const Vec3& g) {
  const int open = open_axes(grid);
  const double g2 = dot(g, g);
  if (open == 0) return g2 == 0 ? 0.0 : 4 * pi / g2;
  // Open axes are at right angles to the others, so the components across are those along their own axes.
  double across2 = 0, half = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < 3; ++axis)
    if (grid.open[size(axis)]) {
      const double component = dot(g, grid.axes[size(axis)]);
      across2 += component * component;
      half = std::min(half, 0.5 * grid.length(axis));
    }
  // Rounding must not turn a wave straight across into one that runs slowly along.
  const double along2 = g2 - across2, along = along2 > 1e-12 * g2 ? std::sqrt(along2) : 0.0;
  return open == 1 ? of_slab(along, std::sqrt(across2), half) : of_wire(along, std::sqrt(across2), half);
}

}  // namespace halocline::tddft
