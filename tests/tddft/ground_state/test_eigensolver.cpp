// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/eigensolver.hpp"
#include "halocline/tddft/ground_state/lobpcg.hpp"
#include "tddft/pseudopotential/toy_potential.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;

/// Atoms with projectors and no local part, at two k-points of no symmetry; nothing is degenerate.
System lopsided(int states) {
  System system;
  system.grid = {{7, 6, 5}, {0.7, 0.8, 0.6}, Boundary::periodic};
  system.species = test::toy_species();
  system.atoms = {{0, {0.3, 0.2, 0.7}}, {1, {2.9, 2.2, 1.9}}};
  system.channels = {{{0.11, -0.2, 0.31}, 0.5, 0}, {{0.27, 0.05, -0.13}, 0.5, 0}};
  system.electrons = 6;
  system.states = states;
  return system;
}

Model model_of(const System& system) { return Model(system, comm::Communicator::self(), {}); }

/// A potential without symmetry, between 0 and -2 hartree.
void set_rough_potential(Model& model) {
  std::vector<double> v(static_cast<std::size_t>(model.decomposition().box().points()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = -1.0 + std::sin(0.7 * static_cast<double>(i * i % 101));
  model.hamiltonian().set_potential(v);
}

/// All eigenvalues of a channel, from the matrix of H element by element.
std::vector<double> dense_eigenvalues(Model& model, std::int64_t channel) {
  const std::int64_t points = model.decomposition().box().points();
  Matrix h(static_cast<int>(points), static_cast<int>(points));
  core::AlignedArray<double> in(points * doubles_per_point), out(points * doubles_per_point);
  for (std::int64_t j = 0; j < points; ++j) {
    in[j * doubles_per_point] = 1;
    model.hamiltonian().apply(channel, out.data(), in.data(), 1);
    in[j * doubles_per_point] = 0;
    for (std::int64_t i = 0; i < points; ++i)
      h(static_cast<int>(i), static_cast<int>(j)) = {out[i * doubles_per_point], out[i * doubles_per_point + 1]};
  }
  return eigenpairs(h).values;
}

State solved(Model& model, const EigensolverOptions& options, int iterations) {
  Eigensolver solver(model, options);
  State state = model.empty_state();
  CHECK(solver.start(state));
  for (int i = 0; i < iterations; ++i) REQUIRE(solver.improve(state, 1));
  const double worst = *std::max_element(solver.residuals().begin(), solver.residuals().begin() + 3);
  CHECK(worst < 1e-8);
  solver.finish(state);
  return state;
}

}  // namespace

TEST_CASE("eigensolver: both methods find the lowest eigenvalues of the dense matrix") {
  const System system = lopsided(5);  // three lanes of the second block are guards
  for (const std::string& method : Eigensolver::methods()) {
    CAPTURE(method);
    Model model = model_of(system);
    set_rough_potential(model);
    const State state = solved(model, {.method = method}, 25);
    for (std::int64_t channel = 0; channel < 2; ++channel) {
      const std::vector<double> expected = dense_eigenvalues(model, channel);
      for (std::size_t i = 0; i < 3; ++i)  // the three that six electrons fill
        CHECK(state.eigenvalues[static_cast<std::size_t>(channel) * 5 + i] ==
              doctest::Approx(expected[i]).epsilon(1e-11));
    }
  }
}

TEST_CASE("eigensolver: states converge when all of them are filled and there is no room for guards") {
  System system = lopsided(4);
  system.electrons = 8;
  Model model = model_of(system);
  set_rough_potential(model);
  const State state = solved(model, {}, 40);
  for (std::int64_t channel = 0; channel < 2; ++channel) {
    const std::vector<double> expected = dense_eigenvalues(model, channel);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(state.eigenvalues[static_cast<std::size_t>(channel) * 4 + i] ==
            doctest::Approx(expected[i]).epsilon(1e-10));
  }
}

TEST_CASE("eigensolver: orbitals are orthonormal, and lanes beyond the states are zero") {
  const System system = lopsided(6);
  Model model = model_of(system);
  set_rough_potential(model);
  const State state = solved(model, {}, 25);
  const Subspace subspace(model.decomposition(), 0);
  for (std::int64_t channel = 0; channel < 2; ++channel) {
    const std::array<const double*, 1> set{state.orbitals.block(channel, 0)};
    const Matrix overlap = subspace.products(set, set);
    double worst = 0;
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) worst = std::max(worst, std::abs(overlap(i, j) - (i == j && i < 6 ? 1.0 : 0.0)));
    CHECK(worst < 1e-11);
  }
}

TEST_CASE(
    "eigensolver: Rayleigh-Ritz by parts of a set is that of the whole set, in an eighth to a quarter more memory") {
  System system = lopsided(6);
  system.states = 37;  // ten blocks
  Model model = model_of(system);
  set_rough_potential(model);
  const Subspace subspace(model.decomposition(), 3);
  const ChannelProblem problem(model, subspace, 1);
  const std::int64_t doubles = model.decomposition().box().points() * doubles_per_point, own = 10;
  REQUIRE(subspace.blocks() == own + 3);
  core::AlignedArray<double> x(subspace.set_doubles()), hx(subspace.set_doubles());
  CHECK(problem.fill_zeros({x.data(), doubles}, 5, 37) == 37);
  core::AlignedArray<double> first(own * doubles), rest(3 * doubles);
  std::copy_n(x.data(), first.size(), first.data());
  std::copy_n(x.data() + first.size(), rest.size(), rest.data());
  const VectorSet parts(first.data(), own, rest.data(), doubles);
  problem.apply(hx.data(), x.data());
  const std::vector<double> whole = problem.rayleigh_ritz(x.data(), hx.data());
  const std::vector<double> whole_norms = problem.residuals(hx.data(), x.data(), whole);

  core::AlignedArray<double> scratch(problem.subspace().largest_part() * doubles);
  DenseProblem dense(model.decomposition(), subspace.vectors(), "auto");
  CHECK(!dense.distributed());
  const std::vector<double> found = problem.rayleigh_ritz(parts, scratch.data(), dense);
  const std::vector<double> norms = problem.residuals_of(parts, scratch.data(), found);
  REQUIRE(found.size() == 52);
  REQUIRE(norms.size() == whole_norms.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i] == doctest::Approx(whole[i]).epsilon(1e-11));
    CHECK(norms[i] == doctest::Approx(whole_norms[i]).epsilon(1e-8));
  }
}

TEST_CASE("eigensolver: the memory beside the orbitals is a quarter of them, an eighth of many") {
  for (const auto& [states, most] : {std::pair{128, 0.25}, {1024, 0.125}}) {
    System system;
    system.grid = {{33, 33, 33}, {0.5, 0.5, 0.5}, Boundary::periodic};
    system.jellium = JelliumSphere{1.0, 2.0, {}};
    system.electrons = 2;
    system.states = states;
    const Decomposition decomposition(comm::Communicator::self(), system, {});
    const Subspace subspace(decomposition, 0);
    CHECK(static_cast<double>(subspace.largest_part()) <= most * static_cast<double>(subspace.blocks()));
  }
}

TEST_CASE("eigensolver: a harmonic well has its levels, with an error of eighth order") {
  // w (n + 3/2), w = 0.5, in a box that ends where exp(-w r^2 / 2) is 1e-7. States of n = 0, 1: 1 and 3 of them.
  const auto largest_error = [](std::int64_t points, double spacing) {
    System system;
    system.grid = {{points, points, points}, {spacing, spacing, spacing}, Boundary::isolated};
    system.jellium = JelliumSphere{1.0, 8.0, {}};
    system.electrons = 8;
    system.states = 5;
    Model model = model_of(system);
    std::vector<double> v;
    const auto square = [&](std::int64_t i) { return std::pow(system.grid.position(0, i), 2); };
    for (std::int64_t z = 0; z < points; ++z)
      for (std::int64_t y = 0; y < points; ++y)
        for (std::int64_t x = 0; x < points; ++x) v.push_back(0.125 * (square(x) + square(y) + square(z)));
    model.hamiltonian().set_potential(v);
    Eigensolver solver(model, {});
    State state = model.empty_state();
    solver.start(state);
    for (int i = 0; i < 12; ++i) REQUIRE(solver.improve(state, 1));
    double worst = std::abs(state.eigenvalues[0] - 0.75);
    for (std::size_t i = 1; i < 4; ++i) worst = std::max(worst, std::abs(state.eigenvalues[i] - 1.25));
    return worst;
  };
  const double coarse = largest_error(16, 1.0), fine = largest_error(20, 0.8);
  CHECK(coarse < 2e-3);
  CHECK(coarse / fine > 0.7 * std::pow(1.25, 8));
  CHECK(coarse / fine < 1.5 * std::pow(1.25, 8));
}

TEST_CASE("eigensolver: the degree of the filter is what the gap asks for") {
  // Growth of T_m at the eigenvalue: cosh(m acosh x) of at least the gain, and not with one degree less.
  const FilterBounds bounds{-1.0, 0.2, 20.0};
  const double last = -0.3, x = 1 + 2 * (bounds.cut - last) / (bounds.highest - bounds.cut);
  const int degree = filter_degree(bounds, last, 10, 100);
  CHECK(std::cosh(degree * std::acosh(x)) >= 10);
  CHECK(std::cosh((degree - 1) * std::acosh(x)) < 10);
  CHECK(filter_degree(bounds, last, 10, 3) < degree);            // the lowest state must not outgrow all others
  CHECK(filter_degree(bounds, bounds.cut, 10, 1000) == 60);      // no gap: the most
  CHECK(filter_degree({-1.0, 19.0, 20.0}, -1.0, 2, 1000) == 4);  // a huge one: the least
}

TEST_CASE("eigensolver: numbers that are not finite are reported, not diagonalised") {
  const System system = lopsided(5);
  for (const std::string& method : Eigensolver::methods()) {
    Model model = model_of(system);
    set_rough_potential(model);
    Eigensolver solver(model, {.method = method});
    State state = model.empty_state();
    solver.start(state);
    state.orbitals.block(1, 0)[17] = std::nan("");
    CHECK_FALSE(solver.improve(state, 1));
  }
}

TEST_CASE("eigensolver: what cannot be is refused") {
  Model model = model_of(lopsided(5));
  CHECK_THROWS_WITH_AS(Eigensolver(model, {.method = "davidson"}),
                       "the eigensolver \"davidson\" is not known; there are chebyshev, lobpcg", core::InvalidArgument);
  CHECK_THROWS_AS(Eigensolver(model, {.degree = -1}), core::InvalidArgument);
  System crowded = lopsided(5);
  crowded.states = 120;  // of 210 points
  Model many = model_of(crowded);
  CHECK_THROWS_AS(Eigensolver(many, {}), core::InvalidArgument);
}

}  // namespace halocline::tddft
