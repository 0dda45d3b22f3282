// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/hartree/fft.hpp"

#include "halocline/core/aligned_array.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <doctest/doctest.h>
#include <numbers>
#include <numeric>
#include <vector>

namespace halocline::tddft {
namespace {

using complex = std::complex<double>;

/// A number between -1 and 1 that follows no pattern.
double scattered(std::int64_t i) {
  const double s = 43758.5453 * std::sin(12.9898 * static_cast<double>(i + 1));
  return 2 * (s - std::floor(s)) - 1;
}

complex phase(int sign, std::int64_t j, std::int64_t k, std::int64_t n) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
  return {std::cos(angle), sign * std::sin(angle)};
}

}  // namespace

TEST_CASE("fft: rows are sums over phases, and back they are n times themselves") {
  for (const std::int64_t n : {1, 2, 7, 12, 15}) {
    CAPTURE(n);
    const std::int64_t lines = 3, half = n / 2 + 1;
    core::AlignedArray<double> real(n * lines), again(n * lines), spectrum(2 * half * lines);
    for (std::int64_t i = 0; i < real.size(); ++i) real[i] = scattered(i);
    const core::AlignedArray<double> before = real;
    auto* numbers = reinterpret_cast<complex*>(spectrum.data());
    const RowTransform transform(n);
    core::AlignedArray<double> row(n);
    for (std::int64_t line = 0; line < lines; ++line) {
      std::copy_n(real.data() + line * n, n, row.data());
      transform.forward(row.data(), numbers + line * half);
    }
    double worst = 0;
    for (std::int64_t line = 0; line < lines; ++line) {
      for (std::int64_t k = 0; k < half; ++k) {
        complex sum;
        for (std::int64_t j = 0; j < n; ++j) sum += before[line * n + j] * phase(-1, j, k, n);
        worst = std::max(worst, std::abs(sum - numbers[line * half + k]));
      }
    }
    for (std::int64_t line = 0; line < lines; ++line) {
      transform.backward(numbers + line * half, row.data());
      std::copy_n(row.data(), n, again.data() + line * n);
    }
    for (std::int64_t i = 0; i < again.size(); ++i)
      worst = std::max(worst, std::abs(again[i] - static_cast<double>(n) * before[i]));
    CHECK(worst < 1e-13);
  }
}

TEST_CASE("fft: columns are sums over phases in the order told, and back they are n times themselves") {
  for (const std::int64_t n : {1, 5, 8, 12, 17, 24, 34, 54, 80, 96, 256, 1000}) {
    CAPTURE(n);
    const std::int64_t lines = 3;
    core::AlignedArray<double> values(2 * n * lines);
    for (std::int64_t i = 0; i < values.size(); ++i) values[i] = scattered(i);
    const core::AlignedArray<double> before = values;
    const auto* old = reinterpret_cast<const complex*>(before.data());
    auto* numbers = reinterpret_cast<complex*>(values.data());
    const ColumnTransform transform(n, lines);
    const std::vector<std::int64_t>& order = transform.wavenumbers();
    std::vector<std::int64_t> sorted = order, natural(static_cast<std::size_t>(n));
    std::ranges::sort(sorted);
    std::iota(natural.begin(), natural.end(), 0);
    CHECK(sorted == natural);
    transform.forward(numbers);
    double worst = 0;
    for (std::int64_t line = 0; line < lines; ++line) {
      for (std::int64_t k = 0; k < n; ++k) {
        complex sum;
        for (std::int64_t j = 0; j < n; ++j)
          sum += old[j * lines + line] * phase(-1, j, order[static_cast<std::size_t>(k)], n);
        worst = std::max(worst, std::abs(sum - numbers[k * lines + line]));
      }
    }
    transform.backward(numbers);
    double worst_again = 0;
    for (std::int64_t i = 0; i < n * lines; ++i)
      worst_again = std::max(worst_again, std::abs(numbers[i] - static_cast<double>(n) * old[i]));
    CHECK(worst < 1e-14 * static_cast<double>(n));
    CHECK(worst_again < 1e-14 * static_cast<double>(n));
  }
}

TEST_CASE("fft: stages multiply to the length, few where it has small factors only") {
  for (const std::int64_t n : {1, 2, 16, 17, 24, 34, 97, 128, 289, 360, 1024, 4096}) {
    CAPTURE(n);
    std::int64_t product = 1;
    for (const std::int64_t stage : stage_lengths(n)) product *= stage;
    CHECK(product == n);
  }
  CHECK(stage_lengths(128).size() == 1);
  for (const std::int64_t n : {24, 80, 96, 256, 512, 1024}) CHECK(stage_lengths(n).size() == 2);
  CHECK(stage_lengths(289) == std::vector<std::int64_t>{17, 17});
}

TEST_CASE("fft: no lines are no work") {
  const ColumnTransform columns(8, 0);
  CHECK_NOTHROW(columns.forward(nullptr));
  CHECK_NOTHROW(columns.backward(nullptr));
}

TEST_CASE("fft: fast lengths are the next numbers without a prime factor above 7") {
  CHECK(fast_length(0) == 1);
  CHECK(fast_length(11) == 12);
  CHECK(fast_length(23) == 24);
  CHECK(fast_length(79) == 80);
  CHECK(fast_length(127) == 128);
  CHECK(fast_length(49) == 49);
  CHECK(fast_length(197) == 200);
}

}  // namespace halocline::tddft
