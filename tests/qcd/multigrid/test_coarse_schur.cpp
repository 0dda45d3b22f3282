// SPDX-License-Identifier: Apache-2.0
//
// Even-odd preconditioning of the coarse operator: it has the solutions of the whole operator.

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "qcd/multigrid/coarse_sample.hpp"
#include "qcd/multigrid/coarse_schur_sample.hpp"

namespace halocline::qcd::multigrid {

TEST_CASE_TEMPLATE("coarse Schur complement: the even part of x solves it, and x is reconstructed", S, float,
                   core::Half) {
  // Two coarse sites along y are each other's neighbour in both directions.
  const test::RoughLattice rough({8, 4, 8, 4});
  test::CoarseSample<S> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2}, {2, 2, 4, 2},
                               8, 5);
  const auto errors = test::check_schur(sample);
  // Inverse blocks are rounded on their own, so the storage limits how well they undo the self blocks.
  const double bound = std::is_same_v<S, float> ? 1e-5 : 2e-2;
  CHECK(errors.equation < bound);
  CHECK(errors.reconstruction < bound);
}

TEST_CASE("coarse Schur complement: a lattice of odd extents has none") {
  const test::RoughLattice rough({6, 4, 4, 4});
  test::CoarseSample<float> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2},
                                   {2, 2, 2, 2}, 8, 1);
  CHECK_FALSE(CoarseSchur<float>::possible(*sample.aggregates->coarse()));
  const auto inverse = std::make_shared<const InverseBlocks<float>>(sample.d->blocks());
  CHECK_THROWS_AS(CoarseSchur<float>(sample.blocks, inverse, 1), core::InvalidArgument);
}

TEST_CASE("inverse of a self block: their product is one") {
  const test::RoughLattice rough({4, 4, 4, 4});
  test::CoarseSample<float> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2},
                                   {2, 2, 2, 2}, 16, 1);
  const auto& blocks = sample.d->blocks();
  const InverseBlocks<float> inverse(blocks);
  const int rows = blocks.rows();
  double worst = 0;
  for (std::int64_t site = 0; site < blocks.geometry()->local_volume(); ++site)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < rows; ++j) {
        std::complex<double> sum = i == j ? -1.0 : 0.0;
        for (int k = 0; k < rows; ++k) {
          const float* at = inverse.block(site) + CoarseBlocks<float>::place(k, j, rows);
          sum += std::complex<double>(blocks.get(site, 0, i, k)) * std::complex<double>(at[0], at[16]);
        }
        worst = std::max(worst, std::abs(sum));
      }
  CHECK(worst < 1e-5);
}

}  // namespace halocline::qcd::multigrid
