// SPDX-License-Identifier: Apache-2.0
//
// Projectors in a vector potential that depends on the place.

#include "halocline/tddft/pseudopotential/nonlocal.hpp"
#include "tddft/pseudopotential/nonlocal_systems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <numeric>
#include <random>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<test::NonlocalCase> orthogonal_cases() {
  std::vector<test::NonlocalCase> cases = test::nonlocal_cases();
  std::erase_if(cases, [](const test::NonlocalCase& one) { return one.system.grid.skew(); });
  return cases;
}

/// A system on this process, with random orbitals and weights.
struct InLocalPotential {
  explicit InLocalPotential(const System& given)
      : system(given),
        decomposition(comm::Communicator::self(), system, {}),
        nonlocal(system, decomposition),
        psi(test::random_orbitals(decomposition)),
        weights(place(psi.blocks() * orbital_lanes)) {
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 2.0 / (1.0 + static_cast<double>(i));
  }

  double energy(const Orbitals& of) {
    std::vector<double> energies(weights.size());
    nonlocal.energy(0, of.block(0, 0), of.blocks(), energies);
    return std::inner_product(weights.begin(), weights.end(), energies.begin(), 0.0);
  }
  void set(const Vec3& k, std::span<const double> a) { nonlocal.set_local_phases(std::vector<Vec3>(1, k), a); }
  std::vector<double> current() {
    std::vector<PhaseMoments> moments(system.atoms.size());
    nonlocal.begin(0, psi.block(0, 0), psi.blocks());
    nonlocal.add_phase_moments(weights, moments);
    std::vector<double> field(place(3 * system.grid.points()));
    nonlocal.add_current_density(field, moments);
    return field;
  }

  System system;
  Decomposition decomposition;
  Nonlocal nonlocal;
  Orbitals psi;
  std::vector<double> weights;
};

std::vector<double> random_field(std::int64_t points, double size, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<double> field(place(3 * points));
  for (double& value : field) value = size * (static_cast<double>(generator()) / 2147483648.0 - 1.0);
  return field;
}

/// A(r) of a function of the position, which is counted from the corner of the cell.
std::vector<double> field_of(const Grid& grid, const std::function<Vec3(const Vec3&)>& a) {
  std::vector<double> field(place(3 * grid.points()));
  std::size_t i = 0;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x, ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
          field[axis * place(grid.points()) + i] = a(grid.point({x, y, z}))[axis];
  return field;
}

}  // namespace

TEST_CASE("local potential: a uniform one acts as its momentum, and set_phases() ends it") {
  const Vec3 k{0.31, -0.22, 0.47}, a{-0.1, 0.3, 0.05}, both{k[0] + a[0], k[1] + a[1], k[2] + a[2]};
  for (const test::NonlocalCase& each : orthogonal_cases()) {
    CAPTURE(each.name);
    InLocalPotential on(each.system);
    const auto applied = [&] {
      Orbitals out(on.decomposition);
      on.nonlocal.apply(0, out.block(0, 0), on.psi.block(0, 0), on.psi.blocks());
      return out;
    };
    const auto difference = [](const Orbitals& one, const Orbitals& other) {
      double most = 0;
      for (std::size_t i = 0; i < one.values().size(); ++i)
        most = std::max(most, std::abs(one.values()[i] - other.values()[i]));
      return most;
    };
    on.nonlocal.set_phases(std::vector<Vec3>(1, both));
    const Orbitals expected = applied();
    std::vector<double> velocity(3 * on.weights.size());
    on.nonlocal.begin(0, on.psi.block(0, 0), on.psi.blocks());
    on.nonlocal.finish_velocity<double>(velocity);

    on.set(k, field_of(each.system.grid, [&](const Vec3&) { return a; }));
    CHECK(difference(applied(), expected) < 1e-12);
    // The integral of the current density is the velocity.
    const std::vector<double> current = on.current();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double sum = 0, total = 0;
      for (std::size_t i = 0; i < on.weights.size(); ++i) total += on.weights[i] * velocity[3 * i + axis];
      for (std::size_t i = 0; i < place(each.system.grid.points()); ++i)
        sum += current[axis * place(each.system.grid.points()) + i] * each.system.grid.point_volume();
      CHECK(sum == doctest::Approx(total).epsilon(1e-10));
    }
    on.nonlocal.set_phases(std::vector<Vec3>(1, both));
    CHECK(difference(applied(), expected) == 0);
  }
}

TEST_CASE("local potential: the current density is the derivative of the energy with respect to A(r)") {
  for (const test::NonlocalCase& each : orthogonal_cases()) {
    CAPTURE(each.name);
    InLocalPotential on(each.system);
    const std::int64_t points = each.system.grid.points();
    const Vec3 k{0.31, -0.22, 0.47};
    const std::vector<double> a = random_field(points, 0.4, 1), direction = random_field(points, 1, 2);
    on.set(k, a);
    const std::vector<double> current = on.current();
    double slope = 0, size = 0;
    for (std::size_t i = 0; i < current.size(); ++i) {
      slope += current[i] * direction[i] * each.system.grid.point_volume();
      size += std::abs(current[i] * direction[i]) * each.system.grid.point_volume();
    }
    const auto energy = [&](double x) {
      std::vector<double> moved(a);
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += x * direction[i];
      on.set(k, moved);
      return on.energy(on.psi);
    };
    // Richardson's extrapolation of central differences.
    const auto difference = [&](double x) { return (energy(x) - energy(-x)) / (2 * x); };
    const double found = (4 * difference(1e-3) - difference(2e-3)) / 3;
    CHECK(std::abs(found - slope) < 1e-9 * size);
  }
}

TEST_CASE("local potential: A = grad chi of a quadratic chi turns the phase of the orbitals and nothing else") {
  // In an isolated box, where chi is one function. Its gradient is linear, as the fit around each atom.
  const test::NonlocalCase each = orthogonal_cases().back();
  REQUIRE(each.system.grid.boundary == Boundary::isolated);
  InLocalPotential on(each.system);
  const Vec3 k{0.31, -0.22, 0.47}, b{0.1, -0.2, 0.15};
  const std::array<Vec3, 3> s{{{0.2, -0.1, 0.15}, {-0.1, 0.3, 0.05}, {0.15, 0.05, -0.25}}};
  const auto slope = [&](const Vec3& r) { return Vec3{b[0] + dot(s[0], r), b[1] + dot(s[1], r), b[2] + dot(s[2], r)}; };
  on.nonlocal.set_phases(std::vector<Vec3>(1, k));
  const double without = on.energy(on.psi);
  Orbitals turned = on.psi;
  const Grid& grid = each.system.grid;
  for (std::int64_t block = 0; block < turned.blocks(); ++block) {
    double* psi = turned.block(0, block);
    for (std::int64_t z = 0; z < grid.extent[2]; ++z)
      for (std::int64_t y = 0; y < grid.extent[1]; ++y)
        for (std::int64_t x = 0; x < grid.extent[0]; ++x)
          for (int lane = 0; lane < orbital_lanes; ++lane, psi += 2) {
            const Vec3 r = grid.point({x, y, z});
            const double chi = 0.5 * (dot(b, r) + dot(slope(r), r));
            const Complex value = Complex(psi[0], psi[1]) * std::polar(1.0, -chi);
            psi[0] = value.real();
            psi[1] = value.imag();
          }
  }
  on.set(k, field_of(grid, slope));
  CHECK(on.energy(turned) == doctest::Approx(without).epsilon(1e-12));
  // A magnetic field, whose A has no symmetric gradient, is one value at each atom: it is not a turn of phases.
  on.set(k, field_of(grid, [](const Vec3& r) { return Vec3{-0.3 * r[1], 0.3 * r[0], 0}; }));
  CHECK(std::abs(on.energy(turned) - without) > 1e-3 * std::abs(without));
}

}  // namespace halocline::tddft
