// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/sums/exact_sum.hpp"

#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace halocline;
using comm::ExactSum;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double least = std::numeric_limits<double>::denorm_min();

/// The same sums bit by bit: how often each power of two has been added. Slow, and with nothing to get wrong.
class BinaryPlaces {
public:
  void add(double x, int factor = 1) { add_product(x, 1.0, factor); }
  void add_product(double a, double b, int factor = 1) {
    const auto [bits_a, place_a] = split(a);
    const auto [bits_b, place_b] = split(b);
    const int sign = std::signbit(a) == std::signbit(b) ? factor : -factor;
    for (int i = 0; i < 53; ++i) {
      for (int j = 0; j < 53; ++j) {
        if (((bits_a >> i) & 1) != 0 && ((bits_b >> j) & 1) != 0)
          count_[static_cast<std::size_t>(place_a + place_b + i + j)] += sign;
      }
    }
  }
  /// -1, 0 or 1.
  int sign() const {
    std::int64_t carried = 0;
    bool any = false;
    for (const std::int64_t count : count_) {
      const std::int64_t sum = count + carried;
      any = any || (sum & 1) != 0;
      carried = (sum - (sum & 1)) / 2;
    }
    return carried < 0 ? -1 : (any || carried > 0 ? 1 : 0);
  }
  void scale(int factor) {
    for (std::int64_t& count : count_) count *= factor;
  }

private:
  struct Split {
    std::uint64_t bits;
    int place;  ///< above 2^-1074
  };
  static Split split(double x) {
    if (x == 0) return {0, 0};
    int exponent = 0;
    std::frexp(x, &exponent);
    const int place = std::max(exponent - 53, -1074);
    return {static_cast<std::uint64_t>(std::ldexp(std::abs(x), -place)), place + 1074};
  }
  std::vector<std::int64_t> count_ = std::vector<std::int64_t>(4400);
};

/// No double is nearer to the sum than `value`, and of two as near it is the even one.
bool nearest(const BinaryPlaces& sum, double value) {
  if (!std::isfinite(value)) return false;
  BinaryPlaces rest = sum;
  rest.add(value, -1);
  const int side = rest.sign();
  if (side == 0) return true;
  const double next = std::nextafter(value, side * infinity);
  if (!std::isfinite(next)) return false;  // the tests of overflow are elsewhere
  rest.scale(2 * side);
  rest.add(next, -side);
  rest.add(value, side);
  const int beyond = rest.sign();
  return beyond < 0 || (beyond == 0 && (std::bit_cast<std::uint64_t>(value) & 1) == 0);
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

double value_of(const std::vector<double>& terms) {
  ExactSum sum;
  sum.add(terms);
  return sum.value();
}

/// Numbers of all sizes between 2^low and 2^high, of both signs.
std::vector<double> numbers(std::mt19937_64& random, std::size_t n, int low, int high) {
  std::uniform_real_distribution<double> mantissa(-2.0, 2.0);
  std::uniform_int_distribution<int> exponent(low, high);
  std::vector<double> made(n);
  for (double& x : made) x = std::ldexp(mantissa(random), exponent(random));
  return made;
}

}  // namespace

TEST_CASE("exact sum: what plain adding loses is kept") {
  CHECK(value_of({1e16, 1.0, -1e16}) == 1.0);
  CHECK(value_of({1.0, 1e100, 1.0, -1e100}) == 2.0);
  CHECK(value_of({1e308, least, -1e308}) == least);
  CHECK(value_of(std::vector<double>(10, 0.1)) == 1.0);
  CHECK(value_of({0.1, 0.2, -0.3}) == std::ldexp(1.0, -55));  // 0.1 + 0.2 - 0.3 of the doubles so written
  CHECK(same_bits(value_of({}), 0.0));
  CHECK(same_bits(value_of({-0.0, -0.0}), 0.0));
  CHECK(same_bits(value_of({3.0, -3.0}), 0.0));
  for (const double x : {1.0, -1.0, 0.1, largest, -largest, least, -least, 2.2250738585072014e-308, 1e-310})
    CHECK(same_bits(value_of({x}), x));
}

TEST_CASE("exact sum: ties go to even, and anything beyond a tie decides") {
  const double half = std::ldexp(1.0, -53);
  CHECK(value_of({1.0, half}) == 1.0);
  CHECK(value_of({1.0, half, least}) == 1.0 + 2 * half);
  CHECK(value_of({1.0, half, -least}) == 1.0);
  CHECK(value_of({1.0 + 2 * half, half}) == 1.0 + 4 * half);
  CHECK(value_of({-1.0, -half, -least}) == -1.0 - 2 * half);
  CHECK(value_of({2.0 - 2 * half, half}) == 2.0);  // the significand runs over
}

TEST_CASE("exact sum: overflow in the middle cancels, and rounds to infinity at the end only") {
  const double big = std::ldexp(1.0, 1023), last_bit = std::ldexp(1.0, 970);
  CHECK(value_of({big, big, -big}) == big);
  CHECK(value_of({largest, largest, -largest, -largest, 1.0}) == 1.0);
  CHECK(value_of({big, big}) == infinity);
  CHECK(value_of({-largest, -largest}) == -infinity);
  CHECK(value_of({largest, last_bit}) == infinity);  // half of the last place: a tie, and the even one is 2^1024
  CHECK(value_of({largest, last_bit, -least}) == largest);
  ExactSum squares;
  squares.add_product(largest, largest);
  squares.add_product(largest, -largest);
  squares.add_product(3.0, 5.0);
  CHECK(squares.value() == 15.0);
}

TEST_CASE("exact sum: subnormals and products below them") {
  CHECK(value_of({least, least, least}) == 3 * least);
  CHECK(value_of({2.2250738585072014e-308, -least}) == 2.2250738585072009e-308);
  ExactSum tiny;
  tiny.add_product(least, least);  // 2^-2148
  CHECK(same_bits(tiny.value(), 0.0));
  tiny.add_product(std::ldexp(1.0, -1000), std::ldexp(1.0, -75));  // half of the least double, and 2^-2148
  CHECK(tiny.value() == least);
  tiny.add_product(-least, least);
  CHECK(same_bits(tiny.value(), 0.0));  // half of it: a tie, to even
  tiny.add_product(-least, least);
  CHECK(same_bits(tiny.value(), 0.0));
  tiny.add_product(std::ldexp(1.0, -1000), -std::ldexp(1.0, -74));
  CHECK(tiny.value() == -least);  // minus half of it, and more
  ExactSum below;
  below.add_product(-least, least);
  CHECK(same_bits(below.value(), -0.0));  // rounds to zero, from below
}

TEST_CASE("exact sum: infinities and NaNs follow IEEE 754, whatever comes after them") {
  const double nan = std::nan("");
  CHECK(value_of({1.0, infinity, -1e300}) == infinity);
  CHECK(value_of({-infinity, largest, largest}) == -infinity);
  CHECK(std::isnan(value_of({infinity, 1.0, -infinity})));
  CHECK(std::isnan(value_of({nan, 1.0})));
  CHECK(std::isnan(value_of({infinity, nan})));
  ExactSum products;
  products.add_product(-2.0, infinity);
  CHECK(products.value() == -infinity);
  products.add_product(0.0, infinity);
  CHECK(std::isnan(products.value()));
}

TEST_CASE("exact sum: nearest to the sum of the binary places, for terms of all sizes") {
  std::mt19937_64 random(1);
  const std::vector<std::pair<int, int>> ranges{{-1, 1}, {-30, 30}, {-1074, -1000}, {-1074, 1010}, {900, 1015}};
  for (const auto& [low, high] : ranges) {
    for (int repeat = 0; repeat < 8; ++repeat) {
      std::vector<double> terms = numbers(random, 60, low, high);
      for (std::size_t i = 0; i < 50; ++i) terms.push_back(-terms[i]);  // all but ten cancel
      BinaryPlaces reference;
      for (const double x : terms) reference.add(x);
      const double sum = value_of(terms);
      CHECK(nearest(reference, sum));
      CHECK_FALSE(nearest(reference, std::nextafter(sum, infinity)));
      std::shuffle(terms.begin(), terms.end(), random);
      CHECK(same_bits(value_of(terms), sum));
    }
  }
}

TEST_CASE("exact sum: products are exact, from below the least double to above the largest") {
  std::mt19937_64 random(2);
  const std::vector<std::pair<int, int>> ranges{{-1, 1}, {-500, 500}, {-1074, -900}, {-1074, 500}, {300, 500}};
  for (const auto& [low, high] : ranges) {
    std::vector<double> a = numbers(random, 40, low, high), b = numbers(random, 40, low, high);
    for (std::size_t i = 0; i < 30; ++i) {
      a.push_back(b[i]);
      b.push_back(-a[i]);
    }
    ExactSum sum;
    sum.add_products(a, b);
    BinaryPlaces reference;
    for (std::size_t i = 0; i < a.size(); ++i) reference.add_product(a[i], b[i]);
    CHECK(nearest(reference, sum.value()));
  }
  const std::vector<double> three(3, 1.0), two(2, 1.0);
  ExactSum sum;
  CHECK_THROWS_AS(sum.add_products(three, two), core::InvalidArgument);
}

TEST_CASE("exact sum: any partition, merged in any order, gives the same sum") {
  std::mt19937_64 random(3);
  std::vector<double> terms = numbers(random, 20000, -200, 200);
  ExactSum whole;
  whole.add(terms);
  for (std::size_t parts = 1; parts <= 8; ++parts) {
    std::shuffle(terms.begin(), terms.end(), random);
    std::vector<ExactSum> part(parts);
    for (const double x : terms) part[random() % parts].add(x);
    ExactSum merged;
    for (std::size_t i = parts; i-- > 0;) merged.merge(part[i]);
    CHECK(merged == whole);
    CHECK(same_bits(merged.value(), whole.value()));
  }
  ExactSum twice = whole;
  twice.merge(twice);
  CHECK(twice.value() == 2 * whole.value());
  twice.add(1.0);
  CHECK_FALSE(twice == whole);
}

TEST_CASE("exact sum: carries keep up with many terms of one size, and many merges") {
  const double x = largest / 4;
  ExactSum sum;
  for (int i = 0; i < 50000; ++i) sum.add(x);
  for (int i = 0; i < 49999; ++i) sum.add_product(-x, 1.0);
  CHECK(sum.value() == x);
  ExactSum one, many;
  one.add(-0x1.fffffffffffffp-1);
  for (int i = 0; i < 50000; ++i) many.merge(one);
  CHECK(many.value() == -50000.0 + 50000.0 * 0x1p-53);  // exact: 50000 is 2^4 times 3125, which takes 12 bits
}
