// SPDX-License-Identifier: Apache-2.0
//
// The dense inverse of a coarse operator: it solves what GMRES solves, on the whole lattice and on one parity.

#include <doctest/doctest.h>

#include <algorithm>

#include "halocline/core/error.hpp"
#include "halocline/qcd/multigrid/coarse_schur.hpp"
#include "halocline/qcd/multigrid/dense_inverse.hpp"
#include "halocline/solve/fgmres.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::qcd::multigrid {

TEST_CASE("dense inverse: the solutions of GMRES, for any number of columns") {
  // 2 x 3 x 1 x 2 coarse sites with 16 rows.
  const test::RoughLattice rough({4, 6, 4, 4});
  test::CoarseSample<float> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2},
                                   {2, 2, 4, 2}, 8, 7);
  const auto& geometry = sample.aggregates->coarse();
  const DenseInverse inverse(geometry, geometry->local_volume(), 16, 7,
                             [&](CoarseField& out, const CoarseField& in) { sample.d->apply(out, in); });
  CHECK(inverse.unknowns() == 192);
  CHECK(inverse.bytes() == 192 * 192 * 8);
  CoarseSpace space(geometry, 16, 7);
  const auto b = sample.random(3);
  auto x = sample.create(), y = sample.create();
  inverse.apply(x, b);
  solve::SolveOptions options;
  options.tolerance = 1e-6;
  options.restart_length = 192;
  CHECK(solve::fgmres(space, *sample.d, y, b, options).converged());
  CHECK(test::distance(x, y) < 1e-4);  // both residuals times the condition, below 100
  // A column does not feel its neighbours.
  CoarseField one(b.sites(), 16, 1), alone = one;
  for (std::int64_t site = 0; site < b.sites(); ++site) std::copy_n(b.at(site, 4), 32, one.at(site, 0));
  inverse.apply(alone, one);
  CHECK(test::relative_distance(test::numbers(alone, 0), test::numbers(x, 4)) < 1e-6);
  CHECK_THROWS_AS(inverse.apply(one, b), core::InvalidArgument);
}

TEST_CASE("dense inverse: of a Schur complement, and none of a singular operator") {
  const test::RoughLattice rough({4, 4, 4, 4});
  test::CoarseSample<float> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2},
                                   {2, 2, 2, 2}, 8, 2);
  const auto blocks_inverse = std::make_shared<const InverseBlocks<float>>(*sample.blocks);
  CoarseSchur<float> schur(sample.blocks, blocks_inverse, 2);
  const auto& geometry = sample.aggregates->coarse();
  const DenseInverse inverse(geometry, geometry->local_volume() / 2, 16, 2,
                             [&](CoarseField& out, const CoarseField& in) { schur.apply(out, in); });
  const auto space = schur.space();
  const auto x = sample.random(7);
  auto b = sample.create(), again = sample.create();
  auto even = space.create(), prepared = space.create();
  sample.d->apply(b, x);
  schur.prepare(prepared, b);
  inverse.apply(even, prepared);
  schur.reconstruct(again, even, b);
  CHECK(test::distance(again, x) < 1e-4);
  CHECK_THROWS_AS(DenseInverse(geometry, geometry->local_volume(), 16, 2,
                               [](CoarseField& out, const CoarseField&) { std::ranges::fill(out.span(), 0.f); }),
                  core::Error);
}

TEST_CASE("coarse Schur complement: a residual of it is one of the whole operator") {
  const test::RoughLattice rough({8, 4, 4, 4});
  test::CoarseSample<float> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2},
                                   {2, 2, 2, 2}, 8, 3);
  const auto blocks_inverse = std::make_shared<const InverseBlocks<float>>(*sample.blocks);
  CoarseSchur<float> schur(sample.blocks, blocks_inverse, 3);
  const auto space = schur.space();
  const auto x = sample.random(5);
  auto even = space.create(), image = space.create(), back = space.create();
  auto whole = sample.create(), b = sample.create(), zero = sample.create();
  schur.even_part(even, x);
  schur.apply(image, even);
  schur.spread(whole, image);
  // With odd sites that follow from the even ones, D_c x is (S_e Schur x_e, 0).
  schur.reconstruct(b, even, zero);
  sample.d->apply(zero, b);
  CHECK(test::distance(zero, whole) < 1e-5);
  schur.even_part(back, b);
  CHECK(test::distance(back, even) == 0);
}

}  // namespace halocline::qcd::multigrid
