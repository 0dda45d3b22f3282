// SPDX-License-Identifier: Apache-2.0
//
// The nonlocal part on blocks of eight orbitals in float, against the same orbitals in double.

#include "halocline/tddft/pseudopotential/nonlocal.hpp"
#include "tddft/pseudopotential/nonlocal_systems.hpp"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <limits>

namespace halocline::tddft {
namespace {

constexpr double epsilon = std::numeric_limits<float>::epsilon();

/// Random orbitals whose numbers are floats.
Orbitals rounded(const Decomposition& decomposition, int seed) {
  Orbitals psi = test::random_orbitals(decomposition, static_cast<std::uint32_t>(seed));
  psi.convert(Precision::float32);
  psi.convert(Precision::float64);
  return psi;
}

double largest(std::span<const double> a) {
  double most = 0;
  for (const double x : a) most = std::max(most, std::abs(x));
  return most;
}

double difference(std::span<const double> a, std::span<const double> b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= most)) most = d;
  }
  return most;
}

void compare(System system, const Vec3& q) {
  system.states = std::max(system.states, 6);  // a block of float and a half
  const Decomposition decomposition(comm::Communicator::self(), system, {});
  Nonlocal nonlocal(system, decomposition);
  const std::size_t channels = static_cast<std::size_t>(decomposition.channels().size());
  nonlocal.set_phases(std::vector<Vec3>(channels, Vec3{0.05, 0.02, -0.3}));
  const Orbitals psi = rounded(decomposition, 3);
  Orbitals in_float = psi, expected = rounded(decomposition, 4), found = expected;
  in_float.convert(Precision::float32);
  found.convert(Precision::float32);
  Orbitals unused = found;  // phases of other momenta are made first
  nonlocal.apply(0, unused.block<float>(0, 0), in_float.block<float>(0, 0), 1);
  nonlocal.set_phases(std::vector<Vec3>(channels, q));

  const std::complex<double> factor(0.3, -1.1);
  const Orbitals start = expected;
  nonlocal.apply(0, expected.block(0, 0), psi.block(0, 0), psi.blocks(), factor);
  nonlocal.apply(0, found.block<float>(0, 0), in_float.block<float>(0, 0), in_float.blocks<float>(), factor);
  found.convert(Precision::float64);
  const double moved = difference(expected.values(), start.values());
  // Rounding of projectors, phases, products and up to 128 sums in float, at random: some ten units.
  CHECK(difference(found.values(), expected.values()) < 20 * epsilon * std::max(1.0, moved));
  CHECK(moved > 1e-3);

  std::vector<double> velocity(static_cast<std::size_t>(psi.blocks() * orbital_lanes * 3)), turning = velocity;
  nonlocal.begin(0, psi.block(0, 0), psi.blocks());
  nonlocal.finish_velocity<double>(velocity, turning);
  std::vector<double> found_velocity(static_cast<std::size_t>(in_float.blocks<float>() * lanes_of<float> * 3)),
      found_turning = found_velocity;
  nonlocal.begin(0, in_float.block<float>(0, 0), in_float.blocks<float>());
  nonlocal.finish_velocity<float>(found_velocity, found_turning);
  found_velocity.resize(velocity.size());  // without the lanes of no block
  found_turning.resize(turning.size());
  // Twice as many roundings, times displacements of a few bohr.
  CHECK(difference(found_velocity, velocity) < 50 * epsilon * std::max(1.0, largest(velocity)));
  CHECK(difference(found_turning, turning) < 50 * epsilon * std::max(1.0, largest(turning)));
}

TEST_CASE("nonlocal in float: V psi and velocities as in double, with images, walls and momenta") {
  for (const test::NonlocalCase& each : test::nonlocal_cases())
    for (const Vec3& q : {Vec3{}, Vec3{0.31, -0.22, 0.47}}) {
      CAPTURE(each.name);
      CAPTURE(q[0]);
      compare(each.system, q);
    }
}

TEST_CASE("nonlocal in float: any number of projectors") {
  const std::vector<std::array<int, 3>> counts{{1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {0, 2, 0},
                                               {1, 2, 0}, {0, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 4, 2}};
  for (const auto& [s, p, d] : counts) {
    CAPTURE(s + 3 * p + 5 * d);
    System system = test::nonlocal_cases()[0].system;
    using Shells = std::vector<test::ToyPotential::Shell>;
    system.species = {std::make_shared<test::ToyPotential>(Shells{{s, 1.7}, {p, 1.5}, {d, 1.6}})};
    system.atoms = {{0, {0.4, 1.3, 2.9}}};
    compare(system, {0.31, -0.22, 0.47});
  }
}

TEST_CASE("nonlocal in float: projectors of atoms that moved") {
  System system = test::nonlocal_cases()[0].system;
  const Decomposition decomposition(comm::Communicator::self(), system, {});
  Nonlocal moved(system, decomposition);
  Orbitals psi = rounded(decomposition, 3);
  psi.convert(Precision::float32);
  Orbitals first(decomposition), second(decomposition);
  first.convert(Precision::float32);
  second.convert(Precision::float32);
  moved.apply(0, first.block<float>(0, 0), psi.block<float>(0, 0), 1);
  for (Atom& atom : system.atoms) atom.position[1] += 0.21;
  moved.move(system, decomposition);
  Nonlocal fresh(system, decomposition);
  Orbitals expected = second;
  moved.apply(0, second.block<float>(0, 0), psi.block<float>(0, 0), 1);
  fresh.apply(0, expected.block<float>(0, 0), psi.block<float>(0, 0), 1);
  const std::int64_t numbers = psi.block_numbers<float>();
  CHECK(std::equal(expected.block<float>(0, 0), expected.block<float>(0, 0) + numbers, second.block<float>(0, 0)));
  CHECK(!std::equal(expected.block<float>(0, 0), expected.block<float>(0, 0) + numbers, first.block<float>(0, 0)));
}

}  // namespace
}  // namespace halocline::tddft
