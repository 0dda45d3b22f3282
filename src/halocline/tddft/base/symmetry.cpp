// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/base/symmetry.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace halocline::tddft {
namespace {

constexpr double same_place = 2e-5;  // [bohr]

/// R v for a matrix of rows.
Vec3 rotated(const std::array<Vec3, 3>& rows, const Vec3& v) {
  return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)};
}

/// The Cartesian rotation that maps each step of the grid to its image.
std::array<Vec3, 3> cartesian(const Grid& grid, const std::array<std::array<int, 3>, 3>& rotation) {
  const std::array<Vec3, 3> steps = grid.steps(), inverse = dual(steps);
  std::array<Vec3, 3> rows{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Vec3 image =
        combined({double(rotation[0][axis]), double(rotation[1][axis]), double(rotation[2][axis])}, steps);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) rows[i][j] += image[i] * inverse[axis][j];
  }
  return rows;
}

int image_of_atom(const System& system, std::size_t atom, const std::array<Vec3, 3>& rows, const Vec3& shift) {
  Vec3 image = rotated(rows, system.atoms[atom].position);
  for (std::size_t c = 0; c < 3; ++c) image[c] += shift[c];
  for (std::size_t other = 0; other < system.atoms.size(); ++other)
    if (system.atoms[other].species == system.atoms[atom].species &&
        distance(system.grid, image, system.atoms[other].position) < same_place)
      return static_cast<int>(other);
  throw core::InvalidArgument(fmt::format(
      "a symmetry maps atom {} to a place where no atom of its species stands; check the positions, or switch the "
      "symmetry off",
      atom));
}

/// Calls action(symmetry, point of the box, image in the whole grid) for every point and symmetry.
template <class Action>
void for_each_image(const Decomposition& decomposition, std::span<const Symmetry> symmetries, Action&& action) {
  const Grid& grid = decomposition.grid();
  const Box& box = decomposition.box();
  const auto wrapped = [&](std::int64_t i, std::size_t axis) {
    const std::int64_t n = grid.extent[axis];
    return (i % n + n) % n;
  };
#pragma omp parallel for schedule(static)
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (const Symmetry& s : symmetries)
      for (std::int64_t y = 0; y < box.extent[1]; ++y) {
        std::array<std::int64_t, 3> image{};
        const std::array<std::int64_t, 3> first{box.offset[0], box.offset[1] + y, box.offset[2] + z};
        for (std::size_t a = 0; a < 3; ++a)
          image[a] = wrapped(
              s.rotation[a][0] * first[0] + s.rotation[a][1] * first[1] + s.rotation[a][2] * first[2] + s.shift[a], a);
        for (std::int64_t x = 0; x < box.extent[0]; ++x) {
          action(s, at(box.index(x, y, z)), at(image[0] + grid.extent[0] * (image[1] + grid.extent[1] * image[2])));
          // A step is shorter than an axis, so that no division is needed here.
          for (std::size_t a = 0; a < 3; ++a) {
            image[a] += s.rotation[a][0];
            if (image[a] >= grid.extent[a]) image[a] -= grid.extent[a];
            if (image[a] < 0) image[a] += grid.extent[a];
          }
        }
      }
}

}  // namespace

Symmetry symmetry_of(const System& system, const std::array<std::array<int, 3>, 3>& rotation,
                     const std::array<std::int64_t, 3>& shift) {
  Symmetry symmetry{rotation, shift, cartesian(system.grid, rotation), {}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      if (std::abs(dot(symmetry.rows[i], symmetry.rows[j]) - (i == j ? 1 : 0)) > 1e-6)
        throw core::InvalidArgument("a symmetry of the crystal was given that does not keep lengths on this grid");
  const Vec3 moved = combined({double(shift[0]), double(shift[1]), double(shift[2])}, system.grid.steps());
  for (std::size_t atom = 0; atom < system.atoms.size(); ++atom)
    symmetry.atoms.push_back(image_of_atom(system, atom, symmetry.rows, moved));
  return symmetry;
}

void symmetrise(std::span<double> field, const Decomposition& decomposition, std::span<const Symmetry> symmetries) {
  if (symmetries.empty()) return;
  const std::vector<double> whole = on_whole_grid(decomposition, field);
  std::ranges::fill(field, 0.0);
  const double share = 1.0 / static_cast<double>(symmetries.size());
  for_each_image(decomposition, symmetries,
                 [&](const Symmetry&, std::size_t point, std::size_t image) { field[point] += share * whole[image]; });
}

void symmetrise_vectors(std::span<double> field, const Decomposition& decomposition,
                        std::span<const Symmetry> symmetries) {
  if (symmetries.empty()) return;
  const std::size_t points = field.size() / 3;
  std::array<std::vector<double>, 3> whole;
  for (std::size_t a = 0; a < 3; ++a) whole[a] = on_whole_grid(decomposition, field.subspan(a * points, points));
  std::ranges::fill(field, 0.0);
  const double share = 1.0 / static_cast<double>(symmetries.size());
  // The vector at the image, turned back.
  for_each_image(decomposition, symmetries, [&](const Symmetry& s, std::size_t point, std::size_t image) {
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) field[a * points + point] += share * s.rows[b][a] * whole[b][image];
  });
}

Vec3 symmetrised(const Vec3& vector, std::span<const Symmetry> symmetries) {
  if (symmetries.empty()) return vector;
  Vec3 sum{};
  for (const Symmetry& s : symmetries) {
    const Vec3 image = rotated(s.rows, vector);
    for (std::size_t c = 0; c < 3; ++c) sum[c] += image[c] / static_cast<double>(symmetries.size());
  }
  return sum;
}

bool keep(std::span<const Symmetry> symmetries, const Vec3& vector) {
  return std::ranges::all_of(symmetries, [&](const Symmetry& s) {
    const Vec3 image = rotated(s.rows, vector);
    return norm({image[0] - vector[0], image[1] - vector[1], image[2] - vector[2]}) <= 1e-6 * norm(vector);
  });
}

void symmetrise(std::span<Vec3> of_atoms, std::span<const Symmetry> symmetries) {
  if (symmetries.empty()) return;
  std::vector<Vec3> sum(of_atoms.size(), Vec3{});
  for (const Symmetry& s : symmetries)
    for (std::size_t atom = 0; atom < of_atoms.size(); ++atom) {
      const Vec3 image = rotated(s.rows, of_atoms[atom]);
      for (std::size_t c = 0; c < 3; ++c)
        sum[at(s.atoms[atom])][c] += image[c] / static_cast<double>(symmetries.size());
    }
  std::ranges::copy(sum, of_atoms.begin());
}

}  // namespace halocline::tddft
