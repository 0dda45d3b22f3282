// SPDX-License-Identifier: Apache-2.0

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/ground_state/start.hpp"

#include "systems.hpp"

#include <array>

#include <doctest/doctest.h>

namespace halocline::tddft {
namespace {

System hydrogen(double length) {
  return tests::molecule({{"H", {0, 0, -length / 2}}, {"H", {0, 0, length / 2}}}, 9.6, 0.6, 4);
}

/// A division over space with at least four points of sixteen in each part: z first, then y.
std::array<int, 3> division(int processes) {
  if (processes <= 4) return {1, 1, processes};
  return {1, 2, processes / 2};
}

}  // namespace

TEST_CASE("start: old orbitals lead to the same energy on any division of space, and another division is refused") {
  const comm::Communicator world = comm::world();
  const ScfOptions options{.tolerance = 1e-7};
  const auto energy_of = [&](const comm::Communicator& group) {
    const ProcessCounts counts{1, 1, division(group.size())};
    Model before(hydrogen(1.4), group, counts, {}), model(hydrogen(1.5), group, counts, {});
    State old = before.empty_state();
    REQUIRE(solve_ground_state(before, old, options).converged);
    State state = start_from(model, before, old);
    const GroundState found = solve_ground_state(model, state, options);
    REQUIRE(found.converged);
    return found.energy.total;
  };
  CHECK(energy_of(world) == doctest::Approx(energy_of(comm::Communicator::self())).epsilon(1e-9));

  if (world.size() == 1) return;
  const auto [x, y, z] = division(world.size());
  Model along_z(hydrogen(1.4), world, {1, 1, {x, y, z}}, {});
  Model turned(hydrogen(1.4), world, {1, 1, {x, z, y}}, {});
  CHECK_THROWS_WITH_AS(start_from(turned, along_z, along_z.empty_state()), doctest::Contains("division over processes"),
                       core::InvalidArgument);
}

}  // namespace halocline::tddft
