// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/ions.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/hartree/hartree.hpp"
#include "halocline/tddft/ions/detail/ewald.hpp"
#include "halocline/tddft/ions/detail/grid_potential.hpp"
#include "halocline/tddft/ions/detail/layers.hpp"
#include "halocline/tddft/ions/detail/reciprocal.hpp"
#include "halocline/tddft/ions/detail/skew_reciprocal.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace halocline::tddft {

namespace {

using detail::points_for_threads;

constexpr double no_density = 1e-10;  // [1/bohr^3], limit below which an atom's start density is neglected

const Pseudopotential& species_of(const System& system, const Atom& atom) { return *system.species[at(atom.species)]; }

/// Calls action(index in the box, distance, vector from `centre` to the point) for the points nearer to `centre` than
/// `radius`, including periodic images.
template <class Action>
void for_each_near(const Grid& grid, const Box& box, const Vec3& centre, double radius, Action&& action) {
  const detail::Layers xs(grid, box, 0, centre, radius), ys(grid, box, 1, centre, radius),
      zs(grid, box, 2, centre, radius);
  for (std::size_t z = 0; z < zs.place.size(); ++z)
    for (std::size_t y = 0; y < ys.place.size(); ++y)
      for (std::size_t x = 0; x < xs.place.size(); ++x) {
        const Vec3 d = combined({xs.along[x], ys.along[y], zs.along[z]}, grid.axes);
        if (norm(d) <= radius) action(box.index(xs.place[x], ys.place[y], zs.place[z]), norm(d), d);
      }
}

/// The local potential of one ion in an isolated box, row by row. Far from the ion it is -Z/r, which is faster to
/// compute than the whole function.
class IonRows {
public:
  IonRows(const Grid& grid, const Box& box, const detail::GridPotential& potential, const Vec3& centre)
      : potential_(potential) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::int64_t i = 0; i < box.extent[axis]; ++i)
        squares_[axis].push_back(
            std::pow(grid.position(static_cast<int>(axis), box.offset[axis] + i) - centre[axis], 2));
  }

  /// row[x] = V(|r - R|) at the points of a row. @param row  shape (points along x,)
  void fill(std::span<double> row, std::int64_t y, std::int64_t z) const {
    const double beside = squares_[1][at(y)] + squares_[2][at(z)], charge = potential_.charge();
    const double inner = potential_.radius() * potential_.radius();
    const double* along = squares_[0].data();
    double* out = row.data();
    const auto n = static_cast<std::int64_t>(row.size());
    std::int64_t first = 0, last = n;  // the points nearer than the inner radius
    while (first < n && along[first] + beside >= inner) ++first;
    while (last > first && along[last - 1] + beside >= inner) --last;
#pragma omp simd
    for (std::int64_t x = 0; x < first; ++x) out[x] = -charge / std::sqrt(along[x] + beside);
    potential_.fill(out + first, along + first, beside, last - first);
#pragma omp simd
    for (std::int64_t x = last; x < n; ++x) out[x] = -charge / std::sqrt(along[x] + beside);
  }

private:
  const detail::GridPotential& potential_;
  std::array<std::vector<double>, 3> squares_;  ///< of the distances along each axis
};

/// The processes of the same box share its planes.
std::vector<double> isolated_potential(const System& system, const Decomposition& decomposition,
                                       const IonTables& tables) {
  const Box& box = decomposition.box();
  const comm::Communicator& mates = decomposition.box_mates();
  const Range mine = part_of(box.extent[2], mates.size(), mates.rank());
  std::vector<double> potential(at(box.points()), 0.0);
  std::vector<IonRows> ions;
  for (const Atom& atom : system.atoms)
    ions.emplace_back(system.grid, box, tables.radial()[at(atom.species)], atom.position);
#pragma omp parallel for schedule(static) if (box.points() >= points_for_threads)
  for (std::int64_t z = mine.begin; z < mine.end; ++z) {
    std::vector<double> row(at(box.extent[0]));
    for (std::int64_t y = 0; y < box.extent[1]; ++y) {
      double* out = potential.data() + box.index(0, y, z);
      for (const IonRows& ion : ions) {
        ion.fill(row, y, z);
        for (std::size_t x = 0; x < row.size(); ++x) out[x] += row[x];
      }
    }
  }
  mates.sum(potential);
  return potential;
}

/// - integral V(r - R) grad n of one ion in an isolated box.
Vec3 isolated_force(const IonRows& ion, const Grid& grid, const Box& box, std::span<const double> gradient) {
  const double* slope_x = gradient.data();
  const double *slope_y = slope_x + box.points(), *slope_z = slope_y + box.points();
  double fx = 0, fy = 0, fz = 0;
  std::vector<double> row(at(box.extent[0]));
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y) {
      ion.fill(row, y, z);
      const std::int64_t first = box.index(0, y, z), n = box.extent[0];
      const double* v = row.data();
#pragma omp simd reduction(+ : fx, fy, fz)
      for (std::int64_t x = 0; x < n; ++x) {
        fx += v[x] * slope_x[first + x];
        fy += v[x] * slope_y[first + x];
        fz += v[x] * slope_z[first + x];
      }
    }
  const double volume = grid.point_volume();
  return {-volume * fx, -volume * fy, -volume * fz};
}

std::vector<double> jellium_potential(const System& system, const Decomposition& decomposition) {
  const auto density = jellium_density(system, decomposition);
  std::vector<double> potential(density.size());
  Hartree(decomposition, HartreeShare::redundant).solve(potential, density);
  for (double& v : potential) v = -v;
  return potential;
}

double sum_over_space(const Decomposition& decomposition, double mine) {
  decomposition.space().sum(std::span(&mine, 1));
  return mine;
}

std::vector<double> charges_of(const System& system) {
  std::vector<double> charges;
  for (const Atom& atom : system.atoms) charges.push_back(species_of(system, atom).valence());
  return charges;
}

/// Energy and forces of the ions, for periodic and isolated boundaries.
detail::EwaldSum ion_sum(const System& system) {
  const auto charges = charges_of(system);
  std::vector<Vec3> positions;
  for (const Atom& atom : system.atoms) positions.push_back(atom.position);
  const Grid& grid = system.grid;
  if (grid.boundary == Boundary::periodic) return detail::ewald(grid, charges, positions);
  detail::EwaldSum sum;
  sum.forces.assign(charges.size(), Vec3{});
  for (std::size_t i = 0; i < charges.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Vec3 d{};
      for (std::size_t axis = 0; axis < 3; ++axis) d[axis] = positions[i][axis] - positions[j][axis];
      const double r = norm(d), energy = charges[i] * charges[j] / r;
      sum.energy += energy;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        sum.forces[i][axis] += energy * d[axis] / (r * r);
        sum.forces[j][axis] -= energy * d[axis] / (r * r);
      }
    }
  return sum;
}

/// The radius beyond which an atom's start density is below a limit.
double density_radius(const Pseudopotential& species, double limit = no_density) {
  double radius = 1;
  while (radius < 20 && species.start_density(radius) > limit) radius += 0.25;
  return radius;
}

}  // namespace

DensityTable::DensityTable(const Pseudopotential& species) {
  constexpr double smallest = 1e-6;  // [1/bohr^3]; what the grid adds to forces is near cores
  constexpr int intervals = 4096;
  radius_ = density_radius(species, smallest);
  per_bohr_ = intervals / radius_;
  const double end = species.start_density(radius_);
  for (int i = 0; i <= intervals + 1; ++i) values_.push_back(std::max(0.0, species.start_density(i / per_bohr_) - end));
}

void DensityTable::fill(double* out, double first, double step, double b, double c, std::int64_t n) const noexcept {
  std::array<std::int32_t, together> intervals;
  std::array<double, together> rests;
  const auto last = static_cast<std::int32_t>(values_.size()) - 2;
  const double per_bohr = per_bohr_;
  for (std::int64_t begin = 0; begin < n; begin += together) {
    // Always as many as a register holds, because rows are short.
    for (std::int64_t i = 0; i < together; ++i) {
      const double t = first + static_cast<double>(begin + i) * step;
      const double place = per_bohr * std::sqrt(std::abs(c + t * (2 * b + t)));
      intervals[at(i)] = std::min(static_cast<std::int32_t>(place), last);
      rests[at(i)] = place - static_cast<double>(intervals[at(i)]);
    }
    for (std::int64_t i = 0; i < together; ++i) {
      const double* value = values_.data() + intervals[at(i)];
      out[begin + i] = value[0] + rests[at(i)] * (value[1] - value[0]);
    }
  }
  for (std::int64_t i = n; i % together != 0; ++i) out[i] = 0;
}

IonTables::IonTables(const System& system) {
  if (system.jellium) return;
  for (const auto& species : system.species) densities_.emplace_back(*species);
  if (system.grid.boundary == Boundary::periodic) {
    if (system.grid.skew())
      skew_ = std::make_shared<const detail::SkewCoefficients>(system);
    else
      local_ = std::make_shared<const detail::LocalCoefficients>(system);
    return;
  }
  std::vector<detail::GridPotential> radial;
  const double spacing = system.filtered ? std::ranges::max(system.grid.spacing) : 0.0;
  for (const auto& species : system.species) radial.emplace_back(*species, spacing);
  radial_ = std::make_shared<const std::vector<detail::GridPotential>>(std::move(radial));
}

std::vector<double> ion_potential(const System& system, const Decomposition& decomposition, const IonTables& tables) {
  if (system.jellium) return jellium_potential(system, decomposition);
  if (system.grid.boundary == Boundary::isolated) return isolated_potential(system, decomposition, tables);
  return system.grid.skew() ? detail::skew_potential(system, decomposition, tables.skew())
                            : detail::periodic_potential(system, decomposition, tables.local());
}

std::vector<double> ion_potential(const System& system, const Decomposition& decomposition) {
  return ion_potential(system, decomposition, IonTables(system));
}

std::vector<double> jellium_density(const System& system, const Decomposition& decomposition) {
  if (!system.jellium) throw core::InvalidArgument("the density of jellium was asked for in a system without jellium");
  const JelliumSphere& sphere = *system.jellium;
  const Grid& grid = system.grid;
  const Box& box = decomposition.box();
  std::vector<double> density(at(box.points()), 0.0);
  const double radius = sphere.radius_per_charge * std::cbrt(sphere.charge);
  for_each_near(grid, box, sphere.centre, radius, [&](std::int64_t i, double, const Vec3&) { density[at(i)] = 1; });
  double points = 0;
  for (const double value : density) points += value;
  points = sum_over_space(decomposition, points);
  if (points == 0)
    throw core::InvalidArgument("no grid point lies within the jellium sphere; take a finer grid or move the centre");
  for (double& value : density) value *= sphere.charge / (points * grid.point_volume());
  return density;
}

void check_room(const System& system) {
  if (system.grid.boundary != Boundary::periodic) return;
  std::vector<Vec3> positions;
  for (const Atom& atom : system.atoms) positions.push_back(atom.position);
  static_cast<void>(detail::eta_of_room(system.grid, positions));
}

double ion_ion_energy(const System& system, const Decomposition& decomposition) {
  if (!system.jellium) return ion_sum(system).energy;
  const auto density = jellium_density(system, decomposition);
  const auto potential = jellium_potential(system, decomposition);
  double sum = 0;
  for (std::size_t i = 0; i < density.size(); ++i) sum -= density[i] * potential[i];
  return 0.5 * system.grid.point_volume() * sum_over_space(decomposition, sum);
}

std::vector<Vec3> ion_ion_forces(const System& system) {
  const core::Region region("tddft/forces between ions");
  return ion_sum(system).forces;
}

std::vector<Vec3> local_forces(const System& system, const Decomposition& decomposition,
                               std::span<const double> gradient) {
  return local_forces(system, decomposition, IonTables(system), gradient);
}

std::vector<Vec3> local_forces(const System& system, const Decomposition& decomposition, const IonTables& tables,
                               std::span<const double> gradient) {
  const core::Region region("tddft/local forces");
  const Grid& grid = system.grid;
  const comm::Communicator& space = decomposition.space();
  std::vector<Vec3> forces(system.atoms.size());
  if (forces.empty()) return forces;
  if (grid.boundary == Boundary::periodic) {
    const auto sum_planes = [&](std::span<double> planes) { space.sum(planes); };
    if (grid.skew())
      return detail::skew_local_forces(system, decomposition.box(), tables.skew(), gradient, sum_planes, space.rank(),
                                       space.size());
    return detail::periodic_local_forces(system, decomposition.box(), tables.local(), gradient, sum_planes,
                                         space.rank(), space.size());
  }
  const Box& box = decomposition.box();
  const auto atoms = static_cast<std::int64_t>(forces.size());
#pragma omp parallel for schedule(dynamic) if (box.points() * atoms >= points_for_threads)
  for (std::int64_t a = 0; a < atoms; ++a) {
    const Atom& atom = system.atoms[at(a)];
    const IonRows ion(grid, box, tables.radial()[at(atom.species)], atom.position);
    forces[at(a)] = isolated_force(ion, grid, box, gradient);
  }
  return forces;
}

std::vector<double> core_density(const System& system, const Decomposition& decomposition) {
  const auto corrected = [](const auto& species) { return species->core_radius() > 0; };
  if (std::ranges::none_of(system.species, corrected)) return {};
  std::vector<double> density(at(decomposition.box().points()), 0.0);
  for (const Atom& atom : system.atoms) {
    const Pseudopotential& species = species_of(system, atom);
    if (species.core_radius() == 0) continue;
    for_each_near(system.grid, decomposition.box(), atom.position, species.core_radius(),
                  [&](std::int64_t i, double r, const Vec3&) { density[at(i)] += species.core_density(r); });
  }
  return density;
}

std::vector<Vec3> core_forces(const System& system, const Decomposition& decomposition, std::span<const double> v) {
  std::vector<Vec3> forces(system.atoms.size(), Vec3{});
  const double volume = system.grid.point_volume();
  for (std::size_t a = 0; a < forces.size(); ++a) {
    const Pseudopotential& species = species_of(system, system.atoms[a]);
    if (species.core_radius() == 0) continue;
    for_each_near(system.grid, decomposition.box(), system.atoms[a].position, species.core_radius(),
                  [&](std::int64_t i, double r, const Vec3& d) {
                    if (r == 0) return;  // the slope of an even function
                    const double slope = volume * v[at(i)] * species.core_slope(r) / r;
                    for (std::size_t axis = 0; axis < 3; ++axis) forces[a][axis] += slope * d[axis];
                  });
  }
  return forces;
}

std::vector<double> core_gradient(const System& system, const Decomposition& decomposition) {
  const auto corrected = [](const auto& species) { return species->core_radius() > 0; };
  if (std::ranges::none_of(system.species, corrected)) return {};
  const std::size_t points = at(decomposition.box().points());
  std::vector<double> gradient(3 * points, 0.0);
  for (const Atom& atom : system.atoms) {
    const Pseudopotential& species = species_of(system, atom);
    if (species.core_radius() == 0) continue;
    for_each_near(system.grid, decomposition.box(), atom.position, species.core_radius(),
                  [&](std::int64_t i, double r, const Vec3& d) {
                    if (r == 0) return;  // the slope of an even function
                    const double slope = species.core_slope(r) / r;
                    for (std::size_t axis = 0; axis < 3; ++axis) gradient[axis * points + at(i)] += slope * d[axis];
                  });
  }
  return gradient;
}

std::vector<double> start_density(const System& system, const Decomposition& decomposition) {
  if (system.jellium) {
    auto density = jellium_density(system, decomposition);
    for (double& n : density) n *= system.electrons / system.jellium->charge;
    return density;
  }
  std::vector<double> density(at(decomposition.box().points()), 0.0);
  std::vector<double> radius;
  for (const auto& species : system.species) radius.push_back(density_radius(*species));
  for (const Atom& atom : system.atoms) {
    const Pseudopotential& species = species_of(system, atom);
    for_each_near(system.grid, decomposition.box(), atom.position, radius[at(atom.species)],
                  [&](std::int64_t i, double r, const Vec3&) { density[at(i)] += species.start_density(r); });
  }
  double charge = 0;
  for (const double n : density) charge += n;
  charge = sum_over_space(decomposition, charge * system.grid.point_volume());
  if (!(charge > 0))
    throw core::InvalidArgument("no grid point lies near an atom; take a finer grid, or check the positions' unit");
  for (double& n : density) n *= system.electrons / charge;
  return density;
}

}  // namespace halocline::tddft
