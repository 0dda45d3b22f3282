// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/detail/ewald.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/coulomb_cut.hpp"
#include "halocline/tddft/ions/detail/wave_sums.hpp"

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

/// Gives both sums equal time: a term over space takes some 17 times as long as one over waves (8 to 216 atoms of
/// silicon), and the factor is 17^(1/6).
double usual_eta(const Edges& edges, std::size_t charges) {
  const double n = charges == 0 ? 1 : static_cast<double>(charges), volume = volume_of(edges);
  return 1.6 * std::sqrt(pi) * std::pow(n / (volume * volume), 1.0 / 6);
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

/// The sum over waves, with exp(i 2 pi n s) of every charge along every edge for n = 0 ... last.
class ChargeWaves {
public:
  ChargeWaves(const Edges& edges, const Edges& inverse, double most, std::span<const Vec3> positions)
      : inverse_(inverse), most_(most) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      last_[axis] = static_cast<int>(most * norm(edges[axis]) / (2 * pi));
      for (int n = 0; n <= last_[axis]; ++n)
        for (const Vec3& r : positions) phases_[axis].push_back(std::polar(1.0, 2 * pi * n * dot(r, inverse[axis])));
    }
  }

  /// Adds the waves of every `parts`th row along z, from row `part` on.
  /// @param coulomb  v(G) of base/coulomb_cut.hpp
  template <class Coulomb>
  void add(EwaldSum& sum, double eta, double volume, std::span<const double> charges, const Coulomb& coulomb, int part,
           int parts) const {
    const std::size_t n = charges.size();
    std::vector<Complex> in_plane(n), wave(n);
    int row = 0;
    // Only one of G and -G is visited, and counted twice.
    for (int kx = 0; kx <= last_[0]; ++kx)
      for (int ky = kx == 0 ? 0 : -last_[1]; ky <= last_[1]; ++ky) {
        if (row++ % parts != part) continue;
        const Phases x = phases(0, kx, n), y = phases(1, ky, n);
        for (std::size_t i = 0; i < n; ++i) in_plane[i] = charges[i] * times(x.at(i), y.at(i));
        for (int kz = kx == 0 && ky == 0 ? 1 : -last_[2]; kz <= last_[2]; ++kz) {
          const Vec3 g = combined({2 * pi * kx, 2 * pi * ky, 2 * pi * kz}, inverse_);
          const double g2 = dot(g, g);
          if (g2 > most_ * most_) continue;
          const Phases z = phases(2, kz, n);
          Complex total = 0;
          for (std::size_t i = 0; i < n; ++i) {
            wave[i] = times(in_plane[i], z.at(i));
            total += wave[i];
          }
          const double factor = std::exp(-g2 / (4 * eta * eta)) * coulomb(g) / volume;
          sum.energy += factor * std::norm(total);
          for (std::size_t i = 0; i < n; ++i) {
            const double push = 2 * factor * (wave[i].imag() * total.real() - wave[i].real() * total.imag());
            for (std::size_t axis = 0; axis < 3; ++axis) sum.forces[i][axis] += push * g[axis];
          }
        }
      }
  }

private:
  /// exp(i 2 pi n s) of all charges, for n of either sign.
  struct Phases {
    const Complex* of_n;
    double sign;
    Complex at(std::size_t charge) const noexcept { return {of_n[charge].real(), sign * of_n[charge].imag()}; }
  };
  Phases phases(std::size_t axis, int n, std::size_t charges) const noexcept {
    return {phases_[axis].data() + static_cast<std::size_t>(std::abs(n)) * charges, n < 0 ? -1.0 : 1.0};
  }

  Edges inverse_;
  double most_;
  std::array<int, 3> last_{};
  std::array<std::vector<Complex>, 3> phases_;  ///< shape (axis, last + 1, charges)
};

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
  const ChargeWaves waves(edges, inverse, 2 * eta * reach, positions);
  // The parts are the same for any number of threads, and so is the order of the sums.
  const int parts = n < 8 ? 1 : 16;
  std::vector<EwaldSum> sums(static_cast<std::size_t>(parts), EwaldSum{0, std::vector<Vec3>(n, Vec3{})});
#pragma omp parallel for schedule(dynamic) if (parts > 1)
  for (int part = 0; part < parts; ++part) {
    EwaldSum& mine = sums[static_cast<std::size_t>(part)];
    for (auto i = static_cast<std::size_t>(part); i < n; i += static_cast<std::size_t>(parts))
      for (std::size_t j = 0; j <= i; ++j) {
        Vec3 between{};
        for (std::size_t axis = 0; axis < 3; ++axis) between[axis] = positions[i][axis] - positions[j][axis];
        add_pair(mine, edges, inverse, eta, i, j, charges[i] * charges[j], between);
      }
    waves.add(mine, eta, volume, charges, coulomb, part, parts);
  }
  EwaldSum& sum = sums.front();
  for (std::size_t part = 1; part < sums.size(); ++part) {
    sum.energy += sums[part].energy;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) sum.forces[i][axis] += sums[part].forces[i][axis];
  }
  double total = 0, squares = 0;
  for (const double charge : charges) {
    total += charge;
    squares += charge * charge;
  }
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

double eta_of_room(const Grid& grid, std::span<const Vec3> positions) {
  const Edges inverse = dual(grid.edges());
  double eta = 0;
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
  return eta;
}

EwaldSum ewald(const Grid& grid, std::span<const double> charges, std::span<const Vec3> positions, double eta) {
  const Edges edges = grid.edges();
  if (!(eta > 0)) eta = usual_eta(edges, charges.size());
  return sum_of(edges, charges, positions, std::max(eta, eta_of_room(grid, positions)), open_axes(grid) == 0,
                [&](const Vec3& g) { return coulomb_in_waves(grid, g); });
}

}  // namespace halocline::tddft::detail
