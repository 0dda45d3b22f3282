// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/absorber.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

using namespace soft;

namespace {

/// A packet of one electron without any potential, with momentum p along z.
struct Packet {
  Packet(double p, const AbsorberOptions& absorber, const std::string& scheme = "midpoint")
      : model(model_of(make(), {.xc = "none", .odd_allowed = true})) {
    state = state_of(model, [p](std::int64_t, int, double x, double y, double z) {
      return std::pow(4 * std::numbers::pi, -0.75) * std::exp(-(x * x + y * y + z * z) / 8) *
             std::exp(Complex(0, p * z));
    });
    run.emplace(model, state, Field{},
                PropagateOptions{.time_step = 0.15, .scheme = scheme, .energy_every = 0, .absorber = absorber});
  }
  static System make() {
    System one = isolated(36, 1.0, std::make_shared<Ion>("Nothing", 1.0), 1, 1);
    one.grid.extent[2] = 40;
    return one;
  }
  double norm_after(int steps) {
    Record record;
    for (int i = 0; i < steps; ++i) record = run->step();
    return record.norm;
  }

  Model model;
  State state;
  std::optional<Propagator> run;
};

}  // namespace

TEST_CASE("absorber: electrons that reach the wall are gone, and without it they come back") {
  // The layer begins 11 bohr from the middle along z, 9 across; the packet moves with speed 1 and spreads.
  Packet free(1.0, {});
  const double before = free.norm_after(1);
  CHECK(free.norm_after(200) == doctest::Approx(before).epsilon(1e-3));
  Packet absorbed(1.0, {.width = 9, .strength = 0.3});
  CHECK(absorbed.norm_after(10) == doctest::Approx(before).epsilon(1e-3));  // not there yet
  const double on_its_way = absorbed.norm_after(70);
  CHECK(absorbed.norm_after(320) < 0.03 * before);
  Packet by_etrs(1.0, {.width = 9, .strength = 0.3}, "etrs");
  CHECK(by_etrs.norm_after(80) == doctest::Approx(on_its_way).epsilon(1e-3));
}

TEST_CASE("absorber: W adds up over the axes and is largest at the walls") {
  Model model = model_of(Packet::make(), {.xc = "none", .odd_allowed = true});
  const Box& box = model.decomposition().box();
  const Absorber layer({.width = 3, .strength = 0.7}, model.decomposition(), 0.2);
  std::vector<double> psi(static_cast<std::size_t>(box.points() * doubles_per_point), 2.0);
  layer.apply(psi.data(), 1);
  const auto w = [](double position, double half) {
    const double depth = std::max(0.0, std::abs(position) - (half - 3)) / 3;
    return 0.7 * std::pow(std::sin(0.5 * std::numbers::pi * depth), 2);
  };
  for (const std::array<std::int64_t, 3> at : {std::array<std::int64_t, 3>{18, 20, 20}, {0, 20, 20}, {35, 1, 38}}) {
    const Grid& grid = model.system().grid;
    const double sum = w(grid.position(0, at[0]), 18) + w(grid.position(1, at[1]), 18) + w(grid.position(2, at[2]), 20);
    const std::int64_t first = box.index(at[0], at[1], at[2]) * doubles_per_point;
    for (std::int64_t i = 0; i < doubles_per_point; ++i)
      CHECK(psi[static_cast<std::size_t>(first + i)] == doctest::Approx(2 * std::exp(-0.2 * sum)).epsilon(1e-12));
  }
}

TEST_CASE("absorber: layers that cannot be are refused") {
  const Grid box{{20, 20, 30}, {0.5, 0.5, 0.5}, Boundary::isolated};
  Grid crystal = box;
  crystal.boundary = Boundary::periodic;
  CHECK_NOTHROW(validate(AbsorberOptions{}, crystal));
  CHECK_NOTHROW(validate(AbsorberOptions{.width = 3, .strength = 0.2}, box));
  CHECK_THROWS_AS(validate(AbsorberOptions{.width = 3, .strength = 0.2}, crystal), core::InvalidArgument);
  CHECK_THROWS_AS(validate(AbsorberOptions{.width = 3, .strength = 0}, box), core::InvalidArgument);
  CHECK_THROWS_AS(validate(AbsorberOptions{.width = 5, .strength = 0.2}, box), core::InvalidArgument);
}
