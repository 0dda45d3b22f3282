// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/nonlocal.hpp"

#include "halocline/comm/simulation/simulation.hpp"
#include "halocline/core/error.hpp"
#include "tddft/pseudopotential/nonlocal_systems.hpp"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <omp.h>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;
const std::vector<Vec3> momenta{{0, 0, 0}, {0.31, -0.22, 0.47}, {0, 0, 0.01}};

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A system on this process with its operator.
struct Single {
  explicit Single(const System& s, const Vec3& q = {})
      : system(s), decomposition(comm::Communicator::self(), system, {}), nonlocal(system, decomposition) {
    set(q);
  }
  void set(const Vec3& q) { nonlocal.set_phases(std::vector<Vec3>(1, q)); }
  /// Of all orbitals, weighted: sum over lanes of weight(lane) <V>.
  std::vector<double> energies(const Orbitals& psi) {
    std::vector<double> energy(at(psi.blocks()) * orbital_lanes);
    nonlocal.energy(0, psi.block(0, 0), psi.blocks(), energy);
    return energy;
  }

  System system;
  Decomposition decomposition;
  Nonlocal nonlocal;
};

double largest_difference(std::span<const double> a, std::span<const double> b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

/// Sum over points of conj(a) b of one orbital.
Complex inner(const Single& on, const Orbitals& a, const Orbitals& b, std::int64_t block, int lane) {
  Complex sum = 0;
  for (std::int64_t p = 0; p < a.points(); ++p) {
    const double* x = a.block(0, block) + p * doubles_per_point + 2 * lane;
    const double* y = b.block(0, block) + p * doubles_per_point + 2 * lane;
    sum += std::conj(Complex(x[0], x[1])) * Complex(y[0], y[1]);
  }
  return sum * on.system.grid.point_volume();
}

TEST_CASE("nonlocal: fast equals reference, with images, walls, momenta and factors") {
  for (const test::NonlocalCase& each : test::nonlocal_cases())
    for (const Vec3& q : momenta) {
      const System& system = each.system;
      CAPTURE(each.name);
      CAPTURE(q[2]);
      Single on(system, q);
      const Orbitals psi = test::random_orbitals(on.decomposition);
      Orbitals expected = test::random_orbitals(on.decomposition, 2), found = expected;
      reference::apply_nonlocal(system, expected.block(0, 0), psi.block(0, 0), psi.blocks(), q);
      on.nonlocal.apply(0, found.block(0, 0), psi.block(0, 0), psi.blocks());
      // V psi is of order 1; some hundred points are added.
      CHECK(largest_difference(expected.values(), found.values()) < 1e-12);

      // A complex factor, one block at a time, onto the orbitals themselves.
      const Complex factor(0.3, -1.1);
      Orbitals once(on.decomposition), itself = psi;
      reference::apply_nonlocal(system, once.block(0, 0), psi.block(0, 0), psi.blocks(), q);
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(once.values().size()); i += 2) {
        const Complex v = Complex(psi.values()[at(i)], psi.values()[at(i + 1)]) +
                          factor * Complex(once.values()[at(i)], once.values()[at(i + 1)]);
        once.values()[at(i)] = v.real();
        once.values()[at(i + 1)] = v.imag();
      }
      for (std::int64_t block = 0; block < psi.blocks(); ++block)
        on.nonlocal.apply(0, itself.block(0, block), psi.block(0, block), 1, factor);
      CHECK(largest_difference(once.values(), itself.values()) < 1e-12);
    }
}

TEST_CASE("nonlocal: any number of projectors, with phases and without") {
  // Radial functions of l = 0, 1, 2 for atoms of 1 to 11 and of 25 projectors: each length of a run of the kernels.
  const std::vector<std::array<int, 3>> counts{{1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}, {0, 2, 0},
                                               {1, 2, 0}, {0, 1, 1}, {1, 1, 1}, {2, 1, 1}, {0, 2, 1}, {3, 4, 2}};
  for (const auto& count : counts)
    for (const Vec3& q : {momenta[0], momenta[1]}) {
      const int s = count[0], p = count[1], d = count[2];
      CAPTURE(s + 3 * p + 5 * d);
      System system = test::nonlocal_cases()[0].system;
      using Shells = std::vector<test::ToyPotential::Shell>;
      system.species = {std::make_shared<test::ToyPotential>(Shells{{s, 1.7}, {p, 1.5}, {d, 1.6}})};
      system.atoms = {{0, {0.4, 1.3, 2.9}}};
      system.states = 1;
      Single on(system, q);
      const Orbitals psi = test::random_orbitals(on.decomposition);
      Orbitals expected(on.decomposition), found(on.decomposition);
      reference::apply_nonlocal(system, expected.block(0, 0), psi.block(0, 0), 1, q);
      on.nonlocal.apply(0, found.block(0, 0), psi.block(0, 0), 1);
      CHECK(largest_difference(expected.values(), found.values()) < 1e-12);
      CHECK(largest_difference(expected.values(), Orbitals(on.decomposition).values()) > 1e-3);
      std::vector<double> velocity(orbital_lanes * 3);
      on.nonlocal.begin(0, psi.block(0, 0), 1);
      on.nonlocal.finish_velocity<double>(velocity);
      constexpr double step = 1e-4;
      on.set({q[0], q[1] + step, q[2]});
      const auto above = on.energies(psi);
      on.set({q[0], q[1] - step, q[2]});
      const auto below = on.energies(psi);
      for (std::size_t i = 0; i < above.size(); ++i)
        CHECK(std::abs((above[i] - below[i]) / (2 * step) - velocity[3 * i + 1]) < 1e-7);
    }
}

TEST_CASE("nonlocal: V is hermitian and <psi|V psi> is the energy") {
  for (const test::NonlocalCase& which : test::nonlocal_cases()) {
    const System& system = which.system;
    CAPTURE(which.name);
    Single on(system, momenta[1]);
    const Orbitals a = test::random_orbitals(on.decomposition), b = test::random_orbitals(on.decomposition, 7);
    Orbitals va(on.decomposition), vb(on.decomposition);
    on.nonlocal.apply(0, va.block(0, 0), a.block(0, 0), a.blocks());
    on.nonlocal.apply(0, vb.block(0, 0), b.block(0, 0), b.blocks());
    const std::vector<double> energy = on.energies(a);
    double largest = 0;
    for (std::int64_t block = 0; block < a.blocks(); ++block)
      for (int lane = 0; lane < orbital_lanes; ++lane) {
        CHECK(std::abs(inner(on, a, vb, block, lane) - std::conj(inner(on, b, va, block, lane))) < 1e-12);
        const Complex e = inner(on, a, va, block, lane);
        CHECK(std::abs(e.imag()) < 1e-13);
        CHECK(std::abs(e - energy[at(block * orbital_lanes + lane)]) < 1e-12);
        largest = std::max(largest, std::abs(e));
      }
    CHECK(largest > 1e-2);
  }
}

TEST_CASE("nonlocal: moving atoms and orbitals by a grid step, or atoms by a cell, changes nothing") {
  System system = test::nonlocal_cases()[0].system;
  Single here(system, momenta[1]);
  const std::vector<double> before = here.energies(test::random_orbitals(here.decomposition));
  const Orbitals psi = test::random_orbitals(here.decomposition);
  for (int axis = 0; axis < 3; ++axis) {
    System moved = system;
    for (Atom& atom : moved.atoms) atom.position[at(axis)] += system.grid.spacing[at(axis)];
    Single there(moved, momenta[1]);
    Orbitals shifted(there.decomposition);
    const auto& n = system.grid.extent;
    for (std::int64_t block = 0; block < psi.blocks(); ++block)
      for (std::int64_t z = 0; z < n[2]; ++z)
        for (std::int64_t y = 0; y < n[1]; ++y)
          for (std::int64_t x = 0; x < n[0]; ++x) {
            std::array<std::int64_t, 3> to{x, y, z};
            to[at(axis)] = (to[at(axis)] + 1) % n[at(axis)];
            const Box& box = here.decomposition.box();
            std::copy_n(psi.block(0, block) + box.index(x, y, z) * doubles_per_point, doubles_per_point,
                        shifted.block(0, block) + box.index(to[0], to[1], to[2]) * doubles_per_point);
          }
    CHECK(largest_difference(before, there.energies(shifted)) < 1e-12);
  }
  system.atoms[0].position[0] += system.grid.length(0);
  system.atoms[1].position[2] -= 2 * system.grid.length(2);
  Single images(system, momenta[1]);
  CHECK(largest_difference(before, images.energies(psi)) < 1e-12);
}

TEST_CASE("nonlocal: the velocity is the derivative of the energy with respect to q") {
  constexpr double step = 1e-3;
  for (const test::NonlocalCase& each : test::nonlocal_cases())
    for (const Vec3& q : momenta) {
      const System& system = each.system;
      CAPTURE(each.name);
      Single on(system, q);
      const Orbitals psi = test::random_orbitals(on.decomposition);
      std::vector<double> velocity(at(psi.blocks()) * orbital_lanes * 3, 7.0);
      on.nonlocal.begin(0, psi.block(0, 0), psi.blocks());
      on.nonlocal.finish_velocity<double>(velocity);
      double largest = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const auto energies = [&](double by) {
          Vec3 there = q;
          there[at(axis)] += by;
          on.set(there);
          return on.energies(psi);
        };
        const auto a = energies(-2 * step), b = energies(-step), c = energies(step), d = energies(2 * step);
        for (std::size_t i = 0; i < a.size(); ++i) {
          // Fourth order: step^4 times a fifth derivative of order radius^5.
          const double slope = (8 * (c[i] - b[i]) - (d[i] - a[i])) / (12 * step);
          CHECK(std::abs(slope - velocity[3 * i + at(axis)]) < 1e-9);
          largest = std::max(largest, std::abs(slope));
        }
      }
      CHECK(largest > 1e-2);
    }
}

/// A block of orbitals and what stands for its slopes, as Nonlocal::add_forces takes them: shape (4, points, 4, 2).
std::vector<double> with_slopes(const Orbitals& psi, const Orbitals& slopes) {
  std::vector<double> all(psi.block(0, 0), psi.block(0, 0) + psi.block_doubles());
  for (std::int64_t axis = 0; axis < 3; ++axis)
    for (std::int64_t i = 0; i < psi.block_doubles(); ++i)
      all.push_back(slopes.block(0, axis % slopes.blocks())[i] * (axis == 2 ? 0.7 : 1.0));
  return all;
}

TEST_CASE("nonlocal: a force is the slope of an atom's energy as the orbitals move along their slopes") {
  // <V> is a form of second degree in the orbitals, so that the central difference is exact.
  constexpr std::array<double, orbital_lanes> factors{2.0, 1.3, 0.0, 0.4};
  for (const test::NonlocalCase& which : test::nonlocal_cases()) {
    const System& system = which.system;
    CAPTURE(which.name);
    Single on(system, momenta[1]);
    const Orbitals psi = test::random_orbitals(on.decomposition), slopes = test::random_orbitals(on.decomposition, 5);
    const std::vector<double> in = with_slopes(psi, slopes);
    std::vector<Vec3> force(system.atoms.size(), Vec3{1, 2, 3});
    on.nonlocal.add_forces(0, in.data(), in.data() + psi.block_doubles(), factors, force);
    double largest = 0;
    for (std::size_t atom = 0; atom < system.atoms.size(); ++atom) {
      System one = system;
      one.atoms = {system.atoms[atom]};
      Single only(one, momenta[1]);
      for (int axis = 0; axis < 3; ++axis) {
        const auto energy = [&](double by) {
          Orbitals moved = psi;
          for (std::int64_t i = 0; i < psi.block_doubles(); ++i)
            moved.block(0, 0)[i] += by * in[at((axis + 1) * psi.block_doubles() + i)];
          std::vector<double> each(orbital_lanes);
          only.nonlocal.energy(0, moved.block(0, 0), 1, each);
          double sum = 0;
          for (std::size_t lane = 0; lane < orbital_lanes; ++lane) sum += factors[lane] * each[lane];
          return sum;
        };
        const double slope = 0.5 * (energy(1) - energy(-1));
        largest = std::max(largest, std::abs(slope));
        CHECK(std::abs(force[atom][at(axis)] - (axis + 1) + slope) < 1e-12);
      }
    }
    CHECK(largest > 1e-2);
  }
}

TEST_CASE("nonlocal: of smooth orbitals the force is minus the derivative with respect to the atom") {
  // A Gaussian times a plane wave, which the grid resolves; its slopes as they are. Atoms stay, q is not zero.
  System system = test::nonlocal_cases()[2].system;
  system.grid = {{24, 24, 24}, {0.3, 0.3, 0.3}, Boundary::isolated};
  system.states = 1;
  const Decomposition decomposition(comm::Communicator::self(), system, {});
  const Vec3 width{0.5, 0.7, 0.6}, wave{0.4, -0.3, 0.2};
  Orbitals psi(decomposition);
  std::vector<double> in(at(4 * psi.block_doubles()), 0.0);
  for (std::int64_t z = 0, p = 0; z < 24; ++z)
    for (std::int64_t y = 0; y < 24; ++y)
      for (std::int64_t x = 0; x < 24; ++x, ++p) {
        const Vec3 r{system.grid.position(0, x), system.grid.position(1, y), system.grid.position(2, z)};
        Complex value = 1;
        for (std::size_t a = 0; a < 3; ++a) value *= std::exp(Complex(-width[a] * r[a] * r[a], wave[a] * r[a]));
        const auto put = [&](std::int64_t block, Complex v) {
          double* to = in.data() + block * psi.block_doubles() + p * doubles_per_point;
          to[0] = v.real();
          to[1] = v.imag();
        };
        put(0, value);
        for (std::size_t a = 0; a < 3; ++a)
          put(static_cast<std::int64_t>(a) + 1, value * Complex(-2 * width[a] * r[a], wave[a]));
      }
  std::copy_n(in.begin(), psi.block_doubles(), psi.block(0, 0));
  constexpr std::array<double, orbital_lanes> factors{2.0, 0, 0, 0};
  Single on(system, momenta[1]);
  std::vector<Vec3> force(system.atoms.size(), Vec3{});
  on.nonlocal.add_forces(0, in.data(), in.data() + psi.block_doubles(), factors, force);
  for (std::size_t atom = 0; atom < system.atoms.size(); ++atom)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto energy = [&](double by) {
        System moved = system;
        moved.atoms[atom].position[axis] += by;
        return 2 * Single(moved, momenta[1]).energies(psi)[0];
      };
      const double slope = (energy(0.05) - energy(-0.05)) / 0.1;
      // The projectors end where they are not zero to all orders, which the grid feels.
      CHECK(force[atom][axis] == doctest::Approx(-slope).epsilon(1e-2).scale(1e-2));
    }
}

TEST_CASE("nonlocal: the result does not depend on the number of threads, to the last bit") {
  const int before = omp_get_max_threads();
  System system = test::nonlocal_cases()[0].system;
  system.states = 24;  // enough work for threads
  std::vector<Orbitals> results;
  for (const int threads : {1, 2, 3, 11}) {
    omp_set_num_threads(threads);
    Single on(system, momenta[1]);
    const Orbitals psi = test::random_orbitals(on.decomposition);
    results.push_back(psi);
    on.nonlocal.apply(0, results.back().block(0, 0), psi.block(0, 0), psi.blocks());
    on.nonlocal.apply(0, results.back().block(0, 1), psi.block(0, 0), 5);  // less than half as many blocks as threads
  }
  omp_set_num_threads(before);
  for (const Orbitals& result : results) CHECK(largest_difference(result.values(), results[0].values()) == 0.0);
}

TEST_CASE("nonlocal: no order in which messages travel blocks it or changes a bit") {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);  // the simulated ranks take turns in one thread
  const System system = test::nonlocal_cases()[0].system;
  Single alone(system, momenta[1]);
  const Orbitals psi = test::random_orbitals(alone.decomposition);
  Orbitals after = psi;
  alone.nonlocal.apply(0, after.block(0, 0), psi.block(0, 0), psi.blocks(), 0.5);
  const std::vector<double> expected = alone.energies(after);
  std::vector<double> first;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    std::vector<double> energy;
    comm::SimulationOptions options;
    options.seed = seed;
    options.pause_probability = 0.3;
    comm::simulate(8, options, [&](const comm::Communicator& world) {
      const Decomposition decomposition(world, system, {1, 1, {2, 2, 2}});
      Nonlocal nonlocal(system, decomposition);
      nonlocal.set_phases(std::vector<Vec3>(1, momenta[1]));
      const Orbitals in = test::random_orbitals(decomposition);
      Orbitals out = in;
      nonlocal.begin(0, in.block(0, 0), in.blocks());
      nonlocal.finish(out.block(0, 0), 0.5);
      std::vector<double> here(at(in.blocks()) * orbital_lanes);
      nonlocal.energy(0, out.block(0, 0), in.blocks(), here);
      if (world.rank() == 5) energy = here;
    });
    if (first.empty()) first = energy;
    CHECK(largest_difference(expected, energy) < 1e-12);
    CHECK(largest_difference(first, energy) == 0.0);
  }
  omp_set_num_threads(before);
}

TEST_CASE("nonlocal: phases may be set again, to zero and back") {
  const System system = test::nonlocal_cases()[0].system;
  Single on(system);
  const Orbitals psi = test::random_orbitals(on.decomposition);
  const auto at_zero = on.energies(psi);
  on.set(momenta[1]);
  const auto away = on.energies(psi);
  CHECK(largest_difference(at_zero, away) > 1e-3);
  on.set({});
  CHECK(largest_difference(at_zero, on.energies(psi)) == 0.0);
  on.set(momenta[1]);
  CHECK(largest_difference(away, on.energies(psi)) == 0.0);
}

TEST_CASE("nonlocal: atoms without projectors are nothing to do") {
  System system = test::nonlocal_cases()[0].system;
  CHECK_FALSE(Single(system).nonlocal.empty());
  for (Atom& atom : system.atoms) atom.species = 3;
  Single on(system, momenta[1]);
  CHECK(on.nonlocal.empty());
  const Orbitals psi = test::random_orbitals(on.decomposition);
  Orbitals same = psi;
  on.nonlocal.apply(0, same.block(0, 0), psi.block(0, 0), psi.blocks());
  CHECK(largest_difference(psi.values(), same.values()) == 0.0);
  for (const double e : on.energies(psi)) CHECK(e == 0.0);
}

TEST_CASE("nonlocal: an l that is not known and a coupling that is not symmetric are refused") {
  using Shells = std::vector<test::ToyPotential::Shell>;
  System system = test::nonlocal_cases()[1].system;
  system.species[1] = std::make_shared<test::ToyPotential>(Shells{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 1.5}});
  CHECK_THROWS_WITH_AS(Single{system}, doctest::Contains("l = 4"), core::InvalidArgument);
  system.species[1] = std::make_shared<test::ToyPotential>(Shells{{2, 1.5}}, 0.1);
  CHECK_THROWS_WITH_AS(Single{system}, doctest::Contains("symmetric"), core::InvalidArgument);
}

}  // namespace
}  // namespace halocline::tddft
