// SPDX-License-Identifier: Apache-2.0
// Steps against the plain reference, several steps at once against one by one, and conserved energy.

#include "halocline/core/error.hpp"
#include "halocline/maxwell/update/reference.hpp"
#include "maxwell/boxes.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

using namespace halocline;
using namespace halocline::maxwell;

namespace {

template <class T>
double largest_difference(const State<T>& a, const State<T>& b) {
  double largest = 0;
  for (int copy = 0; copy < a.copies(); ++copy)
    for (int c = 0; c < components; ++c) {
      const Box box = a.part().owned(c);
      for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
        for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
          for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x)
            largest = std::max<double>(largest, std::abs(a.field(c, copy).at(x, y, z) - b.field(c, copy).at(x, y, z)));
    }
  return largest;
}

struct Case {
  const char* name;
  YeeGrid grid;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"electric walls", test::grid_of({13, 9, 11}, Boundary::electric)});
  all.push_back({"magnetic walls", test::grid_of({13, 9, 11}, Boundary::magnetic)});
  all.push_back({"periodic", test::grid_of({13, 9, 11}, Boundary::periodic)});
  all.push_back({"absorbing", test::grid_of({17, 13, 12}, Boundary::absorbing)});
  Case mixed{"all kinds", test::grid_of({17, 9, 14}, Boundary::periodic)};
  mixed.grid.ends[0] = {Boundary::absorbing, Boundary::magnetic};
  mixed.grid.ends[2] = {Boundary::electric, Boundary::absorbing};
  mixed.grid.layer.stretch = 3;
  all.push_back(mixed);
  Case bloch{"Bloch", test::grid_of({9, 8, 14}, Boundary::periodic)};
  bloch.grid.bloch = {0.3, -0.7, 0};
  bloch.grid.ends[2] = {Boundary::absorbing, Boundary::absorbing};
  all.push_back(bloch);
  all.push_back({"two dimensions", test::grid_of({15, 12, 1}, Boundary::absorbing)});
  all.push_back({"two dimensions, x and z", test::grid_of({15, 1, 12}, Boundary::magnetic)});
  all.push_back({"one dimension", test::grid_of({40, 1, 1}, Boundary::absorbing)});
  all.push_back({"one dimension, z", test::grid_of({1, 1, 40}, Boundary::periodic)});
  for (const int m : {0, 1, 3}) {
    Case round{"cylindrical", test::grid_of({14, 1, 12}, Boundary::absorbing)};
    round.grid.cylindrical = true;
    round.grid.azimuthal = m;
    round.grid.ends[0] = {Boundary::magnetic, m == 1 ? Boundary::absorbing : Boundary::electric};
    all.push_back(round);
  }
  for (Case& one : all) one.grid.time_step = 0.9 * one.grid.courant_limit();
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("maxwell: the fast step is the reference's", T, float, double) {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const comm::ProcessGrid processes = test::alone(one.grid);
    const Matter matter = test::mixed_matter(one.grid);
    const Part part(one.grid, processes, 1);
    State<T> fast(part, matter), plain(part, matter);
    test::fill_randomly(fast, 3);
    test::fill_randomly(plain, 3);
    FieldHalo<T> halo(fast, processes, "auto"), plain_halo(plain, processes, "auto");
    Update<T> update(fast);
    for (int step = 0; step < 12; ++step) {
      halo.exchange();
      update.advance({{}}, 1);
      plain_halo.exchange();
      reference_step(plain);
    }
    // Fused multiply-adds round differently; 12 steps of some ten roundings on numbers of order one.
    CHECK(largest_difference(fast, plain) < 100 * std::numeric_limits<T>::epsilon());
    CHECK(std::abs(fast.field(0).at(5 % one.grid.cells[0], 0, 0)) < 10);
  }
}

TEST_CASE_TEMPLATE("maxwell: several steps at once give the bits of single steps", T, float, double) {
  for (const Case& one : cases()) {
    CAPTURE(one.name);
    const Matter matter = test::mixed_matter(one.grid);
    const auto result = [&](int depth, int threads) {
      const int before = omp_get_max_threads();
      omp_set_num_threads(threads);
      SimulationOptions options;
      options.depth = depth;
      auto simulation = std::make_unique<Simulation<T>>(one.grid, matter, test::alone(one.grid), options);
      test::fill_randomly(simulation->state(), 5);
      for (int c = 0; c < components; ++c) simulation->touch(c);
      simulation->add_current(0, {one.grid.cells[0] / 2, one.grid.cells[1] / 2, one.grid.cells[2] / 2},
                              Waveform::gaussian(0.4, 3, 5));
      simulation->run(13);
      omp_set_num_threads(before);
      return simulation;
    };
    const auto single = result(1, 1);
    for (const int depth : {2, 3, 5}) {
      bool fits = true;
      for (int a = 0; a < 3; ++a)
        if (one.grid.periodic(a) && !one.grid.flat(a) && one.grid.cells[at(a)] < depth) fits = false;
      if (!fits) continue;
      CAPTURE(depth);
      // With a Bloch phase, ghosts are computed from turned numbers, and round differently.
      const double rounding = one.grid.complex_fields() ? 20 * std::numeric_limits<T>::epsilon() : 0.0;
      CHECK(largest_difference(result(depth, 2)->state(), single->state()) <= rounding);
    }
  }
}

TEST_CASE("maxwell: closed boxes keep their energy") {
  for (const Boundary ends : {Boundary::electric, Boundary::magnetic, Boundary::periodic}) {
    CAPTURE(static_cast<int>(ends));
    YeeGrid grid = test::grid_of({12, 10, 14}, ends);
    if (ends == Boundary::periodic) grid.bloch = {0.4, 0, -1.2};
    grid.time_step = 0.8 * grid.courant_limit();
    Matter matter(Medium{1.3, 0, {}});
    matter.add(sphere({6, 5, 6}, 3), Medium{2.25, 0, {{0.5, 0, 0.3}, {0, 0, 0.2}}});
    Simulation<double> simulation(grid, matter, test::alone(grid));
    test::fill_randomly(simulation.state(), 11);
    for (int c = 0; c < components; ++c) simulation.touch(c);
    const Energy start = simulation.energy();
    CHECK(start.polarisation == doctest::Approx(0).epsilon(1e-3));
    simulation.run(500);
    const Energy end = simulation.energy();
    CHECK(end.polarisation > 0.01 * end.total());
    CHECK(std::abs(end.total() / start.total() - 1) < 1e-12);
    simulation.run(1500);
    CHECK(std::abs(simulation.energy().total() / start.total() - 1) < 1e-12);
  }
}

TEST_CASE("maxwell: closed cylinders keep their energy") {
  for (const int m : {0, 1, 2}) {
    CAPTURE(m);
    YeeGrid grid = test::grid_of({12, 1, 14}, Boundary::electric);
    grid.cylindrical = true;
    grid.azimuthal = m;
    grid.ends[0] = {Boundary::magnetic, Boundary::electric};
    grid.time_step = 0.9 * grid.courant_limit();
    Matter matter(Medium{1.3, 0, {}});
    matter.add(sphere({0, 0, 6}, 4), Medium{2.25, 0, {{0.5, 0, 0.3}, {0, 0, 0.2}}});
    Simulation<double> simulation(grid, matter, test::alone(grid));
    test::fill_randomly(simulation.state(), 11);
    for (int c = 0; c < components; ++c) simulation.touch(c);
    const Energy start = simulation.energy();
    simulation.run(500);
    const Energy end = simulation.energy();
    CHECK(end.polarisation > 0.01 * end.total());
    CHECK(std::abs(end.total() / start.total() - 1) < 1e-12);
    simulation.run(4500);
    CHECK(std::abs(simulation.energy().total() / start.total() - 1) < 1e-11);
  }
}

TEST_CASE("maxwell: losses and layers take energy away") {
  YeeGrid grid = test::grid_of({24, 24, 24}, Boundary::absorbing);
  grid.layer.cells = 5;
  Simulation<double> layers(grid, Matter(), test::alone(grid));
  for (int a = 0; a < 3; ++a)
    layers.set_field(a, 0, [&](const Vector3& r) {
      const double square = std::pow(r[0] - 12, 2) + std::pow(r[1] - 13.2, 2) + std::pow(r[2] - 10.8, 2);
      return std::exp(-square / 8);
    });
  const double start = layers.energy().total();
  layers.run(600);
  // What stays is the field of the charge that this start has; a field without divergence would go.
  CHECK(layers.energy().total() < 0.7 * start);

  grid = test::grid_of({10, 10, 10}, Boundary::electric);
  Simulation<double> lossy(grid, Matter(Medium{2, 0.01, {}}), test::alone(grid));
  test::fill_randomly(lossy.state(), 2);
  for (int c = 0; c < components; ++c) lossy.touch(c);
  double last = lossy.energy().total();
  for (int i = 0; i < 5; ++i) {
    lossy.run(40);
    const double now = lossy.energy().total();
    CHECK(now < last);
    last = now;
  }
}

TEST_CASE("maxwell: grids and time steps that cannot work are refused") {
  YeeGrid round = test::grid_of({14, 1, 12}, Boundary::electric);
  round.cylindrical = true;
  CHECK_THROWS_AS(round.check(), core::InvalidArgument);  // no axis
  round.ends[0][0] = Boundary::magnetic;
  CHECK_NOTHROW(round.check());
  round.azimuthal = -1;
  CHECK_THROWS_AS(round.check(), core::InvalidArgument);
  YeeGrid grid = test::grid_of({10, 10, 10}, Boundary::electric);
  grid.time_step = 1.0001 * grid.courant_limit();
  CHECK_THROWS_WITH_AS(grid.check(), doctest::Contains("Courant"), core::InvalidArgument);
  grid = test::grid_of({10, 10, 10}, Boundary::absorbing);
  grid.layer.cells = 5;
  CHECK_THROWS_WITH_AS(grid.check(), doctest::Contains("absorbing layers of 10 cells"), core::InvalidArgument);
  grid = test::grid_of({10, 10, 10}, Boundary::electric);
  grid.ends[1][0] = Boundary::periodic;
  CHECK_THROWS_WITH_AS(grid.check(), doctest::Contains("periodic at one end"), core::InvalidArgument);
  grid = test::grid_of({10, 10, 10}, Boundary::electric);
  CHECK_THROWS_WITH_AS((Simulation<double>(grid, Matter(Medium{1, 0, {{3, 0, 1}}}), test::alone(grid))),
                       doctest::Contains("unstable in matter"), core::InvalidArgument);
  grid = test::grid_of({12, 12, 12}, Boundary::absorbing);
  Matter ball;
  ball.add(sphere({6, 6, 9}, 2), Medium{2, 0, {}});
  CHECK_THROWS_WITH_AS((Simulation<double>(grid, ball, test::alone(grid))),
                       doctest::Contains("absorbing layer of 3 cells at the upper end of axis z"),
                       core::InvalidArgument);
  CHECK_THROWS_AS((Simulation<double>(grid, Matter(Medium{-2, 0, {}}), test::alone(grid))), core::InvalidArgument);
}
