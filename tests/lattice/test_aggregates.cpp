// SPDX-License-Identifier: Apache-2.0
//
// Aggregates tile the box of a process, and coarse sites know their neighbours.

#include <doctest/doctest.h>

#include <memory>
#include <set>

#include "halocline/core/error.hpp"
#include "halocline/lattice/aggregates.hpp"
#include "halocline/lattice/neighbours.hpp"

namespace halocline::lattice {
namespace {

std::shared_ptr<const Geometry4> alone(const Coordinates<4>& extents) {
  return std::make_shared<const Geometry4>(extents, comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}),
                                           Coordinates<4>{1, 1, 1, 1});
}

}  // namespace

TEST_CASE("aggregates: every site is in one aggregate, at the place that the aggregate names") {
  const auto fine = alone({6, 4, 10, 3});
  const Aggregates aggregates(fine, {3, 4, 2, 1});
  CHECK(aggregates.coarse()->global() == Coordinates<4>{2, 1, 5, 3});
  CHECK(aggregates.count() * aggregates.sites() == fine->local_volume());
  std::set<Coordinates<4>> seen;
  for (std::int64_t a = 0; a < aggregates.count(); ++a)
    for (std::int64_t i = 0; i < aggregates.sites(); ++i) {
      const auto x = aggregates.site(a, i);
      CHECK(aggregates.of(x) == a);
      CHECK(aggregates.within(x) == i);
      seen.insert(x);
    }
  CHECK(static_cast<std::int64_t>(seen.size()) == fine->local_volume());
}

TEST_CASE("aggregates: a size that does not divide is refused with the nearest ones that do") {
  const auto fine = alone({12, 8, 8, 16});
  CHECK_THROWS_WITH_AS(Aggregates(fine, {5, 4, 4, 4}),
                       "aggregates of 5 sites along x were asked for, but a process holds 12 sites there; give 4 or 6",
                       core::InvalidArgument);
  CHECK_THROWS_AS(Aggregates(fine, {4, 4, 4, 0}), core::InvalidArgument);
  CHECK(Aggregates::nearest(*fine, {5, 4, 3, 100}) == Coordinates<4>{4, 4, 2, 16});
}

TEST_CASE("coarse neighbours: steps forwards and backwards undo each other, also where an axis has one site") {
  const auto geometry = alone({3, 1, 2, 5});
  const SiteNeighbours neighbours(geometry);
  for (std::int64_t site = 0; site < geometry->local_volume(); ++site)
    for (int d = 0; d < 8; ++d) {
      const auto there = neighbours.of(site, d);
      REQUIRE(there >= 0);
      CHECK(neighbours.of(there, (d + 4) % 8) == site);
      if (axis_of(d) == 1) CHECK(there == site);
      auto x = coordinates_of<4>(site, geometry->local());
      x[axis_of(d)] += step_of(d);
      const bool out = x[axis_of(d)] < 0 || x[axis_of(d)] >= geometry->local()[axis_of(d)];
      CHECK(neighbours.wraps(site, d) == out);
    }
  for (int d = 0; d < 8; ++d) CHECK(neighbours.face(d).empty());
}

}  // namespace halocline::lattice
