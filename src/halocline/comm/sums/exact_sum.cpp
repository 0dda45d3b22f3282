// SPDX-License-Identifier: Apache-2.0
/// @file
/// Carries, products and the one rounding of exact sums.

#include "halocline/comm/sums/exact_sum.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace halocline::comm {
namespace {

__extension__ typedef unsigned __int128 Wide;  // holds a product of two significands, 106 bits

}  // namespace

void ExactSum::add(std::span<const double> terms) noexcept {
  for (const double x : terms) add(x);
}

void ExactSum::add_special(double x) noexcept {
  if (std::isnan(x)) {
    ++nans_;
  } else {
    ++(x > 0 ? plus_infinities_ : minus_infinities_);
  }
}

void ExactSum::add_product(double a, double b) noexcept {
  const Parts x = parts_of(a), y = parts_of(b);
  if (x.exponent == special_exponent || y.exponent == special_exponent) [[unlikely]]
    return add_special(a * b);  // infinite or NaN, because a factor is
  make_room();
  const Wide product = static_cast<Wide>(x.significand) * y.significand;
  const int place = x.place + y.place;  // its lowest bit: (2^-1074)^2 stands at place 0
  const auto chunk = static_cast<std::size_t>(place) / chunk_places;
  const int shift = place % chunk_places;
  const std::int64_t sign = x.sign ^ y.sign;
  // 106 bits moved up by at most 31 are three chunks of 32 and a rest of at most 41 bits.
  const auto low = static_cast<std::uint64_t>(product << shift);
  const auto high = static_cast<std::uint64_t>(product >> (64 - shift));
  const std::array<std::uint64_t, 4> pieces{low & 0xffffffffu, low >> 32, high & 0xffffffffu, 0};
  for (std::size_t i = 0; i < 3; ++i) chunk_[chunk + i] += (static_cast<std::int64_t>(pieces[i]) ^ sign) - sign;
  const auto rest = static_cast<std::int64_t>(product >> (96 - shift));
  chunk_[chunk + 3] += (rest ^ sign) - sign;
}

void ExactSum::add_products(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) {
    throw core::InvalidArgument("products of vectors of " + std::to_string(a.size()) + " and " +
                                std::to_string(b.size()) + " elements were asked for; give two of one length");
  }
  for (std::size_t i = 0; i < a.size(); ++i) add_product(a[i], b[i]);
}

/// Moves the carries on. Afterwards each chunk but the last is in 0 ... 2^32 - 1, and the last has the sign. An
/// integer has only one such form.
void ExactSum::carry() noexcept {
  std::int64_t carried = 0;
  for (std::size_t i = 0; i + 1 < chunks; ++i) {
    const std::int64_t sum = chunk_[i] + carried;
    carried = sum >> chunk_places;  // rounds down, also below zero
    chunk_[i] = sum & 0xffffffff;
  }
  chunk_[chunks - 1] += carried;
  terms_ = 0;
}

void ExactSum::merge(const ExactSum& other) noexcept {
  const ExactSum* from = &other;
  ExactSum carried;
  if (terms_ + other.terms_ + 1 > terms_between_carries) {
    carried = other;
    carried.carry();
    from = &carried;
    carry();
  }
  for (std::size_t i = 0; i < chunks; ++i) chunk_[i] += from->chunk_[i];
  terms_ += from->terms_ + 1;
  plus_infinities_ += from->plus_infinities_;
  minus_infinities_ += from->minus_infinities_;
  nans_ += from->nans_;
}

bool operator==(const ExactSum& a, const ExactSum& b) noexcept {
  ExactSum x = a, y = b;
  x.carry();
  y.carry();
  return x.chunk_ == y.chunk_ && x.plus_infinities_ == y.plus_infinities_ &&
         x.minus_infinities_ == y.minus_infinities_ && x.nans_ == y.nans_;
}

double ExactSum::value() const noexcept {
  if (nans_ > 0 || (plus_infinities_ > 0 && minus_infinities_ > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (plus_infinities_ > 0) return std::numeric_limits<double>::infinity();
  if (minus_infinities_ > 0) return -std::numeric_limits<double>::infinity();
  ExactSum magnitude = *this;
  magnitude.carry();
  const bool negative = magnitude.chunk_[chunks - 1] < 0;
  if (negative) {
    for (std::int64_t& chunk : magnitude.chunk_) chunk = -chunk;
    magnitude.carry();
  }
  const double rounded = magnitude.rounded();
  return negative ? -rounded : rounded;
}

/// Rounds a sum that is not negative and whose carries have been moved on.
double ExactSum::rounded() const noexcept {
  const auto bit_at = [&](int place) {
    return place < 0 ? 0 : (chunk_[static_cast<std::size_t>(place) / chunk_places] >> (place % chunk_places)) & 1;
  };
  std::size_t top = chunks - 1;
  while (top > 0 && chunk_[top] == 0) --top;
  if (chunk_[top] == 0) return 0.0;
  const int highest = static_cast<int>(top) * chunk_places +
                      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(chunk_[top]))) - 1;
  // The last place that the double keeps: 52 below the highest, but not below 2^-1074.
  const int last = std::max(highest - 52, unit_place);
  std::uint64_t kept = 0;
  for (int place = highest; place >= last; --place) kept = (kept << 1) | static_cast<std::uint64_t>(bit_at(place));
  if (bit_at(last - 1) != 0) {
    const int below = last - 1;  // is any lower bit set?
    const auto half_chunk = static_cast<std::size_t>(below) / chunk_places;
    bool more = (chunk_[half_chunk] & ((std::int64_t{1} << (below % chunk_places)) - 1)) != 0;
    for (std::size_t i = 0; i < half_chunk && !more; ++i) more = chunk_[i] != 0;
    kept += more ? 1 : kept & 1;
  }
  return std::ldexp(static_cast<double>(kept), last + lowest_place);  // exact: kept <= 2^53; infinite beyond the range
}

void sum_over(const Communicator& group, std::span<ExactSum> sums) {
  if (group.size() == 1 || sums.empty()) return;
  std::vector<std::uint64_t> numbers;
  numbers.reserve(sums.size() * ExactSum::words);
  for (ExactSum& sum : sums) {
    sum.carry();
    for (const std::int64_t chunk : sum.chunk_) numbers.push_back(static_cast<std::uint64_t>(chunk));
    for (const std::int64_t count : {sum.plus_infinities_, sum.minus_infinities_, sum.nans_})
      numbers.push_back(static_cast<std::uint64_t>(count));
  }
  // Modulo 2^64, so signs come out right; chunks below 2^32 have room for 2^31 ranks.
  group.sum(std::span<std::uint64_t>(numbers));
  auto number = numbers.begin();
  for (ExactSum& sum : sums) {
    for (std::int64_t& chunk : sum.chunk_) chunk = static_cast<std::int64_t>(*number++);
    for (std::int64_t* count : {&sum.plus_infinities_, &sum.minus_infinities_, &sum.nans_})
      *count = static_cast<std::int64_t>(*number++);
    sum.carry();
  }
}

}  // namespace halocline::comm
