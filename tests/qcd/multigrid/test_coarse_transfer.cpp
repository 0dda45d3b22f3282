// SPDX-License-Identifier: Apache-2.0
//
// From one coarse lattice to the next: P^dagger P = 1, P against plain loops, and the operator of the next lattice,
// D_cc = P^dagger D_c P, with the symmetry of the one above.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/multigrid/coarse_transfer.hpp"
#include "halocline/qcd/multigrid/detail/coarse_galerkin.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::qcd::multigrid {
namespace {

using test::CoarseSample;
using test::Vector;

/// Sums of some hundred products in float.
constexpr double single = 4e-6;
/// Test vectors and blocks are rounded to 11 bits.
constexpr double half = 2e-3;
template <class S>
constexpr double accuracy = std::is_same_v<S, float> ? single : half;

/// A coarse lattice of 4 x 3 x 3 x 2 sites with odd extents, and one of 2 x 1 x 3 x 1 below it.
template <class S>
struct Levels {
  Levels()
      : rough({8, 6, 12, 4}),
        sample(rough, test::one_process(rough.extents), test::every_term(), {2, 2, 2, 2}, {2, 2, 4, 2}, 16, 8),
        aggregates(std::make_shared<const lattice::Aggregates>(sample.aggregates->coarse(),
                                                               lattice::Coordinates<4>{2, 3, 1, 2})),
        vectors(sample.random(3)),
        transfer(aggregates, vectors) {}

  /// A field on the lower lattice with numbers of its own.
  CoarseField below(int columns, unsigned seed) const {
    CoarseField out(aggregates->count(), 2 * transfer.vectors(), columns);
    const auto all = test::random_numbers(out.size() / 2, seed);
    for (std::int64_t i = 0; i < out.size(); ++i) {
      const auto& z = all[static_cast<std::size_t>(i / 2)];
      out.data()[i] = static_cast<float>(i % 2 == 0 ? z.real() : z.imag());
    }
    return out;
  }

  test::RoughLattice rough;
  CoarseSample<S> sample;
  std::shared_ptr<const lattice::Aggregates> aggregates;
  CoarseField vectors;
  CoarseTransfer<S> transfer;
};

/// P v for one column by the definition of coarse_transfer.hpp.
template <class S>
Vector plain_prolongation(const CoarseTransfer<S>& transfer, const Vector& v) {
  const int rows = transfer.rows(), n = transfer.vectors();
  const auto& aggregates = *transfer.aggregates();
  Vector out(static_cast<std::size_t>(aggregates.fine()->local_volume() * rows));
  std::vector<float> phi(static_cast<std::size_t>(2 * rows * n));
  for (std::int64_t site = 0; site < aggregates.fine()->local_volume(); ++site) {
    transfer.at(site, phi.data());
    const auto above = aggregates.of(lattice::coordinates_of<4>(site, aggregates.fine()->local()));
    for (int row = 0; row < rows; ++row)
      for (int vector = 0; vector < n; ++vector)
        out[static_cast<std::size_t>(site * rows + row)] +=
            std::complex<double>(phi[static_cast<std::size_t>(2 * row * n + vector)],
                                 phi[static_cast<std::size_t>((2 * row + 1) * n + vector)]) *
            v[static_cast<std::size_t>(above * 2 * n + (row < rows / 2 ? 0 : n) + vector)];
  }
  return out;
}

/// <v, w>
std::complex<double> product(const Vector& v, const Vector& w) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += std::conj(v[i]) * w[i];
  return sum;
}

}  // namespace

TEST_CASE_TEMPLATE("coarse transfer: restriction undoes prolongation, and is its adjoint", S, float, core::Half) {
  Levels<S> levels;
  const auto v = levels.below(8, 5);
  auto fine = levels.sample.create(), images = fine;
  auto back = levels.below(8, 6);
  levels.transfer.prolongate(fine, v);
  levels.transfer.restrict_to(back, fine);
  CHECK(test::distance(back, v) < accuracy<S>);
  for (int c = 0; c < 8; ++c)
    CHECK(test::relative_distance(test::numbers(fine, c), plain_prolongation(levels.transfer, test::numbers(v, c))) <
          single);
  // <w, P v> = <R w, v>
  const auto w = levels.sample.random(9);
  levels.transfer.restrict_to(back, w);
  const auto left = product(test::numbers(w, 2), test::numbers(fine, 2));
  const auto right = product(test::numbers(back, 2), test::numbers(v, 2));
  CHECK(std::abs(left - right) < 1e-5 * std::abs(left));
  // The test vectors themselves are in the range of P.
  levels.transfer.restrict_to(back, levels.vectors);
  levels.transfer.prolongate(images, back);
  CHECK(test::distance(images, levels.vectors) < accuracy<S>);
}

TEST_CASE_TEMPLATE("coarse galerkin: D_cc = P^dagger D_c P, and Gamma5 D_cc is hermitian", S, float, core::Half) {
  Levels<S> levels;
  const auto blocks = galerkin(*levels.sample.blocks, levels.transfer);
  CoarseOperator<S> next(blocks, 8);
  const auto v = levels.below(8, 5), w = levels.below(8, 7);
  auto fine = levels.sample.create(), image = fine;
  auto expected = levels.below(8, 6), found = expected, adjoint = expected;
  levels.transfer.prolongate(fine, v);
  levels.sample.d->apply(image, fine);
  levels.transfer.restrict_to(expected, image);
  next.apply(found, v);
  CHECK(test::distance(found, expected) < accuracy<S>);
  // The same, from plain loops alone.
  for (int c = 0; c < 8; ++c) {
    const auto plain =
        test::plain_product(*levels.sample.blocks, plain_prolongation(levels.transfer, test::numbers(v, c)));
    for (int row : {0, 7, 8, 15}) {
      Vector unit(static_cast<std::size_t>(v.sites() * v.rows()));
      unit[static_cast<std::size_t>(3 * v.rows() + row)] = 1;
      const auto z = product(plain_prolongation(levels.transfer, unit), plain);
      const auto got = test::numbers(found, c)[static_cast<std::size_t>(3 * v.rows() + row)];
      CHECK(std::abs(z - got) < 4 * accuracy<S> * std::sqrt(std::abs(product(plain, plain)) / 100));
    }
  }
  // <w, Gamma5 D v> = <Gamma5 D w, v>
  const auto gamma5 = [&](Vector x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (i % 16 >= 8) x[i] = -x[i];
    return x;
  };
  next.apply(adjoint, w);
  const auto left = product(test::numbers(w, 1), gamma5(test::numbers(found, 1)));
  const auto right = product(gamma5(test::numbers(adjoint, 1)), test::numbers(v, 1));
  const double size = std::sqrt(std::abs(product(test::numbers(w, 1), test::numbers(w, 1)) *
                                         product(test::numbers(found, 1), test::numbers(found, 1))));
  CHECK(std::abs(left - right) < 1e-6 * size);
}

TEST_CASE("coarse galerkin: a twisted mass stays one") {
  Levels<float> levels;
  constexpr float mu = 0.3f;
  CoarseBlocks<float> twisted = *levels.sample.blocks;
  const int rows = twisted.rows();
  for (std::int64_t site = 0; site < twisted.geometry()->local_volume(); ++site)
    for (int row = 0; row < rows; ++row)
      twisted.set(site, 0, row, row,
                  twisted.get(site, 0, row, row) + std::complex<float>(0, row < rows / 2 ? mu : -mu));
  const auto plain = galerkin(*levels.sample.blocks, levels.transfer), with = galerkin(twisted, levels.transfer);
  double worst = 0, largest = 0;
  for (std::int64_t site = 0; site < plain->geometry()->local_volume(); ++site)
    for (int which = 0; which < 5; ++which)
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 16; ++column) {
          const std::complex<float> wanted(0, which > 0 || row != column ? 0.f : row < 8 ? mu : -mu);
          const auto before = plain->get(site, which, row, column);
          worst = std::max<double>(worst, std::abs(with->get(site, which, row, column) - before - wanted));
          largest = std::max<double>(largest, std::abs(before));
        }
  CHECK(worst < single * largest);
}

TEST_CASE("coarse transfer: what cannot be is refused with a sentence") {
  Levels<float> levels;
  const CoarseField few(levels.vectors.sites(), 32, 6), other(5, 32, 8), zero(levels.vectors.sites(), 32, 8);
  CHECK_THROWS_WITH_AS(CoarseTransfer<float>(levels.aggregates, few), "6 test vectors were given; give a multiple of 8",
                       core::InvalidArgument);
  CHECK_THROWS_AS(CoarseTransfer<float>(levels.aggregates, other), core::InvalidArgument);
  CHECK_THROWS_AS(CoarseTransfer<float>(levels.aggregates, zero), core::Error);
  auto v = levels.below(3, 1);
  CHECK_THROWS_AS(levels.transfer.restrict_to(v, levels.vectors), core::InvalidArgument);
  const CoarseBlocks<float> small(levels.sample.aggregates->coarse(), 16);
  CHECK_THROWS_AS(galerkin(small, levels.transfer), core::InvalidArgument);
}

}  // namespace halocline::qcd::multigrid
