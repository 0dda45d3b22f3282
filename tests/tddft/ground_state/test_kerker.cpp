// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/ground_state/kerker.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <numbers>
#include <vector>

namespace halocline::tddft {

TEST_CASE("kerker: a wave is multiplied by G^2 / (G^2 + q^2), with G^2 of the stencil, each spin by itself") {
  constexpr std::array<double, 4> second{8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
  System system;
  system.grid = {{12, 9, 10}, {0.9, 0.8, 0.7}, Boundary::periodic};
  system.jellium = JelliumSphere{1.0, 2.0, {}};
  system.electrons = 2;
  system.states = 2;
  system.spins = 2;
  system.channels = {{{}, 1, 0}, {{}, 1, 1}};
  Model model(system, comm::Communicator::self(), {});
  const std::size_t points = 12 * 9 * 10;
  const double q = 0.6;
  // Waves of one and three periods along x, and the mean of the cell, which is taken out whole.
  const auto symbol = [&](int periods) {
    const double phase = 2 * std::numbers::pi * periods / 12;
    double sum = 205.0 / 72;
    for (std::size_t j = 0; j < second.size(); ++j) sum -= 2 * second[j] * std::cos(static_cast<double>(j + 1) * phase);
    return sum / (0.9 * 0.9);
  };
  std::vector<double> residual(2 * points), expected(2 * points);
  for (std::size_t i = 0; i < points; ++i) {
    const double x = 2 * std::numbers::pi * static_cast<double>(i % 12) / 12;
    residual[i] = 0.3 * std::cos(x) + 0.2;
    residual[points + i] = std::sin(3 * x);
    expected[i] = 0.3 * std::cos(x) * symbol(1) / (symbol(1) + q * q);
    expected[points + i] = std::sin(3 * x) * symbol(3) / (symbol(3) + q * q);
  }
  damp_long_waves(model, residual, q);
  double worst = 0;
  for (std::size_t i = 0; i < residual.size(); ++i) worst = std::max(worst, std::abs(residual[i] - expected[i]));
  CHECK(worst < 1e-5);  // the inverse is iterated to 1e-6
}

}  // namespace halocline::tddft
