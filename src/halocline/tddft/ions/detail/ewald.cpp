// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/detail/ewald.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/coulomb_cut.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include <fmt/core.h>

namespace halocline::tddft::detail {

namespace {

using std::numbers::pi;
constexpr double reach = 6.4;       // exp(-6.4^2) = 1.6e-18
constexpr double least_room = 2.0;  // [bohr] between the charges and the cut of the interaction

using Edges = std::array<Vec3, 3>;

double volume_of(const Edges& edges) { return std::abs(dot(edges[0], cross(edges[1], edges[2]))); }

/// Gives both sums equal work.
double usual_eta(const Edges& edges, std::size_t charges) {
  const double n = charges == 0 ? 1 : static_cast<double>(charges), volume = volume_of(edges);
  return std::sqrt(pi) * std::pow(n / (volume * volume), 1.0 / 6);
}

/// The integers n of all cells that reach within `most` of a point whose number along an edge is `from`: the planes of
/// the cells are 1/|b| apart.
std::array<int, 2> images(double from, const Vec3& b, double most) {
  const double reached = most * norm(b);
  return {static_cast<int>(std::ceil(-reached - from)), static_cast<int>(std::floor(reached - from))};
}

/// Adds charge i with charge j and all its images; for i = j, the interaction of a charge with its own images.
void add_pair(EwaldSum& sum, const Edges& edges, const Edges& inverse, double eta, std::size_t i, std::size_t j,
              double charges, const Vec3& between) {
  const double most = reach / eta, share = i == j ? 0.5 : 1.0;
  const auto range = [&](std::size_t a) { return images(dot(between, inverse[a]), inverse[a], most); };
  const auto [x0, x1] = range(0);
  const auto [y0, y1] = range(1);
  const auto [z0, z1] = range(2);
  for (int nz = z0; nz <= z1; ++nz)
    for (int ny = y0; ny <= y1; ++ny)
      for (int nx = x0; nx <= x1; ++nx) {
        Vec3 d = combined({double(nx), double(ny), double(nz)}, edges);
        for (std::size_t c = 0; c < 3; ++c) d[c] += between[c];
        const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (r2 > most * most || (i == j && nx == 0 && ny == 0 && nz == 0)) continue;
        const double r = std::sqrt(r2), screened = charges * std::erfc(eta * r) / r;
        sum.energy += share * screened;
        if (i == j) continue;
        const double push = (screened + charges * eta * 2 * std::numbers::inv_sqrtpi * std::exp(-eta * eta * r2)) / r2;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          sum.forces[i][axis] += push * d[axis];
          sum.forces[j][axis] -= push * d[axis];
        }
      }
}

/// exp(i 2 pi n s) for n = 0 ... most.
std::vector<std::complex<double>> phases(double s, int most) {
  std::vector<std::complex<double>> result;
  for (int n = 0; n <= most; ++n) result.push_back(std::polar(1.0, 2 * pi * n * s));
  return result;
}

/// @param coulomb  v(G) of base/coulomb_cut.hpp
template <class Coulomb>
void add_waves(EwaldSum& sum, const Edges& edges, const Edges& inverse, double eta, double volume,
               std::span<const double> charges, std::span<const Vec3> positions, const Coulomb& coulomb) {
  const std::size_t n = charges.size();
  const double most = 2 * eta * reach;
  std::array<int, 3> last{};
  std::array<std::vector<std::vector<std::complex<double>>>, 3> phase;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    last[axis] = static_cast<int>(most * norm(edges[axis]) / (2 * pi));
    for (const Vec3& r : positions) phase[axis].push_back(phases(dot(r, inverse[axis]), last[axis]));
  }
  const auto along = [&](std::size_t axis, std::size_t i, int k) {
    const auto& p = phase[axis][i][static_cast<std::size_t>(std::abs(k))];
    return k < 0 ? std::conj(p) : p;
  };
  std::vector<std::complex<double>> wave(n);
  // Only one of G and -G is visited, and counted twice.
  for (int kx = 0; kx <= last[0]; ++kx)
    for (int ky = kx == 0 ? 0 : -last[1]; ky <= last[1]; ++ky)
      for (int kz = kx == 0 && ky == 0 ? 1 : -last[2]; kz <= last[2]; ++kz) {
        const Vec3 g = combined({2 * pi * kx, 2 * pi * ky, 2 * pi * kz}, inverse);
        const double g2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        if (g2 > most * most) continue;
        std::complex<double> total = 0;
        for (std::size_t i = 0; i < n; ++i) {
          wave[i] = charges[i] * along(0, i, kx) * along(1, i, ky) * along(2, i, kz);
          total += wave[i];
        }
        const double factor = std::exp(-g2 / (4 * eta * eta)) * coulomb(g) / volume;
        sum.energy += factor * std::norm(total);
        for (std::size_t i = 0; i < n; ++i) {
          const double push = 2 * factor * std::imag(wave[i] * std::conj(total));
          for (std::size_t axis = 0; axis < 3; ++axis) sum.forces[i][axis] += push * g[axis];
        }
      }
}

/// The largest distance of two charges along an axis, in the cell in which they are nearest to each other.
double span_along(const Edges& inverse, double length, int axis, std::span<const Vec3> positions) {
  std::vector<double> places;
  for (const Vec3& r : positions) {
    const double s = dot(r, inverse[static_cast<std::size_t>(axis)]);
    places.push_back(s - std::floor(s));
  }
  std::ranges::sort(places);
  double gap = places.empty() ? 1 : 1 + places.front() - places.back();
  for (std::size_t i = 1; i < places.size(); ++i) gap = std::max(gap, places[i] - places[i - 1]);
  return (1 - gap) * length;
}

template <class Coulomb>
EwaldSum sum_of(const Edges& edges, std::span<const double> charges, std::span<const Vec3> positions, double eta,
                bool crystal, const Coulomb& coulomb) {
  const std::size_t n = charges.size();
  const Edges inverse = dual(edges);
  const double volume = volume_of(edges);
  if (!(eta > 0)) eta = usual_eta(edges, n);
  EwaldSum sum;
  sum.forces.assign(n, Vec3{});
  double total = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    total += charges[i];
    squares += charges[i] * charges[i];
    for (std::size_t j = 0; j <= i; ++j) {
      Vec3 between{};
      for (std::size_t axis = 0; axis < 3; ++axis) between[axis] = positions[i][axis] - positions[j][axis];
      add_pair(sum, edges, inverse, eta, i, j, charges[i] * charges[j], between);
    }
  }
  add_waves(sum, edges, inverse, eta, volume, charges, positions, coulomb);
  sum.energy -= eta * std::numbers::inv_sqrtpi * squares;
  // In a crystal the wave G = 0 is left out, and with it must go the mean of what the real space has summed.
  const double mean = crystal ? -pi / (eta * eta) : coulomb(Vec3{});
  sum.energy += total * total * mean / (2 * volume);
  return sum;
}

}  // namespace

EwaldSum ewald(const Edges& edges, std::span<const double> charges, std::span<const Vec3> positions, double eta) {
  return sum_of(edges, charges, positions, eta, true, [](const Vec3& g) {
    const double g2 = dot(g, g);
    return g2 == 0 ? 0.0 : 4 * pi / g2;
  });
}

EwaldSum ewald(const Grid& grid, std::span<const double> charges, std::span<const Vec3> positions, double eta) {
  const Edges edges = grid.edges(), inverse = dual(edges);
  if (!(eta > 0)) eta = usual_eta(edges, charges.size());
  for (int axis = 0; axis < 3; ++axis) {
    if (!grid.open[static_cast<std::size_t>(axis)]) continue;
    const double room = 0.5 * grid.length(axis) - span_along(inverse, grid.length(axis), axis, positions);
    if (!(room > least_room))
      throw core::InvalidArgument(
          fmt::format("the atoms reach over {:.4g} bohr of the {:.4g} bohr of the cell across a slab or wire; they "
                      "must be at least {:g} bohr nearer than half of it, so that they do not see their images: take a "
                      "longer cell",
                      0.5 * grid.length(axis) - room, grid.length(axis), least_room));
    eta = std::max(eta, reach / room);
  }
  return sum_of(edges, charges, positions, eta, open_axes(grid) == 0,
                [&](const Vec3& g) { return coulomb_in_waves(grid, g); });
}

}  // namespace halocline::tddft::detail
