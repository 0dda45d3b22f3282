// SPDX-License-Identifier: Apache-2.0
/// @file
/// The symbol of the stencil: the factor by which it multiplies a plane wave exp(i theta i_axis),
///   t(theta) = q^2/2 + (q/h) 2 sum_j n_j sin(j theta) - (l_0 + 2 sum_j l_j cos(j theta)) / (2 h^2)
/// for each axis. A periodic axis has the angles 2 pi m / N. An isolated one is the middle of an infinite axis (a
/// Toeplitz matrix), whose spectrum lies within the range of the symbol over all angles. On axes that are not
/// orthogonal the parts do not add up axis by axis; up to 16 angles of each axis are tried in all combinations.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "halocline/tddft/stencil/coefficients.hpp"
#include "halocline/tddft/stencil/stencil.hpp"

namespace halocline::tddft {
namespace {

double symbol(double h, double q, double theta) {
  double slope = 0, curvature = curvature_centre;
  for (int j = 1; j <= stencil_reach; ++j) {
    const auto weight = static_cast<std::size_t>(j - 1);
    slope += 2 * slope_weights[weight] * std::sin(j * theta);
    curvature += 2 * curvature_weights[weight] * std::cos(j * theta);
  }
  return 0.5 * q * q + q * slope / h - 0.5 * curvature / (h * h);
}

/// Largest value over all angles: the best of 512, refined by golden-section search in the interval around it.
double largest_symbol(double h, double q) {
  constexpr int samples = 512;
  constexpr double step = 2 * std::numbers::pi / samples;
  int best = 0;
  for (int m = 1; m < samples; ++m)
    if (symbol(h, q, m * step) > symbol(h, q, best * step)) best = m;
  double low = (best - 1) * step, high = (best + 1) * step;
  const double ratio = 0.5 * (std::sqrt(5.0) - 1);
  for (int i = 0; i < 60; ++i) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    if (symbol(h, q, a) > symbol(h, q, b))
      high = b;
    else
      low = a;
  }
  return std::max(symbol(h, q, 0.5 * (low + high)), symbol(h, q, best * step));
}

using Phase = std::complex<double>;  // exp(i theta)

/// 2 sum_j n_j sin(j theta)
double slope_at(const Phase& phase) {
  double sum = 0;
  Phase power = 1;
  for (const double weight : slope_weights) sum += 2 * weight * (power *= phase).imag();
  return sum;
}

/// l_0 + 2 sum_j l_j cos(j theta)
double curvature_at(const Phase& phase) {
  double sum = curvature_centre;
  Phase power = 1;
  for (const double weight : curvature_weights) sum += 2 * weight * (power *= phase).real();
  return sum;
}

double largest_skew(const Grid& grid, const Vec3& q) {
  const std::vector<Direction> directions = laplacian_directions(grid);
  std::vector<double> along;  // q times the vector of each direction in the gradient
  for (const Direction& d : directions)
    along.push_back(d.weight *
                    dot(q, combined({double(d.steps[0]), double(d.steps[1]), double(d.steps[2])}, grid.steps())));
  std::array<std::vector<Phase>, 3> phases;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t count = std::min<std::int64_t>(grid.extent[a], 16);
    for (std::int64_t m = 0; m < count; ++m)
      phases[a].push_back(std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(m) / static_cast<double>(count)));
  }
  const auto raised = [](const Phase& phase, int power) {
    return power == 0 ? Phase(1) : power > 0 ? phase : std::conj(phase);
  };
  double largest = 0;
  for (const Phase& z : phases[2])
    for (const Phase& y : phases[1])
      for (const Phase& x : phases[0]) {
        double sum = 0.5 * dot(q, q);
        for (std::size_t d = 0; d < directions.size(); ++d) {
          const auto& steps = directions[d].steps;
          const Phase phase = raised(x, steps[0]) * raised(y, steps[1]) * raised(z, steps[2]);
          sum -= 0.5 * directions[d].weight * curvature_at(phase);
          sum += along[d] * slope_at(phase);
        }
        largest = std::max(largest, sum);
      }
  return largest;
}

}  // namespace

double Stencil::largest_kinetic(const Grid& grid, const Vec3& q) {
  if (grid.skew()) return largest_skew(grid, q);
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double h = grid.spacing[a];
    if (grid.boundary == Boundary::isolated) {
      sum += largest_symbol(h, q[a]);
      continue;
    }
    double largest = symbol(h, q[a], 0);
    const std::int64_t n = grid.extent[a];
    for (std::int64_t m = 1; m < n; ++m)
      largest =
          std::max(largest, symbol(h, q[a], 2 * std::numbers::pi * static_cast<double>(m) / static_cast<double>(n)));
    sum += largest;
  }
  return sum;
}

}  // namespace halocline::tddft
