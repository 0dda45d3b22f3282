// SPDX-License-Identifier: Apache-2.0
//
// The stencil on one process: its dispersion, its order, its symmetries, and the fast one against the reference.

#include "halocline/core/error.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/stencil/cases.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <numbers>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace halocline::tddft {
namespace {

using namespace stencil_tests;
using Complex = std::complex<double>;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

Decomposition alone(const Grid& grid) { return {comm::Communicator::self(), system_of(grid), ProcessCounts{}}; }

Combination combination(Complex factor, double shift = 0, const double* base = nullptr, double base_factor = 1) {
  Combination what;
  what.factor = factor;
  what.shift = shift;
  what.base = base;
  what.base_factor = base_factor;
  return what;
}

/// Orbital `lane` = exp(2 pi i m . r / extent), with another m for each lane.
std::array<std::int64_t, 3> wave_number(int lane) { return {lane, 2 - lane, lane * lane - 3}; }

double angle(const Grid& grid, std::int64_t number, std::size_t a) {
  return 2 * std::numbers::pi * static_cast<double>(number) / static_cast<double>(grid.extent[a]);
}
double angle(const Grid& grid, int lane, std::size_t a) { return angle(grid, wave_number(lane)[a], a); }

using WaveNumbers = std::array<std::array<std::int64_t, 3>, orbital_lanes>;

Values plane_waves(const Grid& grid,
                   const WaveNumbers& waves = {wave_number(0), wave_number(1), wave_number(2), wave_number(3)}) {
  Values psi(grid.points() * doubles_per_point);
  for (std::int64_t z = 0, i = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x)
        for (int lane = 0; lane < orbital_lanes; ++lane) {
          double phase = 0;
          const std::array<std::int64_t, 3> place{x, y, z};
          for (std::size_t a = 0; a < 3; ++a)
            phase += angle(grid, waves[static_cast<std::size_t>(lane)][a], a) * static_cast<double>(place[a]);
          psi[i++] = std::cos(phase);
          psi[i++] = std::sin(phase);
        }
  return psi;
}

/// What d/dx multiplies a plane wave with, over i; written out from the paper's weights.
double symbol_of_slope(double theta) {
  return 2 * (4.0 / 5 * std::sin(theta) - 1.0 / 5 * std::sin(2 * theta) + 4.0 / 105 * std::sin(3 * theta) -
              1.0 / 280 * std::sin(4 * theta));
}
double symbol_of_curvature(double theta) {
  return -205.0 / 72 + 2 * (8.0 / 5 * std::cos(theta) - 1.0 / 5 * std::cos(2 * theta) +
                            8.0 / 315 * std::cos(3 * theta) - 1.0 / 560 * std::cos(4 * theta));
}

TEST_CASE("stencil: plane waves are eigenfunctions, with the stencil's own dispersion") {
  const Grid grid{{12, 9, 10}, {0.5, 0.7, 0.6}, Boundary::periodic};
  const Vec3 q{0.3, -0.2, 0.7};
  const Values psi = plane_waves(grid);
  Values h(psi.size()), expected(psi.size());
  const std::vector<double> v(static_cast<std::size_t>(grid.points()), 0.25);
  for (std::int64_t i = 0; i < psi.size(); i += 2) {
    const int lane = static_cast<int>(i / 2 % orbital_lanes);
    double energy = 0.25;
    for (std::size_t a = 0; a < 3; ++a) {
      const double spacing = grid.spacing[a], theta = angle(grid, lane, a);
      energy += 0.5 * q[a] * q[a] + q[a] * symbol_of_slope(theta) / spacing -
                0.5 * symbol_of_curvature(theta) / (spacing * spacing);
    }
    expected[i] = energy * psi[i];
    expected[i + 1] = energy * psi[i + 1];
  }
  const double tolerance = 20 * epsilon * scale(grid, q);  // 75 products, each rounded
  Stencil stencil(alone(grid));
  stencil.apply(h.data(), psi.data(), 1, v, q);
  CHECK(difference(h.span(), expected.span()) < tolerance);
  reference::apply(grid, h.data(), psi.data(), 1, v, q);
  CHECK(difference(h.span(), expected.span()) < tolerance);
}

TEST_CASE("stencil: the current of a plane wave is its slope times its norm") {
  const Grid grid{{12, 9, 10}, {0.5, 0.7, 0.6}, Boundary::periodic};
  const Values psi = plane_waves(grid);
  Stencil stencil(alone(grid));
  std::vector<double> found(12), plain(12), expected(12);
  for (int lane = 0; lane < orbital_lanes; ++lane)
    for (std::size_t a = 0; a < 3; ++a)
      expected[static_cast<std::size_t>(3 * lane) + a] =
          static_cast<double>(grid.points()) * symbol_of_slope(angle(grid, lane, a)) / grid.spacing[a];
  stencil.current(psi.data(), 1, found);
  reference::current(grid, psi.data(), 1, plain);
  // Sums of so many terms of size 2, each addition rounded.
  const double tolerance = 2 * epsilon * std::pow(static_cast<double>(grid.points()), 2);
  CHECK(difference(found, expected) < tolerance);
  CHECK(difference(plain, expected) < tolerance);
}

TEST_CASE("stencil: the slopes of a plane wave are i times its symbol times the wave") {
  const Grid grid{{12, 9, 10}, {0.5, 0.7, 0.6}, Boundary::periodic};
  const Values psi = plane_waves(grid);
  Values found(3 * psi.size()), plain(3 * psi.size()), expected(3 * psi.size());
  for (std::int64_t i = 0; i < psi.size(); i += 2)
    for (std::int64_t a = 0; a < 3; ++a) {
      const auto axis = static_cast<std::size_t>(a);
      const double symbol =
          symbol_of_slope(angle(grid, static_cast<int>(i / 2 % orbital_lanes), axis)) / grid.spacing[axis];
      expected[a * psi.size() + i] = -symbol * psi[i + 1];
      expected[a * psi.size() + i + 1] = symbol * psi[i];
    }
  Stencil stencil(alone(grid));
  slopes_of(stencil, grid.extent, found.data(), psi.data());
  reference::slopes(grid, plain.data(), psi.data());
  const double tolerance = 20 * 4 * epsilon / grid.spacing[0];  // as above; sines are rounded too
  CHECK(difference(found.span(), expected.span()) < tolerance);
  CHECK(difference(plain.span(), expected.span()) < tolerance);
}

/// What the fast stencil is compared in: everything that it has kernels for.
struct Form {
  Vec3 q;
  Complex factor;
  bool based;
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (int mask = 0; mask < 8; ++mask)
    for (const Complex factor : {Complex(0.7, 0), Complex(0, -0.3)})
      for (const bool based : {false, true})
        all.push_back({{mask & 1 ? 0.4 : 0.0, mask & 2 ? -0.9 : 0.0, mask & 4 ? 0.2 : 0.0}, factor, based});
  return all;
}

/// Gradients and divergences of fields against the slopes of the block that holds them.
void compare_fields(const Grid& grid, const Values& block, const Values& slopes) {
  Stencil stencil(alone(grid));
  const std::int64_t points = grid.points();
  for (int fields = 1; fields <= 2; ++fields) {
    CAPTURE(fields);
    std::vector<double> gradient(static_cast<std::size_t>(3 * fields * points), -7.0),
        divergence(static_cast<std::size_t>(fields * points), -7.0), expected_gradient, expected_divergence;
    const auto slope = [&](std::int64_t axis, std::int64_t i, std::int64_t number) {
      return slopes[(axis * points + i) * doubles_per_point + number];
    };
    for (int f = 0; f < fields; ++f) {
      for (int axis = 0; axis < 3; ++axis)
        for (std::int64_t i = 0; i < points; ++i) expected_gradient.push_back(slope(axis, i, f));
      for (std::int64_t i = 0; i < points; ++i)
        expected_divergence.push_back(slope(0, i, 3 * f) + slope(1, i, 3 * f + 1) + slope(2, i, 3 * f + 2));
    }
    stencil.gradient(gradient, block.data(), fields);
    stencil.divergence(divergence, block.data(), fields);
    CHECK(difference(gradient, expected_gradient) < 8 * 4 * epsilon / 0.4);
    CHECK(difference(divergence, expected_divergence) < 3 * 8 * 4 * epsilon / 0.4);
    CHECK_THROWS_AS(stencil.gradient(gradient, block.data(), fields + 1), core::InvalidArgument);
    CHECK_THROWS_AS(stencil.divergence(gradient, block.data(), fields), core::InvalidArgument);
  }
}

/// Fast against reference on one grid, with and without the current, the result on top of the base where there is one.
void compare(const Grid& grid) {
  CAPTURE(grid.extent[0]);
  CAPTURE(grid.extent[1]);
  CAPTURE(grid.extent[2]);
  constexpr std::int64_t blocks = 2;
  const std::int64_t size = blocks * grid.points() * doubles_per_point;
  const Values in = random_values(size, 1), base = random_values(size, 2), potential = random_values(grid.points(), 3);
  const double shift = 0.6;
  Stencil stencil(alone(grid));
  std::vector<double> slopes(blocks * 12), expected_slopes(blocks * 12);
  reference::current(grid, in.data(), blocks, expected_slopes);
  stencil.current(in.data(), blocks, slopes);
  const double slope_tolerance = 4 * epsilon * std::sqrt(static_cast<double>(grid.points())) * 10 / grid.spacing[0];
  CHECK(difference(slopes, expected_slopes) < slope_tolerance);
  Values gradient(3 * grid.points() * doubles_per_point), expected_gradient(gradient.size());
  reference::slopes(grid, expected_gradient.data(), in.data());
  slopes_of(stencil, grid.extent, gradient.data(), in.data());
  CHECK(difference(gradient.span(), expected_gradient.span()) < 8 * 4 * epsilon / 0.4);
  compare_fields(grid, in, expected_gradient);
  for (const Form& form : forms()) {
    CAPTURE(form.q[0]);
    CAPTURE(form.q[1]);
    CAPTURE(form.q[2]);
    CAPTURE(form.factor.imag());
    CAPTURE(form.based);
    Values expected(size), out = base, again(size);
    const Combination plain = combination(form.factor, shift, form.based ? base.data() : nullptr, -1.5);
    reference::apply(grid, expected.data(), in.data(), blocks, potential.span(), form.q, plain);
    const double tolerance = 20 * epsilon * scale(grid, form.q);
    Combination onto = plain;
    if (form.based) onto.base = out.data();
    stencil.apply(out.data(), in.data(), blocks, potential.span(), form.q, onto);
    CHECK(difference(out.span(), expected.span()) < tolerance);
    std::ranges::fill(slopes, -7.0);
    stencil.apply_with_current(again.data(), in.data(), blocks, potential.span(), form.q, plain, slopes);
    CHECK(difference(again.span(), expected.span()) < tolerance);
    CHECK(difference(slopes, expected_slopes) < slope_tolerance);
  }
}

TEST_CASE("stencil: what the reference gives, periodic, on even, odd and short axes") {
  compare({{8, 8, 8}, {0.5, 0.5, 0.5}, Boundary::periodic});
  compare({{5, 7, 9}, {0.5, 0.6, 0.4}, Boundary::periodic});
  compare({{21, 5, 6}, {0.7, 0.6, 0.4}, Boundary::periodic});
}

TEST_CASE("stencil: what the reference gives, isolated") {
  compare({{8, 9, 7}, {0.5, 0.6, 0.4}, Boundary::isolated});
  compare({{5, 13, 6}, {0.7, 0.6, 0.4}, Boundary::isolated});
}

/// <a, b> of one orbital.
Complex product(const Values& a, const Values& b, int lane) {
  Complex sum = 0;
  for (std::int64_t i = 2 * lane; i < a.size(); i += doubles_per_point)
    sum += Complex(a[i], -a[i + 1]) * Complex(b[i], b[i + 1]);
  return sum;
}

TEST_CASE("stencil: what the reference gives on axes that are not orthogonal") {
  for (const std::array<std::int64_t, 3>& extent : {std::array<std::int64_t, 3>{8, 8, 8}, {5, 9, 7}})
    for (const Grid& grid : test::skew_grids(extent, {0.5, 0.55, 0.45})) compare(grid);
  // Turned orthogonal axes need no diagonals.
  compare({{6, 7, 8}, {0.5, 0.6, 0.4}, Boundary::periodic, test::turned(Grid{}.axes)});
}

/// Largest difference of H from (k + q)^2/2, and of the slopes from i k, on waves of a cell, for n points an edge.
std::array<double, 2> skew_error(test::Lattice lattice, std::int64_t n) {
  const double h = 6.0 / static_cast<double>(n);
  const Grid grid = test::skew_grid(lattice, {n, n, n}, {h, h, h});
  const Vec3 q{0.3, -0.2, 0.7};
  const WaveNumbers waves{{{1, 0, 0}, {0, 1, -1}, {1, 1, 1}, {-1, 2, 0}}};
  const Values psi = plane_waves(grid, waves);
  Values out(psi.size()), slopes(3 * psi.size());
  Stencil stencil(alone(grid));
  stencil.apply(out.data(), psi.data(), 1, std::vector<double>(static_cast<std::size_t>(grid.points()), 0.0), q);
  slopes_of(stencil, grid.extent, slopes.data(), psi.data());
  std::array<double, 2> worst{};
  for (std::int64_t i = 0; i < psi.size(); i += 2) {
    const auto& m = waves[static_cast<std::size_t>(i / 2 % orbital_lanes)];
    const double turn = 2 * std::numbers::pi;
    const Vec3 k = combined({turn * double(m[0]), turn * double(m[1]), turn * double(m[2])}, dual(grid.edges()));
    const Vec3 sum{k[0] + q[0], k[1] + q[1], k[2] + q[2]};
    worst[0] = std::max(worst[0], std::abs(out[i] - 0.5 * dot(sum, sum) * psi[i]));
    for (std::int64_t a = 0; a < 3; ++a)
      worst[1] = std::max(worst[1], std::abs(slopes[a * psi.size() + i] + k[static_cast<std::size_t>(a)] * psi[i + 1]));
  }
  return worst;
}

TEST_CASE("stencil: on axes that are not orthogonal half the spacing leaves 2^-8 of the error of waves") {
  for (const test::Lattice lattice :
       {test::Lattice::face_centred, test::Lattice::hexagonal, test::Lattice::triclinic}) {
    CAPTURE(static_cast<int>(lattice));
    const auto coarse = skew_error(lattice, 24), fine = skew_error(lattice, 48);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(std::log2(coarse[i] / fine[i]) > 7.0);
      CHECK(std::log2(coarse[i] / fine[i]) < 8.2);
      CHECK(fine[i] < 1e-4);
    }
  }
}

TEST_CASE("stencil: on a face-centred grid waves turned by the cube's symmetry have the same energy") {
  // A wave and its mirror image across x = -y, which is no exchange of axes.
  const Grid grid = test::skew_grid(test::Lattice::face_centred, {8, 8, 8}, {0.5, 0.5, 0.5});
  const std::array<Vec3, 2> waves{Vec3{0.3, 0.1, -0.2}, {-0.1, -0.3, -0.2}};
  std::array<double, 2> energy{};
  Values out(grid.points() * doubles_per_point);
  // A wave of the grid and q: the numbers of the mirrored wave are its products with the edges.
  for (std::size_t w = 0; w < 2; ++w) {
    const std::array<std::int64_t, 3> m =
        w == 0 ? std::array<std::int64_t, 3>{1, 2, 1} : std::array<std::int64_t, 3>{0, 1, -1};
    const Values psi = plane_waves(grid, {m, m, m, m});
    Stencil stencil(alone(grid));
    stencil.apply(out.data(), psi.data(), 1, std::vector<double>(512, 0.0), waves[w]);
    energy[w] = product(psi, out, 0).real() / 512;
  }
  CHECK(energy[0] == doctest::Approx(energy[1]).epsilon(1e-13));
}

TEST_CASE("stencil: what the reference gives where a grid is cut into tiles") {
  for (const int kind : {0, 1, 2}) {
    const Grid grid{{67, 53, 9},
                    {0.5, 0.6, 0.4},
                    kind == 1 ? Boundary::isolated : Boundary::periodic,
                    kind == 2 ? test::axes_of(test::Lattice::triclinic) : Grid{}.axes};
    const std::int64_t size = grid.points() * doubles_per_point;
    const Values in = random_values(size, 1), potential = random_values(grid.points(), 3);
    const Vec3 q{0.1, 0.2, 0.3};
    Values expected(size), out(size);
    Stencil stencil(alone(grid));
    std::vector<double> slopes(12), expected_slopes(12);
    reference::apply(grid, expected.data(), in.data(), 1, potential.span(), q);
    reference::current(grid, in.data(), 1, expected_slopes);
    stencil.apply_with_current(out.data(), in.data(), 1, potential.span(), q, {}, slopes);
    CHECK(difference(out.span(), expected.span()) < 20 * epsilon * scale(grid, q));
    CHECK(difference(slopes, expected_slopes) < 1e-10);
    Values gradient(3 * size), expected_gradient(3 * size);
    reference::slopes(grid, expected_gradient.data(), in.data());
    slopes_of(stencil, grid.extent, gradient.data(), in.data());
    CHECK(difference(gradient.span(), expected_gradient.span()) < 8 * 4 * epsilon / 0.4);
    compare_fields(grid, in, expected_gradient);
  }
}

TEST_CASE("stencil: H is hermitian") {
  std::vector<Grid> grids = test::skew_grids({7, 8, 9}, {0.5, 0.6, 0.45});
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated})
    grids.push_back({{7, 8, 9}, {0.5, 0.6, 0.4}, boundary});
  for (const Grid& grid : grids) {
    const std::int64_t size = grid.points() * doubles_per_point;
    const Values a = random_values(size, 1), b = random_values(size, 2), potential = random_values(grid.points(), 3);
    Values ha(size), hb(size);
    const Vec3 q{0.3, 0.5, -0.4};
    Stencil stencil(alone(grid));
    stencil.apply(ha.data(), a.data(), 1, potential.span(), q);
    stencil.apply(hb.data(), b.data(), 1, potential.span(), q);
    for (int lane = 0; lane < orbital_lanes; ++lane)
      CHECK(std::abs(product(a, hb, lane) - product(ha, b, lane)) < 1e-11);
  }
}

TEST_CASE("stencil: a translation by one grid step commutes with H, bit by bit") {
  const Grid grid{{8, 7, 9}, {0.5, 0.6, 0.4}, Boundary::periodic};
  const std::int64_t size = grid.points() * doubles_per_point;
  const Values in = random_values(size, 1), potential = random_values(grid.points(), 3);
  const Box box{{}, grid.extent};
  const auto shifted = [&](const Values& from, std::size_t axis, std::int64_t width) {
    Values to(from.size());
    for (std::int64_t z = 0; z < grid.extent[2]; ++z)
      for (std::int64_t y = 0; y < grid.extent[1]; ++y)
        for (std::int64_t x = 0; x < grid.extent[0]; ++x) {
          std::array<std::int64_t, 3> r{x, y, z};
          r[axis] = (r[axis] + 1) % grid.extent[axis];
          std::copy_n(from.data() + width * box.index(x, y, z), width, to.data() + width * box.index(r[0], r[1], r[2]));
        }
    return to;
  };
  const Vec3 q{0.3, 0.5, -0.4};
  Stencil stencil(alone(grid));
  Values h(size), h_of_shifted(size);
  stencil.apply(h.data(), in.data(), 1, potential.span(), q);
  for (const std::size_t axis : {0, 1, 2}) {
    const Values moved = shifted(in, axis, doubles_per_point), moved_potential = shifted(potential, axis, 1);
    stencil.apply(h_of_shifted.data(), moved.data(), 1, moved_potential.span(), q);
    CHECK(difference(h_of_shifted.span(), shifted(h, axis, doubles_per_point).span()) == 0);
  }
}

/// Largest error of H applied to the ground state of the oscillator in a box of 14 bohr.
double oscillator_error(std::int64_t n) {
  const double h = 14.0 / static_cast<double>(n);
  const Grid grid{{n, n, n}, {h, h, h}, Boundary::isolated};
  Values psi(grid.points() * doubles_per_point), out(psi.size());
  std::vector<double> v(static_cast<std::size_t>(grid.points()));
  const Box box{{}, grid.extent};
  for (std::int64_t z = 0; z < n; ++z)
    for (std::int64_t y = 0; y < n; ++y)
      for (std::int64_t x = 0; x < n; ++x) {
        double r2 = 0;
        const std::array r{x, y, z};
        for (int a = 0; a < 3; ++a) r2 += std::pow(grid.position(a, r[static_cast<std::size_t>(a)]), 2);
        v[static_cast<std::size_t>(box.index(x, y, z))] = 0.5 * r2;
        for (int lane = 0; lane < orbital_lanes; ++lane)
          psi[box.index(x, y, z) * doubles_per_point + 2 * lane + lane % 2] = std::exp(-0.5 * r2);
      }
  Stencil stencil(alone(grid));
  stencil.apply(out.data(), psi.data(), 1, v, {});
  double worst = 0;
  for (std::int64_t i = 0; i < psi.size(); ++i) worst = std::max(worst, std::abs(out[i] - 1.5 * psi[i]));
  return worst;
}

TEST_CASE("stencil: half the spacing leaves 2^-8 of the error for the oscillator") {
  const double coarse = oscillator_error(32), fine = oscillator_error(64);  // 0.44 and 0.22 bohr
  CHECK(std::log2(coarse / fine) > 7.0);                                    // the next order is still felt
  CHECK(std::log2(coarse / fine) < 8.2);
  CHECK(fine < 1e-5);
}

TEST_CASE("stencil: the largest kinetic energy is the top of the spectrum") {
  const Vec3 q{0.3, -0.2, 0.7};
  const Grid periodic{{8, 6, 10}, {0.5, 0.7, 0.6}, Boundary::periodic};
  double top = -1;
  for (std::int64_t x = 0; x < 8; ++x)
    for (std::int64_t y = 0; y < 6; ++y)
      for (std::int64_t z = 0; z < 10; ++z) {
        double energy = 0;
        const std::array r{x, y, z};
        for (std::size_t a = 0; a < 3; ++a) {
          const double theta =
              2 * std::numbers::pi * static_cast<double>(r[a]) / static_cast<double>(periodic.extent[a]);
          const double h = periodic.spacing[a];
          energy += 0.5 * q[a] * q[a] + q[a] * symbol_of_slope(theta) / h - 0.5 * symbol_of_curvature(theta) / (h * h);
        }
        top = std::max(top, energy);
      }
  CHECK(Stencil::largest_kinetic(periodic, q) == doctest::Approx(top).epsilon(1e-14));
  // Without q the top is at theta = pi: 205/72 + 2 (8/5 + 1/5 + 8/315 + 1/560) over 2 h^2 an axis.
  const Grid box{{9, 9, 9}, {0.4, 0.4, 0.4}, Boundary::isolated};
  const double at_pi = 3 * (205.0 / 72 + 2 * (8.0 / 5 + 1.0 / 5 + 8.0 / 315 + 1.0 / 560)) / (2 * 0.4 * 0.4);
  CHECK(Stencil::largest_kinetic(box, {}) == doctest::Approx(at_pi).epsilon(1e-13));
  // Turned axes have the same waves. All angles of short axes are tried.
  Grid turned = periodic;
  turned.axes = test::turned(turned.axes);
  const Vec3 turned_q = combined(q, turned.axes);
  CHECK(Stencil::largest_kinetic(turned, turned_q) == doctest::Approx(top).epsilon(1e-13));
}

TEST_CASE("stencil: the number of threads changes no bit") {
#if defined(_OPENMP)
  const int before = omp_get_max_threads();
  for (const auto& axes : {Grid{}.axes, test::axes_of(test::Lattice::face_centred)}) {
    const Grid grid{{18, 16, 20}, {0.5, 0.55, 0.45}, Boundary::periodic, axes};  // enough for threads
    constexpr std::int64_t most = 3;
    const std::int64_t size = most * grid.points() * doubles_per_point;
    const Values in = random_values(size, 1), potential = random_values(grid.points(), 3);
    const Vec3 q{0.1, 0.2, 0.3};
    for (const std::int64_t blocks : {std::int64_t{1}, most}) {
      Values one(size), three(size);
      std::vector<double> slopes_one(static_cast<std::size_t>(12 * blocks)), slopes_three(slopes_one.size());
      Stencil stencil(alone(grid));
      omp_set_num_threads(1);
      stencil.apply_with_current(one.data(), in.data(), blocks, potential.span(), q, {}, slopes_one);
      omp_set_num_threads(3);
      stencil.apply_with_current(three.data(), in.data(), blocks, potential.span(), q, {}, slopes_three);
      CHECK(difference(one.span(), three.span()) == 0);
      CHECK(difference(slopes_one, slopes_three) == 0);
      CHECK(largest(slopes_one) > 0);
    }
  }
  omp_set_num_threads(before);
#endif
}

TEST_CASE("density: the weighted squares of four orbitals, added") {
  for (const std::int64_t points : {1, 8, 27, 64}) {
    const Values block = random_values(points * doubles_per_point, 4);
    const std::array<double, 4> factors{0.5, 2.0, 0.0, 1.25};
    std::vector<double> density(static_cast<std::size_t>(points), 3.0), expected = density;
    for (std::int64_t r = 0; r < points; ++r)
      for (int lane = 0; lane < 4; ++lane)
        expected[static_cast<std::size_t>(r)] +=
            factors[static_cast<std::size_t>(lane)] *
            std::norm(Complex(block[r * 8 + 2 * lane], block[r * 8 + 2 * lane + 1]));
    add_density(density, block.data(), factors);
    CHECK(difference(density, expected) < 10 * epsilon * 8);
  }
}

TEST_CASE("stencil: the gradient of the density is twice the real part of the orbitals times their slopes") {
  std::vector<Grid> grids = test::skew_grids({13, 9, 10}, {0.5, 0.45, 0.55});
  for (const Boundary boundary : {Boundary::periodic, Boundary::isolated})
    grids.push_back({{13, 9, 10}, {0.5, 0.4, 0.6}, boundary});
  for (const Grid& grid : grids) {
    const std::int64_t points = grid.points();
    const Values block = random_values(points * doubles_per_point, 4);
    Values slopes(3 * block.size()), plain(3 * block.size());
    std::ranges::fill(slopes.span(), 7.0);
    reference::slopes(grid, plain.data(), block.data());
    const std::array<double, 4> factors{0.5, 2.0, 0.0, 1.25};
    std::vector<double> gradient(3 * static_cast<std::size_t>(points), 3.0), expected = gradient;
    for (std::int64_t axis = 0; axis < 3; ++axis)
      for (std::int64_t i = 0; i < block.size(); i += 2) {
        const double* slope = plain.data() + axis * block.size() + i;
        expected[static_cast<std::size_t>(axis * points + i / doubles_per_point)] +=
            factors[static_cast<std::size_t>(i / 2 % 4)] * 2 *
            (Complex(block[i], -block[i + 1]) * Complex(slope[0], slope[1])).real();
      }
    // Rows of every kind: nothing, all, and parts at both ends and in the middle.
    std::vector<Range> kept(static_cast<std::size_t>(grid.extent[1] * grid.extent[2]));
    for (std::size_t row = 0; row < kept.size(); ++row)
      kept[row] = std::array<Range, 5>{Range{0, 0}, {0, 13}, {0, 4}, {9, 13}, {5, 6}}[row % 5];
    std::array<double, 3 * orbital_lanes> current{}, alone_current{};
    Stencil(alone(grid)).add_density_gradient(gradient, slopes.data(), block.data(), factors, kept, current);
    CHECK(difference(gradient, expected) < 100 * epsilon * 8);
    Stencil(alone(grid)).current(block.data(), 1, alone_current);
    CHECK(difference(current, alone_current) < 1e-12 * largest(alone_current));
    CHECK(largest(alone_current) > 1);
    std::vector<double> again(gradient.size(), 3.0);
    Stencil(alone(grid)).add_density_gradient(again, slopes.data(), block.data(), factors, kept);
    CHECK(again == gradient);
    double largest = 0;
    bool others_untouched = true;
    for (std::int64_t axis = 0; axis < 3; ++axis)
      for (std::int64_t i = 0; i < block.size(); ++i) {
        const std::int64_t point = i / doubles_per_point, x = point % 13, place = axis * block.size() + i;
        const Range& row = kept[static_cast<std::size_t>(point / 13)];
        if (x >= row.begin && x < row.end)
          largest = std::max(largest, std::abs(slopes[place] - plain[place]));
        else
          others_untouched = others_untouched && slopes[place] == 7.0;
      }
    CHECK(largest < 100 * epsilon);
    CHECK(others_untouched);
    CHECK_THROWS_AS(Stencil(alone(grid))
                        .add_density_gradient(gradient, slopes.data(), block.data(), factors, std::span(kept).first(3)),
                    core::InvalidArgument);
  }
}

TEST_CASE("stencil: refuses what it cannot mean") {
  const Grid grid{{8, 8, 8}, {0.5, 0.5, 0.5}, Boundary::periodic};
  Stencil stencil(alone(grid));
  const std::int64_t size = grid.points() * doubles_per_point;
  Values in(size), out(size);
  const std::vector<double> v(static_cast<std::size_t>(grid.points())), short_v(v.size() - 1);
  std::vector<double> few(11);
  CHECK_THROWS_AS(stencil.apply(out.data(), in.data(), 1, v, {}, combination({1.0, 1.0})), core::InvalidArgument);
  CHECK_THROWS_AS(stencil.apply(out.data(), in.data(), 1, short_v, {}), core::InvalidArgument);
  CHECK_THROWS_AS(stencil.apply(in.data(), in.data(), 1, v, {}), core::InvalidArgument);
  CHECK_THROWS_AS(stencil.current(in.data(), 1, few), core::InvalidArgument);
  CHECK_THROWS_AS(slopes_of(stencil, grid.extent, in.data(), in.data()), core::InvalidArgument);
  CHECK_THROWS_AS(stencil.apply_with_current(out.data(), in.data(), 1, v, {}, {}, few), core::InvalidArgument);
}

}  // namespace
}  // namespace halocline::tddft
