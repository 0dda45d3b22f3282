// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/pseudopotential/nonlocal.hpp"

#include "halocline/comm/group/world.hpp"
#include "tddft/pseudopotential/nonlocal_systems.hpp"

#include <algorithm>
#include <doctest/doctest.h>

namespace halocline::tddft {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Every division of the ranks that leaves four points to a process of a split axis.
std::vector<ProcessCounts> divisions(int ranks, const System& system) {
  std::vector<ProcessCounts> all;
  const auto fits = [&](int axis, int parts) { return parts == 1 || system.grid.extent[at(axis)] / parts >= 4; };
  for (int k = 1; k <= static_cast<int>(system.channels.size()); ++k)
    for (int o = 1; o <= (system.states + 3) / 4; ++o)
      for (int x = 1; fits(0, x); ++x)
        for (int y = 1; fits(1, y); ++y)
          for (int z = 1; fits(2, z); ++z)
            if (k * o * x * y * z == ranks) all.push_back({k, o, {x, y, z}});
  return all;
}

/// What the operator gives for the orbitals of a decomposition.
struct Results {
  Results(const System& system, const Decomposition& decomposition, bool in_halves)
      : applied(test::random_orbitals(decomposition)) {
    Nonlocal nonlocal(system, decomposition);
    const Orbitals psi = applied;
    std::vector<Vec3> q;
    for (std::int64_t c = decomposition.channels().begin; c < decomposition.channels().end; ++c)
      q.push_back(system.channels[at(c)].k);
    nonlocal.set_phases(q);
    force.assign(system.atoms.size(), Vec3{});
    const std::size_t lanes = at(psi.blocks()) * orbital_lanes;
    constexpr std::array<double, orbital_lanes> factors{0.7, 0.7, 0.3, 0.1};
    const Orbitals slopes = test::random_orbitals(decomposition, 5);
    for (std::int64_t c = 0; c < psi.channels(); ++c) {
      const std::complex<double> factor(0.4, 1.2);
      if (in_halves) {
        nonlocal.begin(c, psi.block(c, 0), psi.blocks());
        nonlocal.finish(applied.block(c, 0), factor);
      } else {
        for (std::int64_t block = 0; block < psi.blocks(); ++block)
          nonlocal.apply(c, applied.block(c, block), psi.block(c, block), 1, factor);
      }
      energy.emplace_back(lanes);
      velocity.emplace_back(3 * lanes);
      nonlocal.energy(c, psi.block(c, 0), psi.blocks(), energy.back());
      nonlocal.begin(c, psi.block(c, 0), psi.blocks());
      nonlocal.finish_velocity<double>(velocity.back());
      decomposition.space().sum(velocity.back());  // every process has its part
      for (std::int64_t block = 0; block < psi.blocks(); ++block) {
        std::vector<double> in(psi.block(c, block), psi.block(c, block) + psi.block_doubles());
        for (int axis = 0; axis < 3; ++axis)
          for (std::int64_t i = 0; i < psi.block_doubles(); ++i)
            in.push_back(slopes.block(c, block)[i] * (axis + 1) + psi.block(c, block)[i] * axis);
        nonlocal.add_forces(c, in.data(), in.data() + psi.block_doubles(), factors, force);
      }
    }
    // Forces are sums over all channels and orbitals, and every process has its part of each.
    std::vector<double> each;
    for (const Vec3& f : force) each.insert(each.end(), f.begin(), f.end());
    decomposition.world().sum(each);
    for (std::size_t i = 0; i < each.size(); ++i) force[i / 3][i % 3] = each[i];
  }

  Orbitals applied;
  std::vector<std::vector<double>> energy, velocity;  ///< of each channel here
  std::vector<Vec3> force;
};

TEST_CASE("nonlocal: every division of the processes gives what one process gives") {
  const comm::Communicator world = comm::world();
  int divided = 0;
  for (const test::NonlocalCase& which : test::nonlocal_cases()) {
    System system = which.system;
    const bool periodic = system.grid.boundary == Boundary::periodic;
    system.channels = {{{0, 0, 0}, 0.5, 0}, {periodic ? Vec3{0.3, -0.2, 0.1} : Vec3{}, 0.5, 0}};
    const Decomposition alone(comm::Communicator::self(), system, {});
    const Results expected(system, alone, true);
    for (const ProcessCounts& counts : divisions(world.size(), system)) {
      CAPTURE(which.name);
      CAPTURE(counts.text());
      ++divided;
      const Decomposition decomposition(world, system, counts);
      for (const bool in_halves : {true, false}) {
        const Results found(system, decomposition, in_halves);
        const Box& box = decomposition.box();
        double applied = 0, energy = 0, velocity = 0, force = 0;
        for (std::int64_t c = 0; c < found.applied.channels(); ++c) {
          const std::int64_t channel = decomposition.channels().begin + c;
          for (std::int64_t b = 0; b < found.applied.blocks(); ++b) {
            const std::int64_t block = decomposition.blocks().begin + b;
            for (std::int64_t z = 0; z < box.extent[2]; ++z)
              for (std::int64_t y = 0; y < box.extent[1]; ++y)
                for (std::int64_t x = 0; x < box.extent[0]; ++x) {
                  const double* a = found.applied.block(c, b) + box.index(x, y, z) * doubles_per_point;
                  const double* e =
                      expected.applied.block(channel, block) +
                      alone.box().index(x + box.offset[0], y + box.offset[1], z + box.offset[2]) * doubles_per_point;
                  for (int i = 0; i < doubles_per_point; ++i) applied = std::max(applied, std::abs(a[i] - e[i]));
                }
          }
          const std::size_t lanes = at(found.applied.blocks()) * orbital_lanes;
          const std::size_t first = at(decomposition.blocks().begin) * orbital_lanes;
          for (std::size_t i = 0; i < lanes; ++i)
            energy = std::max(energy, std::abs(found.energy[at(c)][i] - expected.energy[at(channel)][first + i]));
          for (std::size_t i = 0; i < 3 * lanes; ++i)
            velocity =
                std::max(velocity, std::abs(found.velocity[at(c)][i] - expected.velocity[at(channel)][3 * first + i]));
        }
        for (std::size_t i = 0; i < 3 * found.force.size(); ++i)
          force = std::max(force, std::abs(found.force[i / 3][i % 3] - expected.force[i / 3][i % 3]));
        // Sums of some hundred terms of order 1, in another order.
        CHECK(applied < 1e-12);
        CHECK(energy < 1e-12);
        CHECK(velocity < 1e-12);
        CHECK(force < 1e-12);
      }
    }
  }
  CHECK(divided >= 2);
}

TEST_CASE("nonlocal: ranks that share space hold the same bits") {
  const comm::Communicator world = comm::world();
  System system = test::nonlocal_cases()[0].system;
  system.channels = {{{0.3, -0.2, 0.1}, 1, 0}};
  ProcessCounts counts;
  for (const ProcessCounts& other : divisions(world.size(), system))
    if (other.orbitals == 1) counts = other;
  REQUIRE(counts.ranks() == world.size());
  const Decomposition decomposition(world, system, counts);
  const Results found(system, decomposition, true);
  std::vector<double> all = found.energy[0];
  all.insert(all.end(), found.velocity[0].begin(), found.velocity[0].end());
  std::vector<double> low = all, high = all;
  world.min(low);
  world.max(high);
  CHECK(low == high);
}

}  // namespace
}  // namespace halocline::tddft
