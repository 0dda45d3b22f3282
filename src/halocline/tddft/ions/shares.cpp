// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shares of a field by the densities of pseudo-atoms. Points are taken in rows along x, where the squares of the
/// distances from an atom are a polynomial, so that square roots and tables are computed in vectors.

#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ions/detail/layers.hpp"
#include "halocline/tddft/ions/ions.hpp"

#include <algorithm>
#include <cmath>

namespace halocline::tddft {
namespace {

using detail::Layers;
using detail::points_for_threads;

/// The points of a box near an atom, in rows.
class NearRows {
public:
  NearRows(const Grid& grid, const Box& box, const Vec3& centre, double radius)
      : grid_(&grid),
        box_(&box),
        radius_(radius),
        layers_{Layers(grid, box, 0, centre, radius), Layers(grid, box, 1, centre, radius),
                Layers(grid, box, 2, centre, radius)} {
    // Runs of x whose points stand one behind the other.
    const std::vector<std::int64_t>& place = layers_[0].place;
    for (std::size_t i = 0; i < place.size(); ++i)
      if (i == 0 || place[i] != place[i - 1] + 1)
        runs_.push_back({static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1});
      else
        ++runs_.back().end;
  }

  /// Calls action(first point, number of points, t, b, c): the squares of the distances are c + t (2 b + t).
  /// @param plane  of the box, or -1 for all
  template <class Action>
  void visit(std::int64_t plane, Action&& action) const {
    const Layers &xs = layers_[0], &ys = layers_[1], &zs = layers_[2];
    for (std::size_t z = 0; z < zs.place.size(); ++z) {
      if (plane >= 0 && zs.place[z] != plane) continue;
      for (std::size_t y = 0; y < ys.place.size(); ++y) {
        Vec3 base{};
        for (std::size_t i = 0; i < 3; ++i) base[i] = ys.along[y] * grid_->axes[1][i] + zs.along[z] * grid_->axes[2][i];
        const double b = dot(base, grid_->axes[0]), c = dot(base, base), room = b * b - c + radius_ * radius_;
        if (room < 0) continue;
        const double reach = std::sqrt(room);
        for (const Range& run : runs_) {
          const double *begin = xs.along.data() + run.begin, *end = xs.along.data() + run.end;
          const double* first = std::lower_bound(begin, end, -b - reach);
          const auto count = static_cast<std::int64_t>(std::upper_bound(first, end, -b + reach) - first);
          if (count == 0) continue;
          const std::int64_t x = xs.place[at(run.begin + (first - begin))];
          action(box_->index(x, ys.place[y], zs.place[z]), count, first, b, c);
        }
      }
    }
  }

private:
  const Grid* grid_;
  const Box* box_;
  double radius_;
  std::array<Layers, 3> layers_;
  std::vector<Range> runs_;
};

}  // namespace

std::vector<Vec3> share_between_atoms(const System& system, const Decomposition& decomposition, const IonTables& tables,
                                      std::span<const double> field) {
  const Box& box = decomposition.box();
  const std::int64_t points = box.points();
  std::vector<NearRows> near;
  for (const Atom& atom : system.atoms)
    near.emplace_back(system.grid, box, atom.position, tables.densities()[at(atom.species)].radius());
  const auto atoms = static_cast<std::int64_t>(near.size());
  const auto density_of = [&](std::int64_t a) -> const DensityTable& {
    return tables.densities()[at(system.atoms[at(a)].species)];
  };

  // Threads share planes here and atoms below, so that sums have one order for any number of them.
  std::vector<double> sum(at(points), 0.0);
#pragma omp parallel for schedule(dynamic) if (points >= points_for_threads)
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t a = 0; a < atoms; ++a) {
      const DensityTable& density = density_of(a);
      const double *values = density.values(), per_bohr = density.per_bohr();
      const std::int64_t last = density.last();
      near[at(a)].visit(z, [&](std::int64_t first, std::int64_t count, const double* t, double b, double c) {
        double* out = sum.data() + first;
#pragma omp simd
        for (std::int64_t i = 0; i < count; ++i)
          out[i] += DensityTable::at(values, last, per_bohr * std::sqrt(std::max(0.0, c + t[i] * (2 * b + t[i]))));
      });
    }

  // Points beyond all atoms go to all of them in equal parts; the field of the others is divided by the sum.
  const double volume = system.grid.point_volume();
  Vec3 rest{};
  std::vector<double> divided(at(3 * points));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double* from = field.data() + at(static_cast<std::int64_t>(axis) * points);
    double* to = divided.data() + at(static_cast<std::int64_t>(axis) * points);
    double beyond = 0;
    for (std::int64_t i = 0; i < points; ++i) {
      const double n = sum[at(i)], part = volume * from[i];
      beyond += n > 0 ? 0.0 : part;
      to[i] = n > 0 ? part / n : 0.0;
    }
    rest[axis] = beyond / static_cast<double>(atoms);
  }

  std::vector<Vec3> shares(at(atoms), rest);
  const double *fx = divided.data(), *fy = fx + points, *fz = fy + points;
#pragma omp parallel for schedule(dynamic) if (points >= points_for_threads)
  for (std::int64_t a = 0; a < atoms; ++a) {
    const DensityTable& density = density_of(a);
    const double *values = density.values(), per_bohr = density.per_bohr();
    const std::int64_t last = density.last();
    double x = 0, y = 0, z = 0;
    near[at(a)].visit(-1, [&](std::int64_t first, std::int64_t count, const double* t, double b, double c) {
#pragma omp simd reduction(+ : x, y, z)
      for (std::int64_t i = 0; i < count; ++i) {
        const double n = DensityTable::at(values, last, per_bohr * std::sqrt(std::max(0.0, c + t[i] * (2 * b + t[i]))));
        x += n * fx[first + i];
        y += n * fy[first + i];
        z += n * fz[first + i];
      }
    });
    shares[at(a)][0] += x;
    shares[at(a)][1] += y;
    shares[at(a)][2] += z;
  }
  return shares;
}

}  // namespace halocline::tddft
