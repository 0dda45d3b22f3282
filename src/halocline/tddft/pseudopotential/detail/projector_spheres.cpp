// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finds the points of spheres, the ranks that hold them, and atoms with equal spheres.

#include "halocline/tddft/pseudopotential/detail/projector_spheres.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/pseudopotential/spherical_harmonics.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace halocline::tddft::detail {
namespace {

constexpr double origin = 1e-8;  // [bohr]: points closer than this count as at the atom

/// From `centre` to a point of the grid.
Vec3 away(const Grid& grid, const std::array<std::int64_t, 3>& place, const Vec3& centre) {
  Vec3 d = grid.point(place);
  for (std::size_t c = 0; c < 3; ++c) d[c] -= centre[c];
  return d;
}

/// A point of a sphere, on whichever process.
struct Point {
  std::array<int, 3> step;              ///< from the lowest step of the sphere
  std::array<std::int64_t, 3> in_cell;  ///< wrapped into the whole grid
  Vec3 displacement;
};

/// All points of one atom's sphere, x fastest.
struct WholeSphere {
  Vec3 start{};
  std::array<int, 3> steps{};
  std::vector<Point> points;

  WholeSphere() = default;
  WholeSphere(const Grid& grid, const Vec3& centre, double radius) {
    const std::array<Vec3, 3> inverse = dual(grid.steps());
    const Vec3 zero = grid.point({0, 0, 0});
    std::array<std::int64_t, 3> low{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // The tolerance ensures that an atom one step further has its lowest step one further, despite rounding.
      const double at_atom = dot(centre, inverse[axis]) - dot(zero, inverse[axis]);
      const double reach = radius * norm(inverse[axis]);
      low[axis] = static_cast<std::int64_t>(std::ceil(at_atom - reach - 1e-6));
      steps[axis] = static_cast<int>(static_cast<std::int64_t>(std::floor(at_atom + reach + 1e-6)) - low[axis] + 1);
    }
    start = away(grid, low, centre);
    std::array<std::vector<std::int64_t>, 3> wrapped;  // places in the whole grid along each axis, or -1
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (int step = 0; step < steps[axis]; ++step) {
        const std::int64_t n = grid.extent[axis], i = low[axis] + step;
        const bool inside = grid.boundary == Boundary::periodic || (i >= 0 && i < n);
        wrapped[axis].push_back(inside ? (i % n + n) % n : -1);
      }
    // Points at the radius itself are outside, even if rounding puts them slightly inside.
    const double within = radius * (1 - 1e-12);
    for (int z = 0; z < steps[2]; ++z)
      for (int y = 0; y < steps[1]; ++y)
        for (int x = 0; x < steps[0]; ++x) {
          const std::array<std::int64_t, 3> in_cell{wrapped[0][at(x)], wrapped[1][at(y)], wrapped[2][at(z)]};
          if (std::ranges::min(in_cell) < 0) continue;
          const Vec3 d = away(grid, {low[0] + x, low[1] + y, low[2] + z}, centre);
          if (norm(d) < within) points.push_back({{x, y, z}, in_cell, d});
        }
  }
};

/// Finds the rank of space() that holds a point.
class Owners {
public:
  explicit Owners(const Decomposition& decomposition) : dims_(decomposition.counts().space) {
    for (int axis = 0; axis < 3; ++axis)
      along_[at(axis)].resize(static_cast<std::size_t>(decomposition.grid().extent[at(axis)]));
    rank_.resize(static_cast<std::size_t>(decomposition.space().size()));
    for (int rank = 0; rank < decomposition.space().size(); ++rank) {
      const Box box = decomposition.box_of(rank);
      const std::vector<int> place = decomposition.space_grid().coords_of(rank);
      for (int axis = 0; axis < 3; ++axis)
        std::fill_n(along_[at(axis)].begin() + box.offset[at(axis)], box.extent[at(axis)], place[at(axis)]);
      rank_[number(place[0], place[1], place[2])] = rank;
    }
  }

  int operator()(const std::array<std::int64_t, 3>& point) const {
    const auto part = [&](int axis) { return along_[at(axis)][static_cast<std::size_t>(point[at(axis)])]; };
    return rank_[number(part(0), part(1), part(2))];
  }

private:
  std::size_t number(int x, int y, int z) const { return static_cast<std::size_t>(x + dims_[0] * (y + dims_[1] * z)); }

  std::array<int, 3> dims_;
  std::array<std::vector<int>, 3> along_;
  std::vector<int> rank_;
};

Shape make_shape(const System& system, const ProjectorSpheres& all, int species, const WholeSphere& whole,
                 std::span<const Point> points) {
  Shape shape;
  const ProjectorSet& set = all.species[at(species)];
  shape.species = species;
  shape.count = set.count;
  shape.points = static_cast<std::int64_t>(points.size());
  shape.padded = (shape.points + Shape::unroll - 1) / Shape::unroll * Shape::unroll;
  shape.start = whole.start;
  shape.steps = whole.steps;
  shape.values = core::AlignedArray<double>(shape.padded * shape.count);
  for (std::int64_t p = 0; p < shape.points; ++p) {
    const Point& point = points[static_cast<std::size_t>(p)];
    shape.displacements.push_back(point.displacement);
    evaluate_projectors(*system.species[at(species)], set, point.displacement,
                        shape.values.span().subspan(static_cast<std::size_t>(p * shape.count), at(shape.count)));
    const bool goes_on = p > 0 && shape.rows.back().step[1] == point.step[1] &&
                         shape.rows.back().step[2] == point.step[2] &&
                         shape.rows.back().step[0] + (p - shape.rows.back().begin) == point.step[0];
    if (!goes_on) shape.rows.push_back({p, p, point.step});
    shape.rows.back().end = p + 1;
  }
  return shape;
}

/// Whether the points of two spheres stand alike around their centres.
bool alike(const WholeSphere& a, std::span<const Point> points_a, const WholeSphere& b,
           std::span<const Point> points_b) {
  const auto near = [](const Vec3& u, const Vec3& v) {
    return std::abs(u[0] - v[0]) < 1e-12 && std::abs(u[1] - v[1]) < 1e-12 && std::abs(u[2] - v[2]) < 1e-12;
  };
  return points_a.size() == points_b.size() && a.steps == b.steps && near(a.start, b.start) &&
         std::ranges::equal(points_a, points_b, near, &Point::displacement, &Point::displacement);
}

/// Finds the points of a sphere in the box of this process.
void place(Sphere& sphere, const Box& box, std::span<const Point> points, std::int64_t padded) {
  for (const Point& point : points) {
    const auto in_box = [&](int axis) { return point.in_cell[at(axis)] - box.offset[at(axis)]; };
    const auto p = static_cast<std::int64_t>(sphere.index.size());
    if (p == 0 || sphere.planes.back().z != in_box(2)) sphere.planes.push_back({in_box(2), p, p});
    sphere.planes.back().end = p + 1;
    sphere.index.push_back(static_cast<std::int32_t>(box.index(in_box(0), in_box(1), in_box(2))));
  }
  sphere.index.resize(static_cast<std::size_t>(padded), sphere.index.back());
}

}  // namespace

ProjectorSet projector_set(const Pseudopotential& potential) {
  ProjectorSet set;
  for (int l = 0; l <= potential.largest_l(); ++l) {
    const int n = potential.projectors(l);
    if (n == 0) continue;
    if (l > largest_harmonic_l)
      throw core::InvalidArgument(fmt::format("the pseudopotential {} has projectors of l = {}; the largest l that is "
                                              "supported is {}, choose another pseudopotential",
                                              potential.origin(), l, largest_harmonic_l));
    Shell shell{l, n, set.count, potential.projector_radius(l), {}};
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double h = potential.coupling(l, i, j), mirrored = potential.coupling(l, j, i);
        if (!(std::abs(h - mirrored) <= 1e-10 * (std::abs(h) + std::abs(mirrored))))
          throw core::InvalidArgument(
              fmt::format("the pseudopotential {} couples projectors {} and {} of l = {} by {}, "
                          "but {} and {} by {}; the matrix must be symmetric, for energies "
                          "would be complex otherwise",
                          potential.origin(), i, j, l, h, j, i, mirrored));
        shell.coupling.push_back(h);
      }
    set.count += n * (2 * l + 1);
    set.radius = std::max(set.radius, shell.radius);
    set.shells.push_back(std::move(shell));
  }
  return set;
}

void evaluate_projectors(const Pseudopotential& potential, const ProjectorSet& set, const Vec3& d,
                         std::span<double> values) {
  const double r = norm(d);
  for (const Shell& shell : set.shells) {
    // p(r) Y(d / r) is p(r) / r^l times the solid harmonic; at the atom itself only l = 0 is non-zero.
    const SolidHarmonics y = solid_harmonics(shell.l, d);
    const double power = r < origin ? (shell.l == 0 ? 1.0 : 0.0) : std::pow(r, -shell.l);
    for (int i = 0; i < shell.radial; ++i) {
      const double radial = r < shell.radius ? power * potential.projector(shell.l, i, r) : 0.0;
      for (int m = 0; m <= 2 * shell.l; ++m)
        values[at(shell.first + i * (2 * shell.l + 1) + m)] = radial * y.value[at(m)];
    }
  }
}

ProjectorSpheres make_spheres(const System& system, const Decomposition& decomposition) {
  ProjectorSpheres all;
  for (const auto& potential : system.species) all.species.push_back(projector_set(*potential));
  all.ranks_of_atom.resize(system.atoms.size());
  const Owners owner(decomposition);
  const int me = decomposition.space().rank();
  const auto atoms = static_cast<std::int64_t>(system.atoms.size());
  // The points of each atom's sphere on this process.
  std::vector<WholeSphere> whole(system.atoms.size());
  std::vector<std::vector<Point>> mine(system.atoms.size());
#pragma omp parallel for schedule(dynamic) if (atoms > 1)
  for (std::int64_t atom = 0; atom < atoms; ++atom) {
    const Atom& here = system.atoms[at(atom)];
    const ProjectorSet& set = all.species[at(here.species)];
    if (set.count == 0) continue;
    whole[at(atom)] = WholeSphere(decomposition.grid(), here.position, set.radius);
    std::vector<bool> held(at(decomposition.space().size()));
    for (const Point& point : whole[at(atom)].points) {
      const int rank = owner(point.in_cell);
      held[at(rank)] = true;
      if (rank == me) mine[at(atom)].push_back(point);
    }
    for (int rank = 0; rank < decomposition.space().size(); ++rank)
      if (held[at(rank)]) all.ranks_of_atom[at(atom)].push_back(rank);
  }

  // Atoms with equal spheres share a shape.
  std::vector<std::int64_t> first;  // atom of each shape
  for (std::int64_t atom = 0; atom < atoms; ++atom) {
    const std::vector<Point>& points = mine[at(atom)];
    if (points.empty()) continue;
    const int species = system.atoms[at(atom)].species;
    const auto found = std::ranges::find_if(first, [&](std::int64_t other) {
      return system.atoms[at(other)].species == species &&
             alike(whole[at(other)], mine[at(other)], whole[at(atom)], points);
    });
    all.spheres.push_back({.atom = static_cast<int>(atom), .shape = static_cast<int>(found - first.begin())});
    if (found == first.end()) first.push_back(atom);
  }
  all.shapes.resize(first.size());
  const auto shapes = static_cast<std::int64_t>(first.size());
#pragma omp parallel for schedule(dynamic) if (shapes > 1)
  for (std::int64_t i = 0; i < shapes; ++i) {
    const std::int64_t atom = first[at(i)];
    all.shapes[at(i)] = make_shape(system, all, system.atoms[at(atom)].species, whole[at(atom)], mine[at(atom)]);
  }
  for (Shape& shape : all.shapes) {
    shape.first_point = all.phase_points;
    all.phase_points += shape.padded;
  }
  const auto spheres = static_cast<std::int64_t>(all.spheres.size());
#pragma omp parallel for schedule(static) if (spheres > 1)
  for (std::int64_t i = 0; i < spheres; ++i) {
    Sphere& sphere = all.spheres[at(i)];
    place(sphere, decomposition.box(), mine[at(sphere.atom)], all.shapes[at(sphere.shape)].padded);
  }
  return all;
}

void fill_phases(const Shape& shape, const Grid& grid, const Vec3& q, double* phases) {
  const std::array<Vec3, 3> vectors = grid.steps();
  std::array<std::vector<std::complex<double>>, 3> factor;
  for (int axis = 0; axis < 3; ++axis) {
    const std::complex<double> step = std::polar(1.0, dot(q, vectors[at(axis)]));
    auto& table = factor[at(axis)];
    table.resize(at(shape.steps[at(axis)]));
    table[0] = std::polar(1.0, q[at(axis)] * shape.start[at(axis)]);
    for (std::size_t i = 1; i < table.size(); ++i) table[i] = table[i - 1] * step;
  }
  for (const Row& row : shape.rows) {
    const std::complex<double> yz = factor[1][at(row.step[1])] * factor[2][at(row.step[2])];
    const std::complex<double>* x = factor[0].data() + row.step[0];
    const double a = yz.real(), b = yz.imag();
    for (std::int64_t p = row.begin; p < row.end; ++p) {
      // The product in reals, because the operator of std::complex checks for infinities each time.
      const double c = x[p - row.begin].real(), s = x[p - row.begin].imag();
      phases[2 * p] = a * c - b * s;
      phases[2 * p + 1] = a * s + b * c;
    }
  }
}

void fill_curved_phases(const Shape& shape, const Grid& grid, const Vec3& q, const std::array<double, 6>& s,
                        double* phases) {
  const double h = grid.spacing[0];
  const std::complex<double> bend = std::polar(1.0, s[0] * h * h);
  for (const Row& row : shape.rows) {
    const Vec3& d = shape.displacements[at(row.begin)];
    const Vec3 slope{s[0] * d[0] + s[3] * d[1] + s[4] * d[2], s[3] * d[0] + s[1] * d[1] + s[5] * d[2],
                     s[4] * d[0] + s[5] * d[1] + s[2] * d[2]};
    std::complex<double> phase = std::polar(1.0, dot(q, d) + 0.5 * dot(slope, d));
    std::complex<double> step = std::polar(1.0, (q[0] + slope[0]) * h + 0.5 * s[0] * h * h);
    // In reals, because the operator of std::complex checks for infinities each time.
    const auto times = [](const std::complex<double>& a, const std::complex<double>& b) {
      return std::complex<double>(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    };
    for (std::int64_t p = row.begin; p < row.end; ++p) {
      phases[2 * p] = phase.real();
      phases[2 * p + 1] = phase.imag();
      phase = times(phase, step);
      step = times(step, bend);
    }
  }
}

}  // namespace halocline::tddft::detail
