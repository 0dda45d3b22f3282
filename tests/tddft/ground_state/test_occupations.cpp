// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/occupations.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

namespace halocline::tddft {
namespace {

/// `weights` of k-points, each with `states`, for one or two spins.
System system_of(std::vector<double> weights, int states, double electrons, int spins = 1) {
  System system;
  system.electrons = electrons;
  system.states = states;
  system.spins = spins;
  system.channels.clear();
  for (int spin = 0; spin < spins; ++spin)
    for (const double weight : weights) system.channels.push_back({{}, weight, spin});
  return system;
}

double electrons_in(const System& system, const Filling& filling, int spin = -1) {
  double sum = 0;
  for (std::size_t i = 0; i < filling.occupations.size(); ++i) {
    const Channel& channel = system.channels[i / static_cast<std::size_t>(system.states)];
    if (spin < 0 || channel.spin == spin) sum += channel.weight * filling.occupations[i];
  }
  return sum;
}

}  // namespace

TEST_CASE("occupations: at temperature 0 the lowest states of all k-points are filled") {
  const System system = system_of({0.25, 0.75}, 3, 4);
  const std::vector<double> e{-1.0, -0.2, 0.5, -0.9, -0.3, 0.4};
  const Filling filling = fill_states(system, e, 0);
  CHECK(filling.occupations == std::vector<double>{2, 2, 0, 2, 2, 0});
  CHECK(filling.gap == doctest::Approx(0.6));
  CHECK(filling.fermi_level == doctest::Approx(0.1));
  CHECK(filling.entropy == 0);
}

TEST_CASE("occupations: an open shell is shared equally, its neighbours are not touched") {
  const System system = system_of({1.0}, 5, 4);
  const Filling filling = fill_states(system, std::vector<double>{-1.0, -0.5, -0.4997, -0.4994, -0.4}, 0);
  CHECK(filling.occupations[0] == 2);
  for (std::size_t i = 1; i < 4; ++i) CHECK(filling.occupations[i] == doctest::Approx(2.0 / 3));
  CHECK(filling.occupations[4] == 0);
  CHECK(filling.gap == 0);
  // The same shell full has a gap.
  const Filling full = fill_states(system_of({1.0}, 5, 8), std::vector<double>{-1.0, -0.5, -0.4997, -0.4994, -0.4}, 0);
  CHECK(full.occupations == std::vector<double>{2, 2, 2, 2, 0});
  CHECK(full.gap == doctest::Approx(0.0994));
}

TEST_CASE("occupations: electrons are conserved, whatever the temperature, weights and spins") {
  const std::vector<double> e{-1.0, -0.31, 0.1, 0.2, -0.9, -0.3, 0.05, 0.3,
                              -0.8, -0.25, 0.0, 0.1, -0.7, -0.2, 0.1,  0.6};
  for (const double temperature : {0.0, 1e-6, 1e-3, 0.05, 2.0}) {
    const System one = system_of({0.1, 0.2, 0.3, 0.4}, 4, 5.3);
    CHECK(electrons_in(one, fill_states(one, e, temperature)) == doctest::Approx(5.3).epsilon(1e-12));
    const System two = system_of({0.4, 0.6}, 4, 5.0, 2);
    CHECK(electrons_in(two, fill_states(two, e, temperature)) == doctest::Approx(5.0).epsilon(1e-12));
    const Filling kept = fill_states(two, e, temperature, 1.5);
    CHECK(electrons_in(two, kept, 0) == doctest::Approx(3.25).epsilon(1e-12));
    CHECK(electrons_in(two, kept, 1) == doctest::Approx(1.75).epsilon(1e-12));
  }
}

TEST_CASE("occupations: two levels at a temperature have the entropy of the textbook") {
  // One electron in each of two equal levels of two places: every place is half full, S = 4 ln 2.
  const System system = system_of({1.0}, 2, 2);
  const Filling equal = fill_states(system, std::vector<double>{-0.3, -0.3}, 0.01);
  CHECK(equal.occupations[0] == doctest::Approx(1.0).epsilon(1e-12));
  CHECK(equal.entropy == doctest::Approx(0.01 * 4 * std::log(2.0)).epsilon(1e-12));
  CHECK(equal.fermi_level == doctest::Approx(-0.3).epsilon(1e-10));
  // Split by 2 d about the Fermi level: f = 1 / (1 + exp(-+ d/T)).
  const Filling split = fill_states(system, std::vector<double>{-0.31, -0.29}, 0.02);
  const double f = 1 / (1 + std::exp(-0.5));
  CHECK(split.occupations[0] == doctest::Approx(2 * f).epsilon(1e-12));
  CHECK(split.occupations[1] == doctest::Approx(2 * (1 - f)).epsilon(1e-12));
  CHECK(split.entropy == doctest::Approx(-0.02 * 4 * (f * std::log(f) + (1 - f) * std::log(1 - f))).epsilon(1e-12));
}

TEST_CASE("occupations: the free energy is stationary in the occupations") {
  // d(sum f e - T S) at fixed electrons: moving electrons between levels changes nothing to first order, which is
  // e_i + T ln(f_i / (1 - f_i)) = Fermi level for all.
  const System system = system_of({1.0}, 4, 3);
  const std::vector<double> e{-0.5, -0.4, -0.38, -0.2};
  const double temperature = 0.03;
  const Filling filling = fill_states(system, e, temperature);
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double f = filling.occupations[i] / 2;
    CHECK(e[i] + temperature * std::log(f / (1 - f)) == doctest::Approx(filling.fermi_level).epsilon(1e-10));
  }
}

TEST_CASE("occupations: as many electrons as the states hold fill them at any temperature") {
  const System system = system_of({1.0}, 2, 4);
  for (const double temperature : {0.0, 0.1}) {
    const Filling filling = fill_states(system, std::vector<double>{-1.0, 0.5}, temperature);
    CHECK(filling.occupations == std::vector<double>{2, 2});
    CHECK(filling.gap == -1);
    CHECK(std::isfinite(filling.fermi_level));
  }
}

TEST_CASE("occupations: what cannot be is refused") {
  const System one = system_of({1.0}, 3, 4), two = system_of({1.0}, 3, 4, 2);
  const std::vector<double> e3{-1, 0, 1}, e6{-1, 0, 1, -1, 0, 1};
  CHECK_THROWS_AS(fill_states(one, e3, -0.1), core::InvalidArgument);
  CHECK_THROWS_AS(fill_states(one, e3, 0, 1.0), core::InvalidArgument);
  CHECK_THROWS_AS(fill_states(two, e6, 0, 5.0), core::InvalidArgument);  // more than there are electrons
  CHECK_THROWS_AS(fill_states(two, e6, 0, 4.0), core::InvalidArgument);  // four in three states
  CHECK_NOTHROW(fill_states(two, e6, 0, 2.0));
}

}  // namespace halocline::tddft
