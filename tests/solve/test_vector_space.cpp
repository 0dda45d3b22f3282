// SPDX-License-Identifier: Apache-2.0
// The one call that solvers are written on: defaults, order and overwriting.

#include <doctest/doctest.h>

#include "dense_space.hpp"
#include "halocline/solve/shared_vectors.hpp"

using namespace halocline::solve;
using namespace halocline::solve::test;

namespace {
template <class Space>
struct Outcome {
  Matrix y, z;
  Scalars sums;
};

template <class Space>
Outcome<Space> exercise() {
  const int n = 11;
  Space space(n, 2);
  auto x = from_eigen<double>(random_matrix(n, 2, 1)), y = from_eigen<double>(random_matrix(n, 2, 2));
  auto z = space.create();  // NaN until assigned
  const Scalars a{{0.5, -1.0}, {2.0, 0.25}}, b{{1.5, 0.0}, {0.0, 3.0}}, s{{0.0, 1.0}, {-1.0, 0.5}};
  const auto pending = update_and_reduce(
      space, {scale_add(y, s, a, x), assign(z, {}, x, b, y), add(x, a, y, b, z), scale(z, s)}, {{&x, &y}, {&z, &z}});
  const std::span<const Scalar> sums = pending.wait();
  return {to_eigen(y, n), to_eigen(z, n), Scalars(sums.begin(), sums.end())};
}
}  // namespace

TEST_CASE("vector space: updates act in order and feed the dots, fused or composed") {
  const auto composed = exercise<DenseSpace<double>>();
  const auto fused = exercise<FusedSpace<double>>();
  const Matrix x0 = random_matrix(11, 2, 1), y0 = random_matrix(11, 2, 2);
  const Scalar a[]{{0.5, -1.0}, {2.0, 0.25}}, b[]{{1.5, 0.0}, {0.0, 3.0}}, s[]{{0.0, 1.0}, {-1.0, 0.5}};
  for (int c = 0; c < 2; ++c) {
    const Column y = s[c] * y0.col(c) + a[c] * x0.col(c);
    const Column z = x0.col(c) + b[c] * y;
    const Column x = x0.col(c) + a[c] * y + b[c] * z;
    const Column sz = s[c] * z;
    for (const auto& got : {composed.y, fused.y}) CHECK((got.col(c) - y).norm() < 1e-14 * y.norm());
    for (const auto& got : {composed.z, fused.z}) CHECK((got.col(c) - sz).norm() < 1e-14 * sz.norm());
    for (const auto& got : {composed.sums, fused.sums}) {
      CHECK(std::abs(got[static_cast<std::size_t>(c)] - x.dot(y)) < 1e-13 * x.norm() * y.norm());
      CHECK(std::abs(got[static_cast<std::size_t>(2 + c)] - sz.dot(sz)) < 1e-13 * sz.squaredNorm());
    }
  }
}

TEST_CASE("vector space: the concepts tell the required from the rich") {
  static_assert(VectorSpace<DenseSpace<float>> && !FusedVectorSpace<DenseSpace<float>>);
  static_assert(FusedVectorSpace<FusedSpace<double>>);
  static_assert(!VectorSpace<std::vector<int>>);
  static_assert(SharingVectorSpace<DenseSpace<float>> && SharingVectorSpace<FusedSpace<double>>);
  CHECK(VectorSpace<const DenseSpace<double>>);
}

TEST_CASE("vector space: a shared vector meets every column") {
  const int n = 11;
  DenseSpace<double> space(n, 3);
  const Matrix v = random_matrix(n, 2, 1), y = random_matrix(n, 3, 2), a = random_matrix(2, 3, 3);
  const std::vector<DenseVector<double>> shared{from_eigen<double>(v.col(0)), from_eigen<double>(v.col(1))};
  const std::vector<const DenseVector<double>*> list{&shared[0], &shared[1]};
  auto batch = from_eigen<double>(y);
  const auto pending = shared_dots(space, std::span<const DenseVector<double>* const>(list), batch);
  const std::span<const Scalar> sums = pending.wait();
  REQUIRE(sums.size() == 6);
  Scalars coefficients;
  for (int i = 0; i < 2; ++i)
    for (int c = 0; c < 3; ++c) {
      CHECK(std::abs(sums[static_cast<std::size_t>(3 * i + c)] - v.col(i).dot(y.col(c))) < 1e-13);
      coefficients.push_back(a(i, c));
    }
  shared_add(space, batch, coefficients, std::span<const DenseVector<double>* const>(list));
  CHECK((to_eigen(batch, n) - y - v * a).norm() < 1e-13);
}
