// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/hartree/hartree.hpp"

#include "halocline/core/error.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/hartree/densities.hpp"

#include <omp.h>

#include <cmath>
#include <doctest/doctest.h>
#include <numbers>

namespace halocline::tddft {
namespace {

using namespace densities;
constexpr double pi = std::numbers::pi;

/// The potential of a density on one process.
Values potential(const Grid& grid, const Values& n) {
  Hartree hartree(Decomposition(comm::Communicator::self(), system_on(grid), {}));
  Values v(n.size(), 1e300);
  hartree.solve(v, n);
  return v;
}

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Potential of a Gaussian of charge 1 and width sigma at distance r.
double gaussian_potential(double r, double sigma) {
  return r < 1e-8 ? std::sqrt(2 / pi) / sigma : std::erf(r / (std::sqrt(2.0) * sigma)) / r;
}

Values gaussian(const Grid& grid, const Vec3& centre, double sigma) {
  const double scale = std::pow(2 * pi * sigma * sigma, -1.5);
  return on_points(grid, [&](const Vec3& r) { return scale * std::exp(-square_of(r, centre) / (2 * sigma * sigma)); });
}

const Grid cell{{12, 15, 11}, {0.5, 0.4, 0.6}, Boundary::periodic};
const Grid box{{20, 25, 18}, {0.5, 0.45, 0.55}, Boundary::isolated};

}  // namespace

TEST_CASE("hartree: a plane wave is multiplied by 4 pi / G^2, up to the shortest waves") {
  for (const std::array<std::int64_t, 3> waves :
       {std::array<std::int64_t, 3>{1, 0, 0}, {0, 2, 0}, {0, 0, -3}, {6, 0, 0}, {6, 7, 5}, {-5, 7, -4}, {2, -3, 5}}) {
    double g2 = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double g = 2 * pi * static_cast<double>(waves[a]) / cell.length(static_cast<int>(a));
      g2 += g * g;
    }
    const Values wave = on_indices(cell, [&](const std::array<std::int64_t, 3>& i) {
      double turns = 0.1;
      for (std::size_t a = 0; a < 3; ++a)
        turns += static_cast<double>(waves[a] * i[a]) / static_cast<double>(cell.extent[a]);
      return std::cos(2 * pi * turns);
    });
    Values expected = wave;  // where a wavenumber is half the extent, k and -k are the same, with the same G^2
    for (double& value : expected) value *= 4 * pi / g2;
    CHECK(largest_difference(potential(cell, wave), expected) < 1e-12 * largest(expected));
  }
}

TEST_CASE("hartree: on axes that are not orthogonal, too, and of waves alike at the points the shortest counts") {
  for (const Grid& grid : test::skew_grids({12, 15, 11}, {0.5, 0.5, 0.5}))
    for (const std::array<std::int64_t, 3> waves :
         {std::array<std::int64_t, 3>{1, 0, 0}, {0, 2, 0}, {0, 0, -3}, {-2, 1, 2}, {6, 7, 5}, {-5, 7, -4}}) {
      double g2 = 1e300;
      for (int image = 0; image < 125; ++image) {
        const std::array<int, 3> cell{image % 5 - 2, image / 5 % 5 - 2, image / 25 - 2};
        Vec3 n{};
        for (std::size_t a = 0; a < 3; ++a) n[a] = 2 * pi * static_cast<double>(waves[a] + cell[a] * grid.extent[a]);
        const Vec3 g = combined(n, dual(grid.edges()));
        g2 = std::min(g2, tddft::dot(g, g));
      }
      const Values wave = on_indices(grid, [&](const std::array<std::int64_t, 3>& i) {
        double turns = 0.1;
        for (std::size_t a = 0; a < 3; ++a)
          turns += static_cast<double>(waves[a] * i[a]) / static_cast<double>(grid.extent[a]);
        return std::cos(2 * pi * turns);
      });
      Values expected = wave;
      for (double& value : expected) value *= 4 * pi / g2;
      CHECK(largest_difference(potential(grid, wave), expected) < 1e-12 * largest(expected));
    }
}

TEST_CASE("hartree: a uniform density of a periodic cell is neutralised") {
  const Values n(static_cast<std::size_t>(cell.points()), 3.0);
  CHECK(largest(potential(cell, n)) < 1e-13);
}

TEST_CASE("hartree: Gaussians of a periodic cell differ by the short-range sum over their images") {
  const Grid grid{{24, 24, 27}, {0.4, 0.4, 0.35}, Boundary::periodic};
  const double narrow = 0.8, wide = 1.0;
  const Vec3 centre{4.7, 4.9, 4.75};  // near the middle: the part of the Gaussians cut at the faces is restored below
  const auto summed = [&](auto&& of_distance) {
    return on_points(grid, [&](const Vec3& r) {
      double sum = 0;
      for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
          for (int z = -1; z <= 1; ++z) {
            const Vec3 image{centre[0] + x * grid.length(0), centre[1] + y * grid.length(1),
                             centre[2] + z * grid.length(2)};
            sum += of_distance(std::sqrt(square_of(r, image)));
          }
      return sum;
    });
  };
  const auto density = [&](double sigma) {
    const double scale = std::pow(2 * pi * sigma * sigma, -1.5);
    return summed([&](double r) { return scale * std::exp(-r * r / (2 * sigma * sigma)); });
  };
  const Values v_narrow = potential(grid, density(narrow)), v_wide = potential(grid, density(wide));
  // The mean of the potential is zero; that of the short-range difference is 2 pi (wide^2 - narrow^2) / volume.
  const double mean = 2 * pi * (wide * wide - narrow * narrow) / grid.volume();
  const Values expected = summed([&](double r) { return gaussian_potential(r, narrow) - gaussian_potential(r, wide); });
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(v_narrow[i] - v_wide[i] - (expected[i] - mean)));
  CHECK(worst < 2e-7);  // the next images: erfc(7.2 / 0.8 sqrt 2) and exp(-2 pi^2 (0.8 / 0.4)^2 / 4)
}

TEST_CASE("hartree: a Gaussian in free space has the potential erf(r) / r, wherever it stands") {
  for (const Vec3& centre : {Vec3{0, 0, 0}, Vec3{0.31, -0.52, 0.2}}) {
    const double sigma = 0.75;
    const Values v = potential(box, gaussian(box, centre, sigma));
    const Values expected =
        on_points(box, [&](const Vec3& r) { return gaussian_potential(std::sqrt(square_of(r, centre)), sigma); });
    CHECK(largest_difference(v, expected) < 5e-7);  // waves beyond the grid: exp(-(0.75 pi / 0.55)^2 / 2) of the charge
  }
  const Grid fine{{40, 40, 40}, {0.35, 0.35, 0.35}, Boundary::isolated};
  const Values n = gaussian(fine, {0.1, 0.2, -0.3}, 0.9);
  const Values v = potential(fine, n);
  const Values expected = on_points(
      fine, [&](const Vec3& r) { return gaussian_potential(std::sqrt(square_of(r, {0.1, 0.2, -0.3})), 0.9); });
  CHECK(largest_difference(v, expected) < 1e-11);
  CHECK(0.5 * dot(n, v) * fine.point_volume() == doctest::Approx(0.5 / (std::sqrt(pi) * 0.9)).epsilon(1e-11));
}

TEST_CASE("hartree: long and flat boxes in free space are as exact as cubes") {
  for (const Grid& grid : {Grid{{18, 18, 60}, {0.5, 0.5, 0.5}, Boundary::isolated},
                           Grid{{44, 17, 41}, {0.5, 0.55, 0.5}, Boundary::isolated}}) {
    const Vec3 left{0, 0, 0}, right = grid.extent[2] == 60 ? Vec3{0, 0, 9.0} : Vec3{5.0, 0, 4.0};
    const double sigma = 0.8;
    Values n = gaussian(grid, left, sigma);
    const Values other = gaussian(grid, right, sigma);
    for (std::size_t i = 0; i < n.size(); ++i) n[i] -= other[i];
    const Values expected = on_points(grid, [&](const Vec3& r) {
      return gaussian_potential(std::sqrt(square_of(r, left)), sigma) -
             gaussian_potential(std::sqrt(square_of(r, right)), sigma);
    });
    CHECK(largest_difference(potential(grid, n), expected) < 3e-7);  // the tails beyond the faces
  }
}

TEST_CASE("hartree: a point charge in free space is 1/r far from it") {
  const Grid grid{{12, 13, 30}, {0.4, 0.4, 0.4}, Boundary::isolated};
  Values n(static_cast<std::size_t>(grid.points()));
  const std::array<std::int64_t, 3> at{3, 4, 1};
  n[index(grid, at)] = 1 / grid.point_volume();
  const Values v = potential(grid, n);
  const Vec3 from = position(grid, at);
  for (const std::array<std::int64_t, 3> far : {std::array<std::int64_t, 3>{3, 4, 26}, {11, 12, 29}, {0, 0, 20}}) {
    const double r = std::sqrt(square_of(position(grid, far), from));
    CHECK(v[index(grid, far)] == doctest::Approx(1 / r).epsilon(5e-3));  // a point is not smooth
  }
}

TEST_CASE("hartree: potentials are linear, reciprocal, and follow a translation") {
  for (const Grid& grid : {cell, box}) {
    Values a = scattered(grid.points(), 1), b = scattered(grid.points(), 2), both = a;
    for (std::size_t i = 0; i < a.size(); ++i) both[i] = 3 * a[i] - 0.5 * b[i];
    const Values va = potential(grid, a), vb = potential(grid, b);
    Values expected = va;
    for (std::size_t i = 0; i < a.size(); ++i) expected[i] = 3 * va[i] - 0.5 * vb[i];
    const double tolerance = 1e-13 * largest(expected) * 10;
    CHECK(largest_difference(potential(grid, both), expected) < tolerance);
    CHECK(dot(a, vb) == doctest::Approx(dot(b, va)).epsilon(1e-11));

    // Moved by one point along each axis; of a box only the inner points, whose density stays inside.
    const auto moved = [&](const std::array<std::int64_t, 3>& i) {
      std::array<std::int64_t, 3> from;
      for (std::size_t x = 0; x < 3; ++x) from[x] = (i[x] + grid.extent[x] - 1) % grid.extent[x];
      return from;
    };
    Values inner = a;
    if (grid.boundary == Boundary::isolated) {
      inner = on_indices(grid, [&](const std::array<std::int64_t, 3>& i) {
        bool last = false;
        for (std::size_t x = 0; x < 3; ++x) last = last || i[x] + 1 == grid.extent[x];
        return last ? 0.0 : a[index(grid, i)];
      });
    }
    const Values v = potential(grid, inner);
    const Values shifted = on_indices(grid, [&](const auto& i) { return inner[index(grid, moved(i))]; });
    const Values v_shifted = potential(grid, shifted);
    double worst = 0;
    const Values expected_shift = on_indices(grid, [&](const auto& i) { return v[index(grid, moved(i))]; });
    on_indices(grid, [&](const std::array<std::int64_t, 3>& i) {
      bool wrapped = false;
      for (std::size_t x = 0; x < 3; ++x) wrapped = wrapped || i[x] == 0;
      if (grid.boundary == Boundary::periodic || !wrapped)
        worst = std::max(worst, std::abs(v_shifted[index(grid, i)] - expected_shift[index(grid, i)]));
      return 0.0;
    });
    CHECK(worst < tolerance);
  }
}

TEST_CASE("hartree: the number of threads changes no bit") {
  const int before = omp_get_max_threads();
  for (const Grid& grid : {cell, box}) {
    const Values n = scattered(grid.points(), 3);
    omp_set_num_threads(1);
    const Values one = potential(grid, n);
    omp_set_num_threads(3);
    const Values three = potential(grid, n);
    CHECK(one == three);
  }
  omp_set_num_threads(before);
}

TEST_CASE("hartree: alone, both ways are the same and nothing is tried") {
  Hartree hartree(Decomposition(comm::Communicator::self(), system_on(cell), {}));
  CHECK(hartree.share() == HartreeShare::redundant);
  CHECK(hartree.seconds_redundant() == 0);
  CHECK(hartree.seconds_shared() == 0);
}

TEST_CASE("hartree: spans that are not those of the box are refused") {
  Hartree hartree(Decomposition(comm::Communicator::self(), system_on(cell), {}));
  Values v(static_cast<std::size_t>(cell.points())), n(v.size() - 1);
  CHECK_THROWS_AS(hartree.solve(v, n), core::InvalidArgument);
  CHECK_THROWS_AS(hartree.solve(n, v), core::InvalidArgument);
}

}  // namespace halocline::tddft
