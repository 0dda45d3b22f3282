// SPDX-License-Identifier: Apache-2.0
//
// Deflation of a coarse system: right-hand sides that the directions can make are solved, others lose that part.

#include <doctest/doctest.h>

#include <limits>

#include "halocline/qcd/multigrid/coarse_deflation.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr int columns = 5;

struct Sample {
  Sample()
      : rough({4, 4, 4, 8}),
        coarse(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2}, {2, 2, 2, 2}, 8, columns),
        directions(coarse.random(3)) {}

  CoarseDeflation deflation() {
    return {*coarse.aggregates->coarse(), directions,
            [this](CoarseField& out, const CoarseField& in) { coarse.d->apply(out, in); }};
  }

  test::RoughLattice rough;
  test::CoarseSample<float> coarse;
  CoarseField directions;
};

std::complex<double> product(const CoarseField& a, const CoarseField& b, int of_a, int of_b) {
  const auto left = test::numbers(a, of_a), right = test::numbers(b, of_b);
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += std::conj(left[i]) * right[i];
  return sum;
}

/// Removes C from r and returns C^dagger r.
CoarseDeflation::Coefficients project(const CoarseDeflation& deflation, CoarseField& r) {
  auto along = deflation.products(r);
  deflation.remove(r, along);
  return along;
}

double norm(const CoarseField& a, int column) { return std::sqrt(product(a, a, column, column).real()); }

}  // namespace

TEST_CASE("coarse deflation: a right-hand side within reach of the directions is solved") {
  Sample sample;
  const auto deflation = sample.deflation();
  CHECK(deflation.size() == columns);
  // Column c of b is A applied to direction c, plus twice direction c + 1.
  CoarseField x = sample.coarse.create(), wanted = x, b = x;
  for (std::int64_t site = 0; site < wanted.sites(); ++site)
    for (int c = 0; c < columns; ++c)
      for (int i = 0; i < 2 * wanted.rows(); ++i)
        wanted.at(site, c)[i] = sample.directions.at(site, c)[i] + 2 * sample.directions.at(site, (c + 1) % columns)[i];
  sample.coarse.d->apply(b, wanted);
  const double before = norm(b, 0);
  deflation.add(x, project(deflation, b));
  CHECK(test::distance(x, wanted) < 1e-5);
  for (int c = 0; c < columns; ++c) CHECK(norm(b, c) < 1e-5 * before);
}

TEST_CASE("coarse deflation: what is left is orthogonal to the images, and matches what was taken") {
  Sample sample;
  const auto deflation = sample.deflation();
  auto images = sample.coarse.create(), taken = sample.coarse.create(), image = sample.coarse.create();
  sample.coarse.d->apply(images, sample.directions);
  const CoarseField b = sample.coarse.random(11);
  CoarseField left = b;
  deflation.add(taken, project(deflation, left));
  for (int c = 0; c < columns; ++c) {
    CHECK(norm(left, c) < 0.9999 * norm(b, c));
    for (int j = 0; j < columns; ++j)
      CHECK(std::abs(product(images, left, j, c)) < 2e-6 * norm(images, j) * norm(left, c));
  }
  sample.coarse.d->apply(image, taken);
  for (std::int64_t i = 0; i < left.size(); ++i) left.data()[i] += image.data()[i];
  CHECK(test::distance(left, b) < 1e-5);
}

TEST_CASE("coarse deflation: dependent, zero and infinite directions are left out") {
  Sample sample;
  for (std::int64_t site = 0; site < sample.directions.sites(); ++site) {
    const int numbers = 2 * sample.directions.rows();
    std::copy_n(sample.directions.at(site, 0), numbers, sample.directions.at(site, 2));
    std::fill_n(sample.directions.at(site, 3), numbers, 0.f);
  }
  CHECK(sample.deflation().size() == 3);
  sample.directions.at(4, 1)[5] = std::numeric_limits<float>::infinity();
  const auto deflation = sample.deflation();
  CHECK(deflation.size() == 2);
  auto b = sample.coarse.random(11);
  for (const auto& z : project(deflation, b)) CHECK(std::isfinite(std::abs(z)));
}

}  // namespace halocline::qcd::multigrid
