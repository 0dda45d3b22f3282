// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shares of a field by the densities of pseudo-atoms. Points are taken in rows along x, where the squares of the
/// distances from an atom are a polynomial, so that square roots and tables are computed in vectors.

#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ions/detail/layers.hpp"
#include "halocline/tddft/ions/ions.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace halocline::tddft {
namespace {

using detail::Layers;
using detail::points_for_threads;

constexpr std::int64_t together = DensityTable::together;

/// The points of a box near an atom, and its density there.
class Near {
public:
  Near(const Grid& grid, const Box& box, const Vec3& centre, const DensityTable& density)
      : grid_(&grid),
        box_(&box),
        density_(&density),
        layers_{Layers(grid, box, 0, centre, density.radius()), Layers(grid, box, 1, centre, density.radius()),
                Layers(grid, box, 2, centre, density.radius())} {
    // Runs of x whose points stand one behind the other.
    const std::vector<std::int64_t>& place = layers_[0].place;
    for (std::size_t i = 0; i < place.size(); ++i)
      if (i == 0 || place[i] != place[i - 1] + 1)
        runs_.push_back({static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1});
      else
        ++runs_.back().end;
  }

  /// Calls action(first point, number of points, their densities and zeros up to a multiple of `together`) for parts of
  /// rows.
  /// @param plane  of the box, or -1 for all
  template <class Action>
  void visit(std::int64_t plane, Action&& action) const {
    const Layers &xs = layers_[0], &ys = layers_[1], &zs = layers_[2];
    const double radius = density_->radius(), per_step = 1 / grid_->spacing[0];
    std::array<double, 64> densities;
    for (std::size_t z = 0; z < zs.place.size(); ++z) {
      if (plane >= 0 && zs.place[z] != plane) continue;
      for (std::size_t y = 0; y < ys.place.size(); ++y) {
        Vec3 base{};
        for (std::size_t i = 0; i < 3; ++i) base[i] = ys.along[y] * grid_->axes[1][i] + zs.along[z] * grid_->axes[2][i];
        // The squares of the distances along the row are c + t (2 b + t).
        const double b = dot(base, grid_->axes[0]), c = dot(base, base), room = b * b - c + radius * radius;
        if (room < 0) continue;
        const double reach = std::sqrt(room);
        for (const Range& run : runs_) {
          // Its points are one step apart. Rounding may add or drop one where the density ends.
          const double* t = xs.along.data() + run.begin;
          const double start = (-b - reach - t[0]) * per_step, stop = (-b + reach - t[0]) * per_step;
          if (stop < 0) continue;
          const auto begin = static_cast<std::int64_t>(std::ceil(std::max(start, 0.0)));
          const std::int64_t end = std::min(static_cast<std::int64_t>(stop) + 1, run.size());
          for (std::int64_t first = begin; first < end; first += 64) {
            const std::int64_t count = std::min<std::int64_t>(end - first, 64);
            density_->fill(densities.data(), t[first], grid_->spacing[0], b, c, count);
            action(box_->index(xs.place[at(run.begin + first)], ys.place[y], zs.place[z]), count, densities.data());
          }
        }
      }
    }
  }

private:
  const Grid* grid_;
  const Box* box_;
  const DensityTable* density_;
  std::array<Layers, 3> layers_;
  std::vector<Range> runs_;
};

}  // namespace

std::vector<Vec3> share_between_atoms(const System& system, const Decomposition& decomposition, const IonTables& tables,
                                      std::span<const double> field) {
  const core::Region region("tddft/shares of the grid's force");
  const Box& box = decomposition.box();
  const std::int64_t points = box.points();
  std::vector<Near> near;
  for (const Atom& atom : system.atoms)
    near.emplace_back(system.grid, box, atom.position, tables.densities()[at(atom.species)]);
  const auto atoms = static_cast<std::int64_t>(near.size());

  // Threads share planes here and atoms below, so that sums have one order for any number of them.
  std::vector<double> sum(at(points), 0.0);
#pragma omp parallel for schedule(dynamic) if (points >= points_for_threads)
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (const Near& atom : near)
      atom.visit(z, [&](std::int64_t first, std::int64_t count, const double* n) {
        double* out = sum.data() + first;
#pragma omp simd
        for (std::int64_t i = 0; i < count; ++i) out[i] += n[i];
      });

  // Points beyond all atoms go to all of them in equal parts; the field of the others is divided by the sum.
  const double volume = system.grid.point_volume();
  Vec3 rest{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double* f = field.data() + at(static_cast<std::int64_t>(axis) * points);
    for (std::int64_t i = 0; i < points; ++i) rest[axis] += sum[at(i)] > 0 ? 0.0 : f[i];
    rest[axis] *= volume / static_cast<double>(atoms);
  }
  for (double& n : sum) n = n > 0 ? volume / n : 0.0;
  const std::vector<double>& per_density = sum;

  std::vector<Vec3> shares(at(atoms), rest);
#pragma omp parallel for schedule(dynamic) if (points >= points_for_threads)
  for (std::int64_t a = 0; a < atoms; ++a) {
    // Sums in the lanes of a register, so that short rows need no sums over lanes.
    std::array<std::array<double, at(together)>, 3> parts{};
    near[at(a)].visit(-1, [&](std::int64_t first, std::int64_t count, const double* n) {
      std::int64_t i = 0;
      for (; i < count && first + i + together <= points; i += together)
        for (std::size_t lane = 0; lane < at(together); ++lane) {
          const std::size_t point = at(first + i) + lane;
          const double part = per_density[point] * n[at(i) + lane];
          for (std::size_t axis = 0; axis < 3; ++axis) parts[axis][lane] += part * field[axis * at(points) + point];
        }
      for (; i < count; ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
          parts[axis][0] += per_density[at(first + i)] * n[i] * field[axis * at(points) + at(first + i)];
    });
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const double part : parts[axis]) shares[at(a)][axis] += part;
  }
  return shares;
}

}  // namespace halocline::tddft
