// SPDX-License-Identifier: Apache-2.0
//
// The coarse operator on process grids of the ranks: its blocks and its product equal those of one process, and its
// Schur complement has the same solutions. So do the operator of the next coarser lattice and its dense inverse.

#include <doctest/doctest.h>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/multigrid/coarse_transfer.hpp"
#include "halocline/qcd/multigrid/dense_inverse.hpp"
#include "halocline/qcd/multigrid/detail/coarse_galerkin.hpp"
#include "qcd/multigrid/coarse_sample.hpp"
#include "qcd/multigrid/coarse_schur_sample.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr lattice::Coordinates<4> extents{8, 8, 12, 8};

/// The operator of a coarse lattice and of the next one.
struct Level {
  static constexpr lattice::Coordinates<4> size{2, 2, 2, 2}, next_size{2, 2, 1, 2};

  Level(const test::RoughLattice& rough, const std::shared_ptr<const lattice::Geometry4>& geometry)
      : sample(rough, geometry, test::every_term(), size, size, 8, 8),
        aggregates(std::make_shared<const lattice::Aggregates>(sample.aggregates->coarse(), next_size)),
        transfer(aggregates, sample.random(3)),
        blocks(galerkin(*sample.blocks, transfer)) {}
  test::CoarseSample<float> sample;
  std::shared_ptr<const lattice::Aggregates> aggregates;
  CoarseTransfer<float> transfer;
  std::shared_ptr<const CoarseBlocks<float>> blocks;
};

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

TEST_CASE("coarse galerkin on ranks: the blocks of the next lattice, and its dense inverse, are those of one process") {
  const auto world = comm::world();
  const test::RoughLattice rough(extents);
  const Level whole(rough, test::one_process(extents));
  const auto grids = comm::possible_grids(extents, world.size(), lattice::Coordinates<4>{4, 4, 2, 4});
  REQUIRE(!grids.empty());
  const auto geometry =
      std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids[grids.size() / 2]));
  const Level part(rough, geometry);
  const auto& local = *part.blocks->geometry();
  const auto& global = *whole.blocks->geometry();
  double worst = 0, largest = 0;
  for (std::int64_t site = 0; site < local.local_volume(); ++site) {
    const auto there = local.global_index(lattice::coordinates_of<4>(site, local.local()));
    REQUIRE(there < global.local_volume());
    for (int which = 0; which < 5; ++which)
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 16; ++column) {
          const auto expected = whole.blocks->get(there, which, row, column);
          worst = std::max<double>(worst, std::abs(part.blocks->get(site, which, row, column) - expected));
          largest = std::max<double>(largest, std::abs(expected));
        }
  }
  CHECK(worst < 1e-5 * largest);  // sums of some thousand products in float

  CoarseOperator<float> d(part.blocks, 3);
  const DenseInverse inverse(part.blocks->geometry(), local.local_volume(), 16, 3,
                             [&](CoarseField& out, const CoarseField& in) { d.apply(out, in); });
  CoarseField x(local.local_volume(), 16, 3), b = x, again = x;
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<float>((i * 7919 + 31 * world.rank()) % 1009) / 1009.f - 0.5f;
  d.apply(b, x);
  inverse.apply(again, b);
  CHECK(test::distance(again, x) < 1e-4);
}

}  // namespace halocline::qcd::multigrid
