// SPDX-License-Identifier: Apache-2.0
// Maxwell's equations against closed forms: dispersion on the grid, cavities, slabs, layers that absorb.

#include "halocline/core/error.hpp"
#include "maxwell/boxes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <vector>

using namespace halocline;
using namespace halocline::maxwell;
using std::numbers::pi;
using Complex = std::complex<double>;

namespace {

YeeGrid line(std::int64_t cells, double step, double courant, int layer) {
  YeeGrid grid;
  grid.cells = {cells, 1, 1};
  grid.step = {step, step, step};
  grid.ends[0] = {Boundary::absorbing, Boundary::absorbing};
  grid.layer.cells = layer;
  grid.time_step = courant * grid.courant_limit();
  return grid;
}

struct Coefficients1d {
  std::vector<double> reflected, transmitted;
};

/// Shares of the energy that matter on a line reflects and transmits.
Coefficients1d shares(const Matter& matter, double length, double step, const std::vector<double>& frequencies,
                      double width, double time, double courant = 0.9) {
  const int layer = 30;
  const auto cells = static_cast<std::int64_t>(std::lround(length / step)) + 2 * layer;
  YeeGrid grid = line(cells, step, courant, layer);
  Simulation<double> simulation(grid, matter, test::alone(grid));
  const double centre = 6 * width;
  PlaneWaveSpec wave{0,
                     1,
                     {0, 1, 0},
                     {layer + 5, 0, 0},
                     {cells - layer - 2, 0, 0},
                     Waveform::gaussian((frequencies.front() + frequencies.back()) / 2, width, centre)};
  simulation.add_plane_wave(wave, frequencies);
  const int every = 1;
  const auto before = simulation.add_spectrum({{layer + 2, 0, 0}, {layer + 4, 1, 1}}, {1, 5}, frequencies, every);
  const auto behind =
      simulation.add_spectrum({{cells - layer - 4, 0, 0}, {cells - layer - 2, 1, 1}}, {1, 5}, frequencies, every);
  simulation.run(std::lround(time / grid.time_step));
  const auto incident = simulation.plane_wave(0).flux();
  Coefficients1d result;
  for (std::size_t f = 0; f < frequencies.size(); ++f) {
    // E at the second node, H as the mean of both of its sides.
    const auto flux = [&](std::size_t number) {
      const auto e = simulation.spectrum(number, 1, f), h = simulation.spectrum(number, 5, f);
      return 0.5 * (e[1] * std::conj((h[0] + h[1]) / 2.0)).real();
    };
    result.reflected.push_back(-flux(before) / incident[f]);
    result.transmitted.push_back(flux(behind) / incident[f]);
  }
  return result;
}

/// Shares of a slab between empty spaces, by Airy's sums.
std::array<double, 2> airy(Complex epsilon, double thickness, double omega) {
  const Complex n = std::sqrt(epsilon), r = (1.0 - n) / (1.0 + n),
                turn = std::exp(Complex(0, 1) * n * omega * thickness);
  const Complex denominator = 1.0 - r * r * turn * turn;
  const Complex reflected = r * (1.0 - turn * turn) / denominator;
  const Complex transmitted = (1.0 - r * r) * turn / denominator;
  return {std::norm(reflected), std::norm(transmitted)};
}

}  // namespace

TEST_CASE("maxwell: a wave on the grid has the scheme's frequency") {
  // sum of (sin(k h / 2) / h)^2 = (sin(omega dt / 2) / dt)^2, on a periodic box, with a Bloch phase along y.
  YeeGrid grid = test::grid_of({12, 10, 14}, Boundary::periodic);
  grid.bloch = {0, 0.9, 0};
  grid.time_step = 0.7 * grid.courant_limit();
  const Vector3 k{2 * pi / grid.length(0), (2 * pi + 0.9) / grid.length(1), -2 * pi / grid.length(2)};
  double sum = 0;
  Vector3 on_grid;
  for (std::size_t a = 0; a < 3; ++a) {
    on_grid[a] = 2 / grid.step[a] * std::sin(k[a] * grid.step[a] / 2);
    sum += on_grid[a] * on_grid[a];
  }
  const double omega = 2 / grid.time_step * std::asin(grid.time_step / 2 * std::sqrt(sum));
  const double of_scheme = 2 / grid.time_step * std::sin(omega * grid.time_step / 2);
  const Vector3 e{on_grid[1], -on_grid[0], 0};  // at right angles to k on the grid
  Vector3 h;
  for (std::size_t a = 0; a < 3; ++a)
    h[a] = (on_grid[(a + 1) % 3] * e[(a + 2) % 3] - on_grid[(a + 2) % 3] * e[(a + 1) % 3]) / of_scheme;
  Simulation<double> simulation(grid, Matter(), test::alone(grid));
  const auto wave = [&](double amplitude, double time, int copy, const Vector3& r) {
    const double phase = k[0] * r[0] + k[1] * r[1] + k[2] * r[2] - omega * time;
    return amplitude * (copy == 0 ? std::cos(phase) : std::sin(phase));
  };
  for (int copy = 0; copy < 2; ++copy)
    for (int a = 0; a < 3; ++a) {
      simulation.set_field(a, copy, [&](const Vector3& r) { return wave(e[at(a)], 0, copy, r); });
      simulation.set_field(3 + a, copy, [&](const Vector3& r) { return wave(h[at(a)], -grid.time_step / 2, copy, r); });
    }
  simulation.run(300);
  double worst = 0;
  for (int copy = 0; copy < 2; ++copy)
    for (int a = 0; a < 2; ++a) {
      const auto field = simulation.field(a, copy);
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(field.size()); ++i) {
        const Index3 p{i % 12, i / 12 % 10, i / 120};
        worst = std::max(worst, std::abs(field[static_cast<std::size_t>(i)] -
                                         wave(e[at(a)], simulation.time(), copy, place_of(grid, a, p))));
      }
    }
  CHECK(worst < 1e-12);
}

TEST_CASE("maxwell: waves in a Lorentz medium have the frequencies of the scheme's permittivity") {
  // k^2 of the grid = epsilon(omega) s^2 with s = 2 sin(omega dt / 2) / dt: two branches, below and above the
  // resonance.
  YeeGrid grid = test::grid_of({1, 16, 1}, Boundary::periodic);
  grid.time_step = 0.4;
  const Medium medium{1.5, 0, {{0.5, 0, 0.4}}};
  const double k = 2 / grid.step[1] * std::sin(pi / 16);
  const auto excess = [&](double omega) {
    const double s = 2 / grid.time_step * std::sin(omega * grid.time_step / 2);
    return medium.epsilon_of_scheme(omega, grid.time_step).real() * s * s - k * k;
  };
  const auto root = [&](double low, double high) {
    for (int cut = 0; cut < 60; ++cut) {
      const double middle = (low + high) / 2;
      ((excess(middle) < 0) == (excess(low) < 0) ? low : high) = middle;
    }
    return (low + high) / 2;
  };
  // On the grid the pole is where s is the resonance.
  const double pole = 2 / grid.time_step * std::asin(0.5 * grid.time_step / 2);
  const std::array<double, 2> omega{root(1e-3, pole - 1e-9), root(pole + 1e-9, 3)};
  CHECK(omega[0] < 0.9 * pole);
  CHECK(omega[1] > 1.1 * pole);
  // Of the continuum to second order.
  CHECK(std::abs(medium.epsilon(omega[0]) / medium.epsilon_of_scheme(omega[0], grid.time_step) - 1.0) < 0.05);
  Simulation<double> simulation(grid, Matter(medium), test::alone(grid));
  simulation.set_field(0, 0, [&](const Vector3& r) { return std::sin(2 * pi * r[1] / grid.length(1)); });
  const auto probe = simulation.add_probe(0, {0, 3, 0});
  simulation.run(400);
  const auto x = simulation.probe(probe);
  // Each branch obeys x(n+1) + x(n-1) = 2 cos(omega dt) x(n); both together the product of these.
  const double a = 2 * std::cos(omega[0] * grid.time_step), b = 2 * std::cos(omega[1] * grid.time_step);
  double worst = 0, single = 0, largest = 0;
  for (std::size_t n = 2; n + 2 < x.size(); ++n) {
    worst = std::max(worst, std::abs(x[n + 2] + x[n - 2] - (a + b) * (x[n + 1] + x[n - 1]) + (2 + a * b) * x[n]));
    single = std::max(single, std::abs(x[n + 1] + x[n - 1] - a * x[n]));
    largest = std::max(largest, std::abs(x[n]));
  }
  CHECK(largest > 0.1);
  CHECK(single > 1e-3 * largest);  // both branches are there
  CHECK(worst < 1e-11 * largest);  // some ten roundings in 400 steps
}

TEST_CASE("maxwell: a plane wave leaves nothing outside of its box") {
  YeeGrid grid = test::grid_of({30, 28, 26}, Boundary::absorbing);
  for (const int axis : {0, 1, 2})
    for (const int direction : {1, -1}) {
      CAPTURE(axis);
      CAPTURE(direction);
      Simulation<double> simulation(grid, Matter(Medium{1.7, 0, {}}), test::alone(grid));
      Vector3 polarisation{0.8, 0.5, -0.6};
      polarisation[at(axis)] = 0;
      simulation.add_plane_wave(
          {axis, direction, polarisation, {8, 8, 8}, {21, 19, 17}, Waveform::gaussian(0.4, 4, 24)});
      const auto inside = simulation.add_probe((axis + 1) % 3, {14, 13, 12});
      simulation.run(90);
      double outside = 0, largest = 0;
      for (int c = 0; c < components; ++c) {
        const auto field = simulation.field(c);
        const Index3 n{30 + (between(c, 0) ? 0 : 1), 28 + (between(c, 1) ? 0 : 1), 26 + (between(c, 2) ? 0 : 1)};
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(field.size()); ++i) {
          const Index3 p{i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
          bool out = false;
          for (std::size_t a = 0; a < 3; ++a) out = out || p[a] < 7 || p[a] > std::array{21, 19, 17}[a] + 1;
          if (out) outside = std::max(outside, std::abs(field[static_cast<std::size_t>(i)]));
        }
      }
      for (const Complex& value : simulation.probe(inside)) largest = std::max(largest, std::abs(value));
      CHECK(largest > 0.4);
      CHECK(outside < 1e-13);
    }
}

TEST_CASE("maxwell: slabs reflect and transmit what Airy's formula says, to second order") {
  const std::vector<double> frequencies{0.25, 0.4, 0.55};
  struct Slab {
    const char* name;
    Medium medium;
    double bar;
  };
  const std::vector<Slab> slabs{{"glass", {2.25, 0, {}}, 1e-3},
                                {"a Lorentz medium", {1.5, 0, {{0.6, 0.1, 0.3}}}, 1e-3},
                                {"a Drude metal", {1, 0, {{0, 0.05, 0.49}}}, 1e-3},
                                {"a conductor", {2, 0.1, {}}, 1e-3}};
  for (const Slab& slab : slabs) {
    CAPTURE(slab.name);
    std::array<double, 2> worst{};
    for (const int fine : {0, 1}) {
      const double step = fine ? 0.05 : 0.1;
      Matter matter;
      // Surfaces between the nodes of the coarse grid: the means over cut cells have to be right.
      const double begin = 30 * step + 8.03, thickness = 4.06;
      matter.add(cuboid({begin, -1e9, -1e9}, {begin + thickness, 1e9, 1e9}), slab.medium);
      const Coefficients1d found = shares(matter, 20, step, frequencies, 5, 260, 0.5);
      for (std::size_t f = 0; f < frequencies.size(); ++f) {
        const auto [r, t] = airy(slab.medium.epsilon(frequencies[f]), thickness, frequencies[f]);
        worst[at(fine)] =
            std::max({worst[at(fine)], std::abs(found.reflected[f] - r), std::abs(found.transmitted[f] - t)});
      }
    }
    CAPTURE(worst[0]);
    CHECK(worst[1] < slab.bar);
    CHECK(worst[1] < worst[0] / 2.8);
  }
}

TEST_CASE_TEMPLATE("maxwell: a simulation goes on from a checkpoint with the same bits", T, float, double) {
  YeeGrid grid = test::grid_of({26, 24, 25}, Boundary::absorbing);
  grid.ends[1] = {Boundary::periodic, Boundary::periodic};
  grid.time_step = 0.9 * grid.courant_limit();
  const auto make = [&] {
    auto simulation = std::make_unique<Simulation<T>>(grid, test::mixed_matter(grid), test::alone(grid));
    simulation->add_current(1, {9, 12, 12}, Waveform::gaussian(0.5, 3, 4));
    simulation->add_plane_wave({2, 1, {1, 0, 0}, {7, 0, 7}, {18, 24, 18}, Waveform::gaussian(0.4, 3, 5)}, {0.4});
    simulation->add_probe(2, {20, 3, 12});
    simulation->add_probe(1, {0, 3, 12});  // on a wall
    simulation->add_spectrum({{2, 0, 0}, {24, 24, 13}}, {0, 4}, {0.3, 0.5}, 3);
    return simulation;
  };
  const auto whole = make(), first = make(), second = make();
  whole->run(23);
  first->run(10);
  const auto bytes = first->checkpoint();
  second->resume(bytes);
  CHECK(second->steps() == 10);
  second->run(13);
  for (int c = 0; c < components; ++c) CHECK(second->field(c) == whole->field(c));
  for (const std::size_t probe : {0U, 1U}) CHECK(second->probe(probe) == whole->probe(probe));
  CHECK(second->spectrum(0, 4, 1) == whole->spectrum(0, 4, 1));
  CHECK(second->plane_wave(0).flux() == whole->plane_wave(0).flux());
  CHECK(std::abs(whole->probe(0).back()) > 0);
  Simulation<T> other(grid, Matter(), test::alone(grid));
  CHECK_THROWS_WITH_AS(other.resume(bytes), doctest::Contains("another simulation"), core::InvalidArgument);
  CHECK_THROWS_AS(other.resume(std::span(bytes).first(20)), core::InvalidArgument);
}

TEST_CASE("maxwell: cells whose matter is outside are matter") {
  // Drude's current, computed outside from E of the cells, against the medium of the library.
  const double dt = 0.5, strength = 0.09, damping = 0.05;
  YeeGrid grid = line(160, 1, dt, 12);
  const PlaneWaveSpec wave{0, 1, {0, 0.6, 0.8}, {16, 0, 0}, {140, 0, 0}, Waveform::gaussian(0.3, 6, 36)};
  Matter metal;
  metal.add(cuboid({69.5, -1e9, -1e9}, {79.5, 1e9, 1e9}), Medium{1, 0, {{0, damping, strength}}});
  Simulation<double> inside(grid, metal, test::alone(grid)), outside(grid, Matter(), test::alone(grid));
  for (Simulation<double>* simulation : {&inside, &outside}) simulation->add_plane_wave(wave);
  outside.add_cells({{70, 0, 0}, {80, 1, 1}});
  const auto in = inside.add_probe(1, {100, 0, 0}), out = outside.add_probe(1, {100, 0, 0});
  std::vector<double> current(30);
  for (int step = 0; step < 300; ++step) {
    const auto e = outside.cell_fields();
    for (std::size_t i = 0; i < current.size(); ++i)
      current[i] = ((1 - damping * dt / 2) * current[i] + dt * strength * e[i]) / (1 + damping * dt / 2);
    outside.set_currents(current);
    outside.run(1);
  }
  inside.run(300);
  const auto a = inside.probe(in), b = outside.probe(out);
  double worst = 0, largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    worst = std::max(worst, std::abs(a[n] - b[n]));
    largest = std::max(largest, std::abs(a[n]));
  }
  CHECK(largest > 0.05);
  CHECK(worst < 1e-13);
  CHECK_THROWS_WITH_AS(outside.add_cells({{70, 0, 0}, {80, 1, 1}}), doctest::Contains("twice"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(inside.add_cells({{150, 0, 0}, {170, 1, 1}}), doctest::Contains("the grid has 0 to 159"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(outside.set_currents(std::vector<double>(3)), doctest::Contains("three a cell"),
                       core::InvalidArgument);
}

TEST_CASE("maxwell: a wave may leave the grid through another medium") {
  // No face at the upper end: glass from the middle on, through the layer, reflects as its surface does.
  YeeGrid grid = line(300, 1, 0.7, 16);
  Matter matter;
  matter.add(cuboid({150.5, -1e9, -1e9}, {1e9, 1e9, 1e9}), Medium{2.25, 0, {}});
  Simulation<double> simulation(grid, matter, test::alone(grid));
  simulation.add_plane_wave({0, 1, {0, 1, 0}, {24, 0, 0}, {300, 0, 0}, Waveform::gaussian(0.1, 20, 120)}, {0.1});
  const auto before = simulation.add_spectrum({{18, 0, 0}, {20, 1, 1}}, {1, 5}, {0.1}, 1);
  simulation.run(1200);
  const auto e = simulation.spectrum(before, 1, 0), h = simulation.spectrum(before, 5, 0);
  const double reflected = -0.5 * (e[1] * std::conj((h[0] + h[1]) / 2.0)).real() / simulation.plane_wave(0).flux()[0];
  CHECK(std::abs(reflected / 0.04 - 1) < 0.01);  // 63 cells a wavelength, 42 in the glass
}

TEST_CASE("maxwell: a kick makes a plasma oscillate at the scheme's frequency") {
  YeeGrid grid = test::grid_of({6, 5, 4}, Boundary::periodic);
  const double square = 0.3, kick = 0.7;
  Simulation<double> simulation(grid, Matter(Medium{1, 0, {{0, 0, square}}}), test::alone(grid));
  simulation.keep_dipole(2);
  simulation.kick({0, kick, 0});
  simulation.run(40);
  const double dt = grid.time_step, turn = 2 * std::asin(std::sqrt(square) * dt / 2);
  const double volume = grid.length(0) * grid.length(1) * grid.length(2);
  const std::vector<double> moments = simulation.dipole();
  REQUIRE(moments.size() == 60);
  for (std::size_t n = 0; n < 20; ++n) {
    const double exact = square * kick * dt / std::sin(turn) * std::sin(turn * 2 * static_cast<double>(n + 1)) * volume;
    CHECK(std::abs(moments[3 * n + 1] - exact) < 1e-11 * volume);
    CHECK(moments[3 * n] == 0);
  }
  Simulation<double> glass(grid, Matter(Medium{2, 0, {}}), test::alone(grid));
  CHECK_THROWS_AS(glass.kick({0, 0, 1}), core::InvalidArgument);
  CHECK_THROWS_AS(simulation.keep_dipole(3), core::InvalidArgument);
}

TEST_CASE("maxwell: light through a plane goes one way") {
  // One frequency on a line: E and H of the scheme's wave, turned on slowly. Behind the plane is what the switch sends.
  const double step = 0.05, omega = 2;
  YeeGrid grid = line(400, step, 0.8, 30);
  const double dt = grid.time_step;
  const double k = 2 / step * std::asin(step / dt * std::sin(omega * dt / 2));
  for (const int direction : {1, -1}) {
    CAPTURE(direction);
    Simulation<double> simulation(grid, Matter(), test::alone(grid));
    const std::int64_t node = 200;
    const Box point{{node, 0, 0}, {node + 1, 1, 1}};
    // E along y, H along z with the sign of the direction; half a step before the node.
    for (const bool sine : {false, true}) {
      const double phase = k * step / 2;
      const double h = direction * (sine ? -std::sin(phase) : std::cos(phase));
      simulation.add_sheet({0,
                            direction,
                            node,
                            point,
                            {{{sine ? 0.0 : 1.0}, {0.0}, {0.0}, {h}}},
                            Waveform::continuous(omega, 60, sine ? -pi / 2 : 0)});
    }
    const auto ahead = simulation.add_probe(1, {node + 60 * direction, 0, 0});
    const auto behind = simulation.add_probe(1, {node - 60 * direction, 0, 0});
    simulation.run(std::lround(120 / dt));
    double largest = 0, back = 0;
    const auto seen = simulation.probe(ahead), sent = simulation.probe(behind);
    for (std::size_t n = seen.size() * 3 / 4; n < seen.size(); ++n) {
      largest = std::max(largest, std::abs(seen[n]));
      back = std::max(back, std::abs(sent[n]));
    }
    CHECK(largest == doctest::Approx(1).epsilon(1e-3));
    CHECK(back < 1e-6);
  }
  Simulation<double> simulation(grid, Matter(), test::alone(grid));
  const Waveform wave = Waveform::continuous(omega, 60);
  const std::vector<double> one{1};
  CHECK_THROWS_AS(simulation.add_sheet({0, 1, 20, {{20, 0, 0}, {21, 1, 1}}, {one, one, one, one}, wave}),
                  core::InvalidArgument);
  CHECK_THROWS_AS(simulation.add_sheet({0, 1, 200, {{200, 0, 0}, {201, 1, 1}}, {one, one, one, {}}, wave}),
                  core::InvalidArgument);
  CHECK_THROWS_AS(simulation.add_sheet({1, 1, 0, {{200, 0, 0}, {201, 1, 1}}, {one, one, one, one}, wave}),
                  core::InvalidArgument);
}

TEST_CASE("maxwell: voxels are boxes around points") {
  const auto body = voxels({1, 2, 3}, {0.5, 0.5, 1}, {2, 1, 2}, {1, 0, 0, 1});
  CHECK(body->contains({1, 2, 3}));
  CHECK(body->contains({0.76, 1.76, 2.51}));
  CHECK(!body->contains({0.74, 2, 3}));
  CHECK(!body->contains({1.5, 2, 3}));
  CHECK(body->contains({1.5, 2, 4}));
  CHECK(!body->contains({1.5, 2, 4.6}));
  CHECK_THROWS_AS(voxels({0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {1, 0}), core::InvalidArgument);
  CHECK_THROWS_AS(voxels({0, 0, 0}, {1, 0, 1}, {1, 1, 1}, {1}), core::InvalidArgument);
}

TEST_CASE("maxwell: a layer at normal incidence reflects less than -90 dB") {
  // A current sheet, and the same on a grid so long that nothing returns in time.
  const auto values = [](std::int64_t cells) {
    const YeeGrid grid = line(cells, 1, 0.7, AbsorbingLayer{}.cells);
    Simulation<double> simulation(grid, Matter(), test::alone(grid));
    simulation.add_current(2, {300, 0, 0}, Waveform::gaussian(0.35, 2.5, 15));
    const auto probe = simulation.add_probe(2, {570, 0, 0});
    simulation.run(1100);
    return simulation.probe(probe);
  };
  const auto found = values(600), open = values(2400);
  for (const double wavelength : {10.0, 20.0, 40.0, 160.0}) {
    Complex passing = 0, reflected = 0;
    for (std::size_t n = 0; n < found.size(); ++n) {
      const Complex turn = std::polar(1.0, 2 * pi / wavelength * 0.7 * static_cast<double>(n));
      passing += turn * open[n];
      reflected += turn * (found[n] - open[n]);
    }
    CAPTURE(wavelength);
    CHECK(20 * std::log10(std::abs(reflected / passing)) < -90);
  }
}

TEST_CASE("maxwell: layers reflect less than -75 dB of light from all directions") {
  // A current in the plane, and the same on a grid so large that nothing returns in time. The probes are a cell before
  // the layer, where the light arrives at 0 to 80 degrees.
  const auto values = [](std::int64_t margin) {
    YeeGrid grid;
    grid.cells = {60 + 24 + 2 * margin, 20 + 24 + 2 * margin, 1};
    grid.ends[0] = grid.ends[1] = {Boundary::absorbing, Boundary::absorbing};
    grid.time_step = 0.9 * grid.courant_limit();
    Simulation<double> simulation(grid, Matter(), test::alone(grid));
    simulation.add_current(2, {12 + margin + 3, 12 + margin + 10, 0}, Waveform::gaussian(0.35, 4, 24));
    std::vector<std::size_t> probes;
    for (const std::int64_t x : {3, 10, 20, 30, 45, 58})
      probes.push_back(simulation.add_probe(2, {12 + margin + x, 12 + margin + 19, 0}));
    simulation.run(260);
    std::vector<std::vector<Complex>> found;
    for (const std::size_t probe : probes) found.push_back(simulation.probe(probe));
    return found;
  };
  const auto found = values(0), open = values(150);
  for (std::size_t probe = 0; probe < found.size(); ++probe) {
    double error = 0, largest = 0;
    for (std::size_t n = 0; n < found[probe].size(); ++n) {
      error = std::max(error, std::abs(found[probe][n] - open[probe][n]));
      largest = std::max(largest, std::abs(open[probe][n]));
    }
    CAPTURE(probe);
    CHECK(20 * std::log10(error / largest) < -75);
  }
}

TEST_CASE("maxwell: modes of a cylinder are zeros of Bessel's functions, to second order") {
  // TM modes of a can with conducting walls: E_z = J_m(zero r / R) cos(m y), the same at all heights.
  const double radius = 3;
  const std::array<double, 3> zeros{2.404825557695773, 3.831705970207512, 5.135622301840683};
  for (int m = 0; m < 3; ++m) {
    CAPTURE(m);
    std::array<double, 2> errors{};
    for (std::size_t fine = 0; fine < 2; ++fine) {
      const std::int64_t cells = fine == 0 ? 16 : 32;
      YeeGrid grid;
      grid.cells = {cells, 1, 4};
      grid.step = {radius / static_cast<double>(cells), 1, 1};
      grid.cylindrical = true;
      grid.azimuthal = m;
      grid.ends[0] = {Boundary::magnetic, Boundary::electric};
      grid.ends[2] = {Boundary::electric, Boundary::electric};
      grid.time_step = 0.5 * grid.courant_limit();
      Simulation<double> simulation(grid, Matter(), test::alone(grid));
      const double k = zeros[static_cast<std::size_t>(m)] / radius;
      simulation.set_field(2, 0, [&](const Vector3& r) { return std::cyl_bessel_j(m, k * r[0]); });
      const auto probe = simulation.add_probe(2, {cells / 2, 0, 1});
      const double period = 2 * pi / k;
      simulation.run(std::lround(20 * period / grid.time_step));
      // The last time at which the field falls through zero.
      const auto values = simulation.probe(probe);
      double last = 0;
      int falls = 0;
      for (std::size_t n = 1; n < values.size(); ++n) {
        const double a = values[n - 1].real(), b = values[n].real();
        if (a <= 0 || b > 0) continue;
        last = (static_cast<double>(n) + a / (a - b)) * grid.time_step;
        ++falls;
      }
      const double omega = 2 * pi * (falls - 1 + 0.25) / last;
      errors[fine] = std::abs(omega / k - 1);
    }
    CHECK(errors[1] < 2e-3);
    CHECK(errors[1] < 0.4 * errors[0]);
  }
}

TEST_CASE("maxwell: modes of a box have the scheme's frequencies, which are those of the box to second order") {
  for (const Boundary ends : {Boundary::electric, Boundary::magnetic}) {
    YeeGrid grid;
    grid.cells = {10, 8, 12};
    grid.step = {1, 1, 1};
    for (auto& of : grid.ends) of = {ends, ends};
    grid.time_step = 0.5;
    const Index3 m{1, 2, 1};
    double exact = 0, sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double k = pi * static_cast<double>(m[a]) / static_cast<double>(grid.cells[a]);
      exact += k * k;
      sum += std::pow(2 * std::sin(k / 2), 2);
    }
    const double omega = 2 / grid.time_step * std::asin(grid.time_step / 2 * std::sqrt(sum));
    CHECK(omega == doctest::Approx(std::sqrt(exact)).epsilon(0.03));
    Simulation<double> simulation(grid, Matter(), test::alone(grid));
    // E of the mode, at rest: cos along its own axis and sin along the others between electric walls, and the other way
    // round between magnetic ones; amplitudes without divergence on the grid.
    Vector3 k, amplitude;
    for (std::size_t a = 0; a < 3; ++a)
      k[a] = 2 * std::sin(pi * static_cast<double>(m[a]) / static_cast<double>(grid.cells[a]) / 2);
    amplitude = {k[1], -k[0], 0};
    for (int a = 0; a < 3; ++a)
      simulation.set_field(a, 0, [&](const Vector3& r) {
        double value = amplitude[at(a)];
        for (int b = 0; b < 3; ++b) {
          const double phase = pi * static_cast<double>(m[at(b)]) * r[at(b)] / grid.length(b);
          value *= (a == b) == (ends == Boundary::electric) ? std::cos(phase) : std::sin(phase);
        }
        return value;
      });
    // H is zero at time 0, so that at -dt/2 it is minus its value at dt/2: half a step back.
    const auto start = simulation.field(0);
    auto probe = simulation.add_probe(0, {3, 1, 4});
    simulation.run(1);
    // After one step of E(0) with H(-1/2) = 0 instead, the mode has two parts; both have the same frequency.
    simulation.run(400);
    const auto values = simulation.probe(probe);
    // x(n+1) + x(n-1) = 2 cos(omega dt) x(n) at every n.
    double worst = 0, largest = 0;
    for (std::size_t n = 1; n + 1 < values.size(); ++n) {
      worst =
          std::max(worst, std::abs(values[n + 1] + values[n - 1] - 2 * std::cos(omega * grid.time_step) * values[n]));
      largest = std::max(largest, std::abs(values[n]));
    }
    CHECK(largest > 0.1);
    CHECK(worst < 1e-12 * largest);
  }
}
