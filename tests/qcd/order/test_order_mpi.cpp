// SPDX-License-Identifier: Apache-2.0
//
// Orders of other codes on every process grid of the ranks: round trips, the links of openQCD that a neighbour holds,
// parities of boxes that begin at odd sites.

#include <doctest/doctest.h>

#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/order/convert.hpp"
#include "halocline/qcd/order/offset.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::order {
namespace {

using Site = lattice::Coordinates<4>;
constexpr Site extents{16, 6, 4, 6};

std::vector<std::shared_ptr<const lattice::Geometry4>> geometries() {
  const auto world = comm::world();
  std::vector<std::shared_ptr<const lattice::Geometry4>> all;
  for (int x = 1; x <= 2; ++x)
    for (int y = 1; y <= 6; ++y)
      for (int z = 1; z <= 4; ++z)
        for (int t = 1; t <= 6; ++t)
          if (x * y * z * t == world.size() && 6 % y == 0 && 4 % z == 0 && 6 % t == 0)
            all.push_back(std::make_shared<const lattice::Geometry4>(
                extents, comm::ProcessGrid(world, std::vector<int>{x, y, z, t})));
  return all;
}

bool has(const GaugeOrder& order, const lattice::Geometry4& geometry) {
  try {
    check(order, geometry, sizeof(double));
  } catch (const core::InvalidArgument&) {
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("order on processes: links and ghosts come back from every order, and openQCD's array has its neighbours'") {
  const auto all_links = test::random_links(lattice::product<4>(extents), 5);
  const auto link_of = [&](Site x, int mu, int row, int column) {
    for (std::size_t axis = 0; axis < 4; ++axis) x[axis] = (x[axis] + extents[axis]) % extents[axis];
    return all_links[static_cast<std::size_t>(36 * lattice::linear_index<4>(x, extents) + 9 * mu + 3 * row + column)];
  };
  for (const auto& geometry : geometries()) {
    const auto local = test::local_part(*geometry, all_links, 36);
    const auto u = GaugeField::from_canonical(geometry, local);
    for (const std::string_view name : names()) {
      GaugeOrder order = gauge_order(name);
      order.boundary = {-1, 0.5, -2, -1};  // powers of two are exact
      if (!has(order, *geometry)) continue;
      CAPTURE(name);
      std::vector<double> array(static_cast<std::size_t>(72 * geometry->local_volume()));
      store<double>(std::span(array), u, order);
      GaugeField back(geometry);
      load<double>(back, std::span<const double>(array), order);
      CHECK(back.to_canonical() == local);
      int wrong = 0;
      for (std::int64_t i = 0; i < geometry->local_volume(); ++i)
        for (int mu = 0; mu < 4; ++mu) {
          Site x = lattice::coordinates_of<4>(i, geometry->local());
          for (const bool below : {false, true}) {
            if (below) --x[static_cast<std::size_t>(mu)];
            if (below && order.directions != Directions::around_odd_sites) continue;
            const auto place = gauge_offset(order, *geometry, x, mu, 2, 1, 1, sizeof(double));
            if (place < 0) continue;
            Site at = x;
            for (std::size_t axis = 0; axis < 4; ++axis) at[axis] += geometry->offset()[axis];
            if (array[static_cast<std::size_t>(place)] !=
                link_factor(order, *geometry, x, mu) * link_of(at, mu, 2, 1).imag())
              ++wrong;
          }
          x = lattice::coordinates_of<4>(i, geometry->local());
          --x[static_cast<std::size_t>(mu)];
          if (back.link(x, mu).e[1][2].re != u.link(x, mu).e[1][2].re) ++wrong;
        }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("order on processes: parities are those of the lattice, or the order is refused on every rank") {
  for (const auto& geometry : geometries()) {
    bool odd = false;
    for (std::size_t axis = 0; axis < 4; ++axis)
      odd |= geometry->grid().dims()[axis] > 1 && geometry->local()[axis] % 2 != 0;
    CHECK(has(gauge_order("qdp++"), *geometry));
    CHECK(has(gauge_order("milc"), *geometry));
    CHECK(has(gauge_order("quda"), *geometry) == !odd);
    CHECK(has(gauge_order("pyquda"), *geometry) == !odd);
    // The first half of the array has the even sites of the lattice, wherever the box begins.
    const auto order = spinor_order("qdp++");
    for (std::int64_t i = 0; i < geometry->local_volume(); ++i) {
      const auto x = lattice::coordinates_of<4>(i, geometry->local());
      REQUIRE((site_index(order.sites, *geometry, x) >= geometry->local_volume() / 2) == (geometry->parity(x) == 1));
    }
    GaugeField u(geometry);
    std::vector<double> array(static_cast<std::size_t>(72 * geometry->local_volume()));
    if (odd) CHECK_THROWS_AS(store<double>(std::span(array), u, gauge_order("quda")), core::InvalidArgument);
    // One rank gives too short an array: all refuse.
    if (geometry->communicator().rank() == 0) array.pop_back();
    CHECK_THROWS_AS(load<double>(u, std::span<const double>(array), gauge_order("qdp++")), core::InvalidArgument);
  }
}

}  // namespace halocline::qcd::order
