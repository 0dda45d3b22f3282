// SPDX-License-Identifier: Apache-2.0
//
// The coarse level against its definition: P^dagger P = 1, D_c = P^dagger A D' P, Gamma5 D_c hermitian, and the fast
// product against plain loops over the blocks.

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::qcd::multigrid {
namespace {

using test::CoarseSample;

constexpr double single = 2e-6;
/// Test vectors and blocks are rounded to 11 bits; P^dagger P is 1 only to that.
constexpr double half = 2e-3;

template <class S>
constexpr double accuracy = std::is_same_v<S, float> ? single : half;

}  // namespace

TEST_CASE_TEMPLATE("coarse level: restriction undoes prolongation, and D_c = R D P", S, float, core::Half) {
  for (const bool with_clover : {true, false}) {
    CAPTURE(with_clover);
    const test::RoughLattice rough({8, 4, 6, 4});
    auto action = test::every_term();
    if (!with_clover) action.csw = 0, action.csw_t = 0.0;
    CoarseSample<S> sample(rough, test::one_process(rough.extents), action, {4, 2, 3, 4}, {4, 2, 6, 4}, 8, 7);
    const auto v = sample.random(5);

    auto fine = sample.schwarz.create(), image = sample.schwarz.create();
    auto coarse = sample.create(), product = sample.create();
    sample.transfer->prolongate(fine, v);
    sample.transfer->restrict_to(coarse, fine, nullptr);
    CHECK(test::distance(coarse, v) < accuracy<S>);

    sample.schwarz.apply(image, fine);
    sample.transfer->restrict_to(coarse, image, &*sample.clover);
    sample.d->apply(product, v);
    CHECK(test::distance(product, coarse) < (std::is_same_v<S, float> ? 4 * single : half));

    for (int c = 0; c < 7; ++c) {
      const auto expected = test::plain_product(sample.d->blocks(), test::numbers(v, c));
      CHECK(test::relative_distance(test::numbers(product, c), expected) < single);
    }
  }
}

TEST_CASE("coarse level: prolongation adds where it is asked to") {
  const test::RoughLattice rough({4, 4, 4, 4});
  CoarseSample<float> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 4, 4}, {2, 4, 4, 4}, 8,
                             2);
  const auto v = sample.random(3);
  auto once = sample.schwarz.create(), twice = sample.schwarz.create();
  sample.transfer->prolongate(once, v);
  sample.transfer->prolongate(twice, v);
  sample.transfer->prolongate(twice, v, true);
  for (std::int64_t i = 0; i < once.size(); ++i)
    REQUIRE(twice.data()[i] == doctest::Approx(2 * once.data()[i]).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("coarse operator: Gamma5 D_c is hermitian, and D_c^dagger is the adjoint", S, float, core::Half) {
  const test::RoughLattice rough({4, 8, 4, 6});
  // One coarse site along z: both its neighbours are itself.
  CoarseSample<S> sample(rough, test::one_process(rough.extents), test::every_term(), {2, 4, 4, 2}, {2, 4, 4, 2}, 16,
                         1);
  const auto v = sample.random(1), w = sample.random(2);
  auto dv = sample.create(), dw = sample.create();
  sample.d->apply(dv, v);
  sample.d->apply_dagger(dw, w);
  std::complex<double> left = 0, right = 0;
  const auto nv = test::numbers(v, 0), nw = test::numbers(w, 0), ndv = test::numbers(dv, 0), ndw = test::numbers(dw, 0);
  double size = 0;
  for (std::size_t i = 0; i < nv.size(); ++i) {
    left += std::conj(nw[i]) * ndv[i];
    right += std::conj(ndw[i]) * nv[i];
    size += std::abs(nw[i] * ndv[i]);
  }
  CHECK(std::abs(left - right) < 1e-6 * size);
}

TEST_CASE("coarse level: what cannot be is refused with a sentence") {
  const auto geometry = test::one_process({4, 4, 4, 4});
  const test::RoughLattice rough({4, 4, 4, 4});
  CHECK_THROWS_WITH_AS(CoarseSample<float>(rough, geometry, test::every_term(), {2, 2, 2, 2}, {4, 4, 4, 4}, 6, 1),
                       "6 test vectors were given; give a multiple of 8", core::InvalidArgument);
  CHECK_THROWS_AS(CoarseSample<float>(rough, geometry, test::every_term(), {4, 4, 4, 4}, {2, 4, 4, 4}, 8, 1),
                  core::InvalidArgument);
  // An aggregate of one site has six numbers of each chirality, too few for eight vectors.
  CHECK_THROWS_AS(CoarseSample<float>(rough, geometry, test::every_term(), {1, 1, 1, 1}, {1, 1, 1, 1}, 8, 1),
                  core::Error);
  CoarseSample<float> sample(rough, geometry, test::every_term(), {2, 2, 2, 2}, {2, 2, 2, 2}, 8, 1);
  auto v = sample.create();
  CHECK_THROWS_AS(sample.d->apply(v, v), core::InvalidArgument);
  CoarseField other(3, 16, 1);
  CHECK_THROWS_AS(sample.d->apply(v, other), core::InvalidArgument);
}

}  // namespace halocline::qcd::multigrid
