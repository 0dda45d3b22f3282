// SPDX-License-Identifier: Apache-2.0
//
// Random fields and transformations over many processes: the same, bit for bit, as on one.

#include "halocline/qcd/gauge/start.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/gauge/observables.hpp"
#include "halocline/qcd/gauge/transform.hpp"
#include "qcd/gauge/some_links.hpp"

using namespace halocline;
using lattice::Coordinates;

namespace {

const Coordinates<4> global = {4, 6, 8, 12};
const Coordinates<4> multiple = {2, 1, 1, 1};

/// Numbers of the links of this process that differ from those of a field on one process.
std::int64_t different(const qcd::GaugeField& gauge, const qcd::GaugeField& alone) {
  const auto& geometry = gauge.geometry();
  std::int64_t count = 0;
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const auto x = lattice::coordinates_of<4>(site, geometry.local());
    Coordinates<4> home = x;
    for (std::size_t axis = 0; axis < 4; ++axis) home[axis] += geometry.offset()[axis];
    for (int mu = 0; mu < 4; ++mu) {
      const auto u = gauge.link(x, mu), expected = alone.link(home, mu);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) count += u.e[i][j].re != expected.e[i][j].re || u.e[i][j].im != expected.e[i][j].im;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("start fields and transformations: the same, bit for bit, on every grid of the processes") {
  const auto world = comm::world();
  const auto single = test::geometry_alone(global);
  const auto random = qcd::gauge::random_links(single, 3);
  const auto weak = qcd::gauge::weak_links(single, 0.2, 3);
  auto transformed = weak;
  qcd::gauge::GaugeTransformation::random(single, 4).apply(transformed);
  for (const auto& dims : comm::possible_grids(global, world.size(), multiple)) {
    const auto geometry = std::make_shared<lattice::Geometry4>(global, comm::ProcessGrid(world, dims));
    CHECK(different(qcd::gauge::random_links(geometry, 3), random) == 0);
    auto gauge = qcd::gauge::weak_links(geometry, 0.2, 3);
    CHECK(different(gauge, weak) == 0);
    const double plaquette = qcd::gauge::plaquette(gauge);
    qcd::gauge::GaugeTransformation::random(geometry, 4).apply(gauge);
    CHECK(different(gauge, transformed) == 0);
    CHECK(std::abs(qcd::gauge::plaquette(gauge) - plaquette) < 1e-14);
  }
}
