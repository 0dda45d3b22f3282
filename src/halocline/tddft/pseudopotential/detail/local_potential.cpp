// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/detail/local_potential.hpp"

#include "halocline/tddft/base/index.hpp"

#include <algorithm>

namespace halocline::tddft::detail {
namespace {

using Basis = std::array<double, 4>;

double weight(const Vec3& d, double radius) {
  const double rest = 1 - dot(d, d) / (radius * radius);
  return rest > 0 ? rest * rest : 0.0;
}

/// The inverse of a symmetric matrix of shape (4, 4), by sweeps (Goodnight, The American Statistician 33, 149, 1979). A
/// row that follows from those before it, because the points have no extent in its direction, is left out: zero.
std::array<double, 16> inverse(const double* matrix) {
  std::array<double, 16> m;
  std::copy_n(matrix, m.size(), m.begin());
  std::array<bool, 4> swept{};
  for (std::size_t k = 0; k < 4; ++k) {
    const double pivot = m[5 * k];
    if (!(pivot > 1e-9 * matrix[5 * k])) continue;
    swept[k] = true;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        if (i != k && j != k) m[4 * i + j] -= m[4 * i + k] * m[4 * k + j] / pivot;
    for (std::size_t i = 0; i < 4; ++i)
      if (i != k) m[4 * k + i] = m[4 * i + k] /= pivot;
    m[5 * k] = -1 / pivot;
  }
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) m[4 * i + j] = swept[i] && swept[j] ? -m[4 * i + j] : 0.0;
  return m;
}

/// Calls action(atom, index in the box, displacement, weight) for the points of all spheres here.
template <class Action>
void for_each_point(const ProjectorSpheres& all, std::span<const LinearFit> fits, Action&& action) {
  for (const Sphere& sphere : all.spheres) {
    const Shape& shape = all.shapes[at(sphere.shape)];
    const double radius = fits[at(sphere.atom)].radius;
    for (std::int64_t p = 0; p < shape.points; ++p) {
      const Vec3& d = shape.displacements[at(p)];
      action(at(sphere.atom), at(sphere.index[at(p)]), d, weight(d, radius));
    }
  }
}

}  // namespace

std::vector<LinearFit> make_fits(const ProjectorSpheres& all, std::size_t atoms, const comm::Communicator& space) {
  std::vector<LinearFit> fits(atoms);
  for (const Sphere& sphere : all.spheres)
    fits[at(sphere.atom)].radius = all.species[at(all.shapes[at(sphere.shape)].species)].radius;
  std::vector<double> matrices(16 * atoms);
  for_each_point(all, fits, [&](std::size_t atom, std::size_t, const Vec3& d, double w) {
    const Basis p{1, d[0], d[1], d[2]};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) matrices[16 * atom + 4 * i + j] += w * p[i] * p[j];
  });
  space.sum(matrices);
  for (std::size_t atom = 0; atom < atoms; ++atom) fits[atom].inverse = inverse(matrices.data() + 16 * atom);
  return fits;
}

std::vector<LinearPotential> fitted(const ProjectorSpheres& all, std::span<const LinearFit> fits,
                                    std::span<const double> a, const comm::Communicator& space) {
  const std::size_t points = a.size() / 3;
  std::vector<double> sums(12 * fits.size());  // shape (atoms, 4, 3)
  for_each_point(all, fits, [&](std::size_t atom, std::size_t index, const Vec3& d, double w) {
    const Basis p{1, d[0], d[1], d[2]};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis)
        sums[12 * atom + 3 * i + axis] += w * p[i] * a[axis * points + index];
  });
  space.sum(sums);
  std::vector<LinearPotential> found(fits.size());
  for (std::size_t atom = 0; atom < fits.size(); ++atom) {
    std::array<Vec3, 4> fit{};  // value and gradient
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t axis = 0; axis < 3; ++axis)
          fit[i][axis] += fits[atom].inverse[4 * i + j] * sums[12 * atom + 3 * j + axis];
    const auto mean = [&](std::size_t b, std::size_t c) { return 0.5 * (fit[1 + b][c] + fit[1 + c][b]); };
    found[atom] = {fit[0], {mean(0, 0), mean(1, 1), mean(2, 2), mean(0, 1), mean(0, 2), mean(1, 2)}};
  }
  return found;
}

void add_adjoint(std::span<double> current, const Shape& shape, std::span<const std::int32_t> index,
                 const LinearFit& fit, const std::array<double, 9>& moments, double point_volume) {
  const std::size_t points = current.size() / 3;
  // Derivatives with respect to value and gradient, shape (4, 3).
  const std::array<Vec3, 4> of_fit{{{moments[0], moments[1], moments[2]},
                                    {0.5 * moments[3], 0.5 * moments[6], 0.5 * moments[7]},
                                    {0.5 * moments[6], 0.5 * moments[4], 0.5 * moments[8]},
                                    {0.5 * moments[7], 0.5 * moments[8], 0.5 * moments[5]}}};
  std::array<Vec3, 4> of_sums{};
  for (std::size_t j = 0; j < 4; ++j)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) of_sums[j][axis] += fit.inverse[4 * i + j] * of_fit[i][axis];
  for (std::int64_t point = 0; point < shape.points; ++point) {
    const Vec3& d = shape.displacements[at(point)];
    const double w = weight(d, fit.radius) / point_volume;
    for (std::size_t axis = 0; axis < 3; ++axis)
      current[axis * points + at(index[at(point)])] +=
          w * (of_sums[0][axis] + d[0] * of_sums[1][axis] + d[1] * of_sums[2][axis] + d[2] * of_sums[3][axis]);
  }
}

}  // namespace halocline::tddft::detail
