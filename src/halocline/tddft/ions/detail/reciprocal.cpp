// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/detail/reciprocal.hpp"

#include "halocline/tddft/base/coulomb_cut.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ions/detail/layers.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace halocline::tddft::detail {

namespace {

using std::numbers::pi;

std::array<Waves, 3> waves_of(const Grid& grid) { return {Waves(grid, 0), Waves(grid, 1), Waves(grid, 2)}; }

/// The phases of every atom along every axis, shape (axis, atom, count).
using AtomWaves = std::array<std::vector<std::vector<Complex>>, 3>;

AtomWaves phases_of(const System& system, const WaveSums& sums) {
  AtomWaves result;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const Atom& atom : system.atoms) result[axis].push_back(sums.along(axis).phases(atom.position[axis]));
  return result;
}

}  // namespace

std::vector<double> local_coefficients(const Pseudopotential& species, std::span<const double> squares,
                                       std::span<const double> coulomb, double volume) {
  // In a cube most lengths of G occur often. Sorted by length, each is computed once.
  std::vector<std::size_t> order(squares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return squares[i]; });
  std::vector<double> values(squares.size());
  double last = -1, value = 0;
  for (const std::size_t i : order) {
    const double g2 = squares[i];
    if (last < 0 || g2 > last * (1 + 1e-13)) {
      value = species.local_fourier(std::sqrt(g2));
      last = g2;
    }
    values[i] = (value - species.valence() * coulomb[i]) / volume;
  }
  return values;
}

LocalCoefficients::LocalCoefficients(const System& system) {
  const auto waves = waves_of(system.grid);
  for (std::size_t axis = 0; axis < 3; ++axis) count_[axis] = waves[axis].count();
  std::vector<double> squares, coulomb;
  for (std::int64_t kz = 0; kz <= count_[2] / 2; ++kz)
    for (std::int64_t ky = 0; ky <= count_[1] / 2; ++ky)
      for (std::int64_t kx = 0; kx <= count_[0] / 2; ++kx) {
        const double gx = waves[0].g(kx), gy = waves[1].g(ky), gz = waves[2].g(kz);
        squares.push_back(gx * gx + gy * gy + gz * gz);
        coulomb.push_back(coulomb_in_waves(system.grid, {gx, gy, gz}));
      }
  for (const auto& species : system.species)
    values_.push_back(local_coefficients(*species, squares, coulomb, system.grid.volume()));
}

std::size_t LocalCoefficients::index(std::int64_t kx, std::int64_t ky, std::int64_t kz) const noexcept {
  const auto fold = [this](std::size_t axis, std::int64_t k) { return 2 * k <= count_[axis] ? k : count_[axis] - k; };
  return at(fold(0, kx) + (count_[0] / 2 + 1) * (fold(1, ky) + (count_[1] / 2 + 1) * fold(2, kz)));
}

std::vector<double> periodic_potential(const System& system, const Decomposition& decomposition,
                                       const LocalCoefficients& local) {
  const WaveSums sums(system.grid, decomposition.box());
  const AtomWaves atoms = phases_of(system, sums);
  return sums.at_points(decomposition, [&](std::span<Complex> waves_x, std::int64_t ky, std::int64_t kz) {
    std::vector<Complex> structure(waves_x.size());
    for (std::size_t s = 0; s < system.species.size(); ++s) {
      std::ranges::fill(structure, Complex{});
      for (std::size_t a = 0; a < system.atoms.size(); ++a)
        if (at(system.atoms[a].species) == s)
          add(structure, times(atoms[1][a][at(ky)], atoms[2][a][at(kz)]), atoms[0][a]);
      for (std::size_t kx = 0; kx < waves_x.size(); ++kx)
        waves_x[kx] += local(s, std::int64_t(kx), ky, kz) * structure[kx];
    }
  });
}

std::vector<Vec3> periodic_local_forces(const System& system, const Box& box, const LocalCoefficients& local,
                                        std::span<const double> gradient,
                                        const std::function<void(std::span<double>)>& sum_planes, int part, int parts) {
  const WaveSums sums(system.grid, box);
  const AtomWaves phases = phases_of(system, sums);
  const std::int64_t nx = sums.count(0), ny = sums.count(1), rows = 3 * ny;
  const auto atoms = static_cast<std::int64_t>(system.atoms.size());
  std::vector<Vec3> forces(system.atoms.size());
  // The sums over all points times the coefficients of each species, shape (species, 3, k_y, k_x).
  std::vector<Complex> products(system.species.size() * at(rows * nx));
  sums.of_field(gradient, sum_planes, [&](std::int64_t kz, std::span<const Complex> transforms) {
    if (kz % parts != part) return;
    const double weight = sums.weight(kz) * system.grid.point_volume();
    const bool threads = atoms * nx * ny >= points_for_threads;
    const auto all = static_cast<std::int64_t>(system.species.size()) * rows;
#pragma omp parallel if (threads)
    {
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < all; ++i)
        for (std::int64_t kx = 0; kx < nx; ++kx)
          products[at(i * nx + kx)] = local(at(i / rows), kx, i % ny, kz) * transforms[at(i % rows * nx + kx)];
#pragma omp for schedule(static)
      for (std::int64_t a = 0; a < atoms; ++a) {
        std::vector<Complex> sum(at(nx));
        for (std::int64_t axis = 0; axis < 3; ++axis) {
          std::ranges::fill(sum, Complex{});
          for (std::int64_t ky = 0; ky < ny; ++ky)
            add(sum, phases[1][at(a)][at(ky)],
                row(std::as_const(products), system.atoms[at(a)].species * rows + axis * ny + ky, nx));
          Complex total = 0;
          for (std::int64_t kx = 0; kx < nx; ++kx) total += times(sum[at(kx)], phases[0][at(a)][at(kx)]);
          forces[at(a)][at(axis)] -= weight * times(total, phases[2][at(a)][at(kz)]).real();
        }
      }
    }
  });
  return forces;
}

}  // namespace halocline::tddft::detail
