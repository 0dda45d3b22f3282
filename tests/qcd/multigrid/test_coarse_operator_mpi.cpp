// SPDX-License-Identifier: Apache-2.0
//
// The coarse operator on process grids of the ranks: its blocks and its product equal those of one
// process, and its Schur complement has the same solutions.

#include <doctest/doctest.h>

#include "halocline/comm/group/world.hpp"
#include "qcd/multigrid/coarse_sample.hpp"
#include "qcd/multigrid/coarse_schur_sample.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr lattice::Coordinates<4> extents{8, 8, 12, 8};

}  // namespace

TEST_CASE("coarse operator on ranks: the same product as on one process") {
  const auto world = comm::world();
  const test::RoughLattice rough(extents);
  constexpr lattice::Coordinates<4> size{2, 4, 2, 4};
  test::CoarseSample<float> whole(rough, test::one_process(extents), test::every_term(), size, size, 8, 3);
  const auto v = whole.random(5);
  auto expected = whole.create();
  whole.d->apply(expected, v);
  const auto grids = comm::possible_grids(extents, world.size(), size);
  REQUIRE(!grids.empty());
  std::size_t tried = 0;
  for (std::size_t i = 0; i < grids.size() && tried < 3; i += 1 + grids.size() / 3) {
    ++tried;
    const auto geometry = std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids[i]));
    test::CoarseSample<float> part(rough, geometry, test::every_term(), size, size, 8, 3);
    const auto mine = part.random(5);
    auto product = part.create();
    for (int again = 0; again < 3; ++again) {
      part.d->apply(product, mine);
      const auto& coarse = *part.aggregates->coarse();
      for (int c = 0; c < 3; ++c) {
        const auto wanted = test::local_part(coarse, test::numbers(expected, c), 16);
        CHECK(test::relative_distance(test::numbers(product, c), wanted) < 2e-6);
      }
    }
    REQUIRE(CoarseSchur<float>::possible(*part.aggregates->coarse()));
    const auto errors = test::check_schur(part);
    CHECK(errors.equation < 1e-5);
    CHECK(errors.reconstruction < 1e-5);
  }
}

}  // namespace halocline::qcd::multigrid
