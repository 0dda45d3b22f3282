// SPDX-License-Identifier: Apache-2.0
//
// The Markov chain over many processes: the same field, bit for bit, as on one; observables equal to rounding.

#include "halocline/qcd/gauge/heatbath.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/gauge/observables.hpp"
#include "qcd/gauge/some_links.hpp"

using namespace halocline;
using lattice::Coordinates;
using qcd::gauge::heatbath_sweep;

namespace {

const Coordinates<4> global = {4, 6, 8, 4};
const Coordinates<4> multiple = {2, 1, 1, 1};

}  // namespace

TEST_CASE("heatbath: the field is the same, bit for bit, on every grid of the processes") {
  const auto world = comm::world();
  auto alone = test::some_links(test::geometry_alone(global), 0.7);
  for (std::uint64_t sweep = 0; sweep < 2; ++sweep) heatbath_sweep(alone, {5.8, 1, 77, 1.5}, sweep);
  for (const auto& dims : comm::possible_grids(global, world.size(), multiple)) {
    const auto geometry = std::make_shared<lattice::Geometry4>(global, comm::ProcessGrid(world, dims));
    auto gauge = test::some_links(geometry, 0.7);
    for (std::uint64_t sweep = 0; sweep < 2; ++sweep) heatbath_sweep(gauge, {5.8, 1, 77, 1.5}, sweep);
    std::int64_t different = 0;
    for (std::int64_t site = 0; site < geometry->local_volume(); ++site) {
      const auto x = lattice::coordinates_of<4>(site, geometry->local());
      Coordinates<4> home = x;
      for (std::size_t axis = 0; axis < 4; ++axis) home[axis] += geometry->offset()[axis];
      for (int mu = 0; mu < 4; ++mu) {
        const auto u = gauge.link(x, mu), expected = alone.link(home, mu);
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            different += u.e[i][j].re != expected.e[i][j].re || u.e[i][j].im != expected.e[i][j].im;
      }
    }
    CHECK(different == 0);
  }
}

TEST_CASE("gauge observables: they do not depend on the process grid") {
  const auto world = comm::world();
  const auto alone = test::some_links(test::geometry_alone(global), 0.7);
  constexpr double rounding = 1e-14;
  for (const auto& dims : comm::possible_grids(global, world.size(), multiple)) {
    const auto geometry = std::make_shared<lattice::Geometry4>(global, comm::ProcessGrid(world, dims));
    auto gauge = test::some_links(geometry, 0.7);
    const auto planes = qcd::gauge::plaquette_planes(gauge), expected = qcd::gauge::plaquette_planes(alone);
    for (std::size_t plane = 0; plane < 6; ++plane) CHECK(std::abs(planes[plane] - expected[plane]) < rounding);
    CHECK(std::abs(qcd::gauge::rectangle(gauge) - qcd::gauge::rectangle(alone)) < rounding);
    CHECK(std::abs(qcd::gauge::link_trace(gauge) - qcd::gauge::link_trace(alone)) < rounding);
    const auto loops = qcd::gauge::polyakov(gauge), expected_loops = qcd::gauge::polyakov(alone);
    for (std::size_t mu = 0; mu < 4; ++mu) CHECK(std::abs(loops[mu] - expected_loops[mu]) < rounding);
    CHECK(gauge.unitarity_violation() < 1e-14);
    // A NaN on one process is seen by all.
    if (geometry->communicator().rank() == 0)
      gauge.set_link({0, 0, 0, 0}, 0, std::numeric_limits<double>::quiet_NaN() * qcd::Su3<double>::unit());
    CHECK(std::isnan(gauge.unitarity_violation()));
    gauge.exchange_ghosts();
    CHECK_THROWS_AS(heatbath_sweep(gauge, {6.0, 0, 1}, 0), core::Error);
  }
}
