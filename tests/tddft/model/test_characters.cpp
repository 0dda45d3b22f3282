// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/characters.hpp"

#include "halocline/core/error.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

using namespace soft;

TEST_CASE("characters: orbitals of one angular momentum about an atom have it alone, as far as the sphere reaches") {
  // Gaussians times r^l Y_lm: s, p, d and f.
  System system = isolated(28, 0.4, std::make_shared<SoftIon>(2.0, 1.0), 8, 4);
  Model model = model_of(system);
  const State state = state_of(model, [](std::int64_t, int number, double x, double y, double z) {
    const double gauss = std::exp(-0.5 * (x * x + y * y + z * z));
    const std::array<double, 4> shapes{1.0, x + 0.5 * z, x * y - z * x, x * (x * x - 3 * y * y)};
    return Complex(gauss * shapes[static_cast<std::size_t>(number)], 0);
  });
  for (const double radius : {1.5, 4.0})
    for (int l = 0; l <= 3; ++l) {
      const std::vector<double> found = characters(model, state, 0, l, radius);
      REQUIRE(found.size() == 4);
      for (int number = 0; number < 4; ++number) {
        // Norms of the orbitals within the sphere, by their radial integrals.
        double inside = 0, whole = 0;
        for (int i = 0; i < 4000; ++i) {
          const double r = 0.0025 * (i + 0.5), weight = std::pow(r, 2 * number + 2) * std::exp(-r * r);
          whole += weight;
          inside += r < radius ? weight : 0;
        }
        const double* psi = state.orbitals.block(0, 0);
        double norm = 0;
        for (std::int64_t p = 0; p < state.orbitals.points(); ++p)
          norm += std::pow(psi[p * doubles_per_point + 2 * number], 2) * system.grid.point_volume();
        const double expected = number == l ? norm * inside / whole : 0.0;
        CAPTURE(radius);
        CAPTURE(number);
        CAPTURE(l);
        CHECK(std::abs(found[static_cast<std::size_t>(number)] - expected) <
              (radius < 2 ? 0.05 : 0.01) * norm);  // the edge of a small sphere is coarse
      }
    }
}

TEST_CASE("characters: a plane wave has the character of its Bessel functions, with k-points and images") {
  System system = periodic(std::make_shared<SoftIon>(2.0, 1.0), 4, 2, {2, 1, 1});
  system.grid.extent = {16, 18, 20};
  for (double& h : system.grid.spacing) h *= 0.5;
  system.atoms = {{0, {0.2, 7.0, 3.2}}};  // the sphere reaches over two faces
  Model model = model_of(system);
  const double volume = system.grid.volume(), radius = 1.8;
  const State state =
      state_of(model, [&](std::int64_t, int, double, double, double) { return Complex(1 / std::sqrt(volume), 0); });
  for (int l = 0; l <= 2; ++l) {
    const std::vector<double> found = characters(model, state, 0, l, radius);
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const double k = norm(system.channels[channel].k);
      double expected = 0;  // 4 pi (2 l + 1) integral of j_l(k r)^2 r^2 over the volume of the cell
      for (int i = 0; i < 2000; ++i) {
        const double r = radius * (i + 0.5) / 2000, j = std::sph_bessel(static_cast<unsigned>(l), k * r);
        expected += 4 * std::numbers::pi * (2 * l + 1) * j * j * r * r * radius / 2000 / volume;
      }
      CHECK(found[2 * channel] == doctest::Approx(expected).epsilon(0.004));
    }
  }
}

TEST_CASE("characters: impossible spheres are refused") {
  Model model = model_of(isolated(12, 1.0, std::make_shared<SoftIon>(2.0, 1.0), 2, 1));
  const State state = model.empty_state();
  CHECK_THROWS_AS(static_cast<void>(characters(model, state, 0, 4, 1.0)), core::InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(characters(model, state, 1, 0, 1.0)), core::InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(characters(model, state, 0, 0, 0.0)), core::InvalidArgument);
}
