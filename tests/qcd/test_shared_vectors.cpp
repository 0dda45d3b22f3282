// SPDX-License-Identifier: Apache-2.0
//
// Products of a batch of lattice fields with vectors that all columns share.

#include <doctest/doctest.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <limits>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/solve/shared_vectors.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using solve::Scalar;
using solve::Scalars;

// 48 tiles of 16 sites on a parity: an odd tail where chunks end.
constexpr lattice::Coordinates<4> extents{4, 6, 8, 8};
constexpr std::int64_t volume = 4 * 6 * 8 * 8;
constexpr int most = 3;  // columns
constexpr std::size_t count = 5;

std::vector<std::complex<double>> numbers_of(unsigned seed) { return test::random_numbers(volume * 12, seed); }
Scalar coefficient(std::size_t vector, int column) {
  return {0.25 * static_cast<double>(vector) - 0.5, 0.5 * column - 0.25};
}

template <class T>
struct Outcome {
  Scalars dots;                                         // [vector][column]
  std::vector<std::vector<std::complex<double>>> sums;  // [column]
};

/// On the columns first, first + 1, ... of three.
template <class T>
Outcome<T> exercise(int lanes, int first, int columns) {
  const auto layout = lattice::TileLayout::best(test::one_process(extents), lanes);
  SpinorSpace<T> single(layout, lattice::Subset::full), space(layout, lattice::Subset::full, columns);
  std::vector<SpinorField<T>> shared;
  std::vector<const SpinorField<T>*> pointers;
  shared.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    shared.push_back(single.create());
    from_canonical<T>(shared.back(), numbers_of(100 + static_cast<unsigned>(i)));
    pointers.push_back(&shared.back());
  }
  auto y = space.create();
  Scalars a(count * static_cast<std::size_t>(columns));
  for (int c = 0; c < columns; ++c) {
    from_canonical<T>(y, c, numbers_of(10 + static_cast<unsigned>(first + c)));
    for (std::size_t i = 0; i < count; ++i)
      a[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)] = coefficient(i, first + c);
  }
  const std::span<const SpinorField<T>* const> list(pointers);
  const auto pending = solve::shared_dots(space, list, y);
  Outcome<T> o;
  o.dots.assign(pending.wait().begin(), pending.wait().end());
  solve::shared_add(space, y, a, list);
  for (int c = 0; c < columns; ++c) to_canonical<T>(o.sums.emplace_back(static_cast<std::size_t>(volume) * 12), y, c);
  return o;
}

}  // namespace

TEST_CASE_TEMPLATE("shared vectors: products are those of plain vectors, for every lane count", T, float, double) {
  static_assert(solve::SharingVectorSpace<SpinorSpace<T>>);
  // A number has ten roundings behind it at most, and a sum of random signs gains nothing on that.
  const double tolerance = 20 * std::numeric_limits<T>::epsilon();
  for (const int lanes : {1, 4, 16}) {
    CAPTURE(lanes);
    const auto o = exercise<T>(lanes, 0, most);
    for (int c = 0; c < most; ++c) {
      const auto y = numbers_of(10 + static_cast<unsigned>(c));
      auto expected = y;
      for (std::size_t i = 0; i < count; ++i) {
        const auto v = numbers_of(100 + static_cast<unsigned>(i));
        Scalar dot = 0;
        double size = 0;
        for (std::size_t k = 0; k < v.size(); ++k) {
          dot += std::conj(v[k]) * y[k];
          size += std::norm(v[k]);
          expected[k] += coefficient(i, c) * v[k];
        }
        CHECK(std::abs(o.dots[i * most + static_cast<std::size_t>(c)] - dot) < tolerance * size);
      }
      CHECK(test::relative_distance(o.sums[static_cast<std::size_t>(c)], expected) < tolerance);
    }
  }
}

TEST_CASE_TEMPLATE("shared vectors: a column alone has the bits that it has in a batch", T, float, double) {
  for (const int lanes : {1, 16}) {
    const auto batch = exercise<T>(lanes, 0, most);
    for (int c = 0; c < most; ++c) {
      const auto alone = exercise<T>(lanes, c, 1);
      for (std::size_t i = 0; i < count; ++i)
        CHECK(alone.dots[i] == batch.dots[i * most + static_cast<std::size_t>(c)]);
      CHECK(alone.sums[0] == batch.sums[static_cast<std::size_t>(c)]);
    }
  }
}

#if defined(_OPENMP)
TEST_CASE("shared vectors: sums do not depend on the number of threads") {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = exercise<float>(16, 0, most);
  omp_set_num_threads(3);
  CHECK(exercise<float>(16, 0, most).dots == one.dots);
  omp_set_num_threads(before);
}
#endif

TEST_CASE("shared vectors: a column with zero coefficients is left alone, and wrong shapes are refused") {
  const auto layout = lattice::TileLayout::best(test::one_process(extents), 16);
  SpinorSpace<float> single(layout, lattice::Subset::full), space(layout, lattice::Subset::full, 2);
  auto v = single.create(), narrow = single.create();
  auto y = space.create();
  from_canonical<float>(y, 0, numbers_of(1));
  std::ranges::fill(v.span(), std::numeric_limits<float>::infinity());
  const std::vector<const SpinorField<float>*> list{&v};
  const std::span<const SpinorField<float>* const> shared(list);
  const auto before = y;
  solve::shared_add(space, y, Scalars{0.0, 0.0}, shared);
  CHECK(std::equal(y.span().begin(), y.span().end(), before.span().begin()));
  CHECK_THROWS_WITH_AS(solve::shared_add(space, y, Scalars{0.0}, shared), doctest::Contains("1 coefficients"),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(solve::shared_dots(space, shared, narrow), doctest::Contains("36864 numbers"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd
