// SPDX-License-Identifier: Apache-2.0
//
// Inverses of hermitian 6x6 blocks: A A^-1 = 1 for any signs of the eigenvalues and any layout, and a condition number
// that tells of singular blocks.

#include "halocline/qcd/clover/detail/block_inverse.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::clover {
namespace {

using Complex = std::complex<double>;
using Matrix = std::vector<Complex>;  // [row][column]
constexpr int order = 6;

Matrix matrix_of(const double* reals) {
  Matrix a(order * order);
  for (int row = 0; row < order; ++row) {
    a[row * order + row] = reals[row];
    for (int column = 0; column < row; ++column) {
      const double* e = reals + below_diagonal(row, column);
      a[row * order + column] = {e[0], e[1]};
      a[column * order + row] = {e[0], -e[1]};
    }
  }
  return a;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(order * order);
  for (int i = 0; i < order; ++i)
    for (int j = 0; j < order; ++j)
      for (int k = 0; k < order; ++k) c[i * order + j] += a[i * order + k] * b[k * order + j];
  return c;
}

/// The largest modulus of an entry of a - 1.
double distance_from_one(const Matrix& a) {
  double most = 0;
  for (int i = 0; i < order; ++i)
    for (int j = 0; j < order; ++j) most = std::max(most, std::abs(a[i * order + j] - (i == j ? 1.0 : 0.0)));
  return most;
}

/// Both blocks of some sites, random, with `diagonal` added to the diagonal.
std::vector<double> random_blocks(int sites, double diagonal, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> blocks(static_cast<std::size_t>(block_reals * sites));
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = normal(random) + (i % 36 < order ? diagonal : 0.0);
  return blocks;
}

/// A sum of 6 products has 6 roundings, and an inverse multiplies them by its condition number.
double tolerance(double condition) { return 50 * std::numeric_limits<double>::epsilon() / condition; }

}  // namespace

TEST_CASE("clover: A times its inverse is one, for blocks of either sign and any number of sites") {
  // With 12 on the diagonal blocks are positive; with 0 they have both signs, and some need other pivots.
  for (const double diagonal : {12.0, -12.0, 0.0})
    for (const int sites : {1, 7, 8, 9, 200}) {
      const auto before = random_blocks(sites, diagonal, static_cast<unsigned>(sites));
      auto after = before;
      const double condition = invert_blocks({after.data(), block_reals, 1}, sites);
      CHECK(condition > 0);
      CHECK(condition <= 1);
      for (int block = 0; block < 2 * sites; ++block)
        CHECK(distance_from_one(product(matrix_of(before.data() + 36 * block), matrix_of(after.data() + 36 * block))) <
              tolerance(condition));
    }
}

TEST_CASE("clover: a block without a first pivot is inverted, and disturbs no other") {
  auto before = random_blocks(8, 12, 1);
  before[3 * block_reals] = 0;
  auto after = before, without = random_blocks(8, 12, 1);
  invert_blocks({after.data(), block_reals, 1}, 8);
  invert_blocks({without.data(), block_reals, 1}, 8);
  for (int block = 0; block < 16; ++block) {
    const auto* numbers = after.data() + 36 * block;
    CHECK(distance_from_one(product(matrix_of(before.data() + 36 * block), matrix_of(numbers))) < 1e-12);
    if (block != 6) CHECK(std::equal(numbers, numbers + 36, without.data() + 36 * block));
  }
}

TEST_CASE("clover: the layout of the blocks does not change a bit") {
  constexpr int lanes = 4;
  auto sites = random_blocks(lanes, 12, 2);
  std::vector<double> tile(sites.size());
  for (int lane = 0; lane < lanes; ++lane)
    for (int n = 0; n < block_reals; ++n) tile[n * lanes + lane] = sites[lane * block_reals + n];
  invert_blocks({sites.data(), block_reals, 1}, lanes);
  invert_blocks({tile.data(), 1, lanes}, lanes);
  for (int lane = 0; lane < lanes; ++lane)
    for (int n = 0; n < block_reals; ++n) CHECK(tile[n * lanes + lane] == sites[lane * block_reals + n]);
}

TEST_CASE("clover: with a twisted mass the inverse is that of A^2 + mu^2") {
  const double mu = 0.7;
  const auto before = random_blocks(9, 0, 3);
  auto after = before;
  const double condition = invert_blocks({after.data(), block_reals, 1}, 9, mu * mu);
  for (int block = 0; block < 18; ++block) {
    const Matrix a = matrix_of(before.data() + 36 * block);
    Matrix square = product(a, a);
    for (int i = 0; i < order; ++i) square[i * order + i] += mu * mu;
    CHECK(distance_from_one(product(square, matrix_of(after.data() + 36 * block))) < tolerance(condition));
  }
}

TEST_CASE("clover: a singular block and a NaN have the condition number 0") {
  auto blocks = random_blocks(8, 12, 4);
  // A block of rank one.
  for (int n = 0; n < 36; ++n) blocks[5 * block_reals + n] = n < order || (n - order) % 2 == 0 ? 1.0 : 0.0;
  CHECK(invert_blocks({blocks.data(), block_reals, 1}, 8) < 1e-14);
  blocks = random_blocks(8, 12, 4);
  blocks[5 * block_reals + 20] = std::numeric_limits<double>::quiet_NaN();
  CHECK(invert_blocks({blocks.data(), block_reals, 1}, 8) == 0);
}

}  // namespace halocline::qcd::clover
