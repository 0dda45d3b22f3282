// SPDX-License-Identifier: Apache-2.0
// The one call that solvers are written on: defaults, order and overwriting.

#include <doctest/doctest.h>

#include "dense_space.hpp"

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
  CHECK(VectorSpace<const DenseSpace<double>>);
}
