// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/base/directions.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace halocline::tddft {
namespace {

constexpr double negligible = 1e-10;  // of the largest square of a reciprocal vector
constexpr double flat = 1e-3;         // volume over the product of edges below which a cell is refused

using Integers = std::array<int, 3>;

Integers cross(const Integers& a, const Integers& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Four vectors of the reciprocal lattice that add up to zero, and their numbers of the three first ones.
struct Superbase {
  std::array<Vec3, 4> vectors{};
  std::array<Integers, 4> numbers{};

  explicit Superbase(const std::array<Vec3, 3>& b) {
    for (std::size_t i = 0; i < 3; ++i) {
      vectors[i] = b[i];
      numbers[i][i] = 1;
      for (std::size_t c = 0; c < 3; ++c) vectors[3][c] -= b[i][c];
      numbers[3][i] = -1;
    }
  }

  /// Reverses vector i, and adds it to the two vectors other than j.
  void flip(std::size_t i, std::size_t j) {
    for (std::size_t other = 0; other < 4; ++other) {
      if (other == i || other == j) continue;
      for (std::size_t c = 0; c < 3; ++c) {
        vectors[other][c] += vectors[i][c];
        numbers[other][c] += numbers[i][c];
      }
    }
    for (std::size_t c = 0; c < 3; ++c) {
      vectors[i][c] = -vectors[i][c];
      numbers[i][c] = -numbers[i][c];
    }
  }
};

struct Pair {
  std::size_t i, j;
};
constexpr std::array<Pair, 6> pairs{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

/// Selling's reduction: until no two vectors form an acute angle. Every step shortens the sum of squares.
Superbase reduced(Superbase base, double smallest) {
  for (int step = 0; step < 1000; ++step) {
    const auto product = [&](const Pair& p) { return dot(base.vectors[p.i], base.vectors[p.j]); };
    const Pair worst = *std::ranges::max_element(pairs, {}, product);
    if (product(worst) <= smallest) return base;
    base.flip(worst.i, worst.j);
  }
  throw core::InvalidArgument(
      "the edges of the cell are so oblique that its reduction does not end; give reduced edges (ASE: "
      "ase.build.niggli_reduce)");
}

/// The first number other than zero becomes positive.
Integers with_sign(Integers v) {
  const auto first = std::ranges::find_if(v, [](int n) { return n != 0; });
  if (first != v.end() && *first < 0)
    for (int& n : v) n = -n;
  return v;
}

}  // namespace

std::vector<Direction> laplacian_directions(const Grid& grid) {
  std::vector<Direction> directions;
  for (std::size_t a = 0; a < 3; ++a) {
    directions.push_back({{}, 1 / (grid.spacing[a] * grid.spacing[a])});
    directions.back().steps[a] = 1;
  }
  if (!grid.skew()) return directions;
  if (const double volume = std::abs(dot(grid.axes[0], tddft::cross(grid.axes[1], grid.axes[2]))); !(volume > flat))
    throw core::InvalidArgument(fmt::format(
        "the edges of the cell lie in one plane, or nearly (its volume is {:.2g} of a box with edges of these "
        "lengths); check them",
        volume));
  for (Direction& axis : directions) axis.weight = 0;
  const Superbase start(dual(grid.steps()));
  double largest = 0;
  for (const Vec3& b : start.vectors) largest = std::max(largest, dot(b, b));
  const Superbase base = reduced(start, negligible * largest);
  for (const Pair& pair : pairs) {
    const double weight = -dot(base.vectors[pair.i], base.vectors[pair.j]);
    if (weight <= negligible * largest) continue;
    std::array<Integers, 2> others{};
    std::size_t found = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (k != pair.i && k != pair.j) others[found++] = base.numbers[k];
    const Integers steps = with_sign(cross(others[0], others[1]));
    const auto known = std::ranges::find(directions, steps, &Direction::steps);
    if (known != directions.end())
      known->weight = weight;
    else
      directions.push_back({steps, weight});
    const bool far = std::ranges::any_of(steps, [](int n) { return std::abs(n) > 1; });
    if (far || directions.size() > 6)
      throw core::InvalidArgument(
          "the edges of the cell, or the steps of the grid along them, are not the shortest of their lattice, so that "
          "neighbours of a point would be far away; give reduced edges (ASE: ase.build.niggli_reduce) and steps of "
          "about equal length");
  }
  return directions;
}

}  // namespace halocline::tddft
