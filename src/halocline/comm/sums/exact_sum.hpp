// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums of doubles that are rounded only once, at the end. They are the same for every order of the terms and for
/// every number of processes.
///
/// A double is an integer of 53 bits times a power of two. All finite doubles together span 2098 binary places; the
/// products of two of them span 4196. An ExactSum is one integer wide enough for all of these places, and for 2^92
/// products on top. A term is added at its place, so nothing is lost; only value() rounds, once. Integers may be added
/// in any order. So the result depends on the terms alone: not on how they are split over ranks or threads, and not
/// on their sequence. Partial sums may exceed the largest double and cancel later without harm.
///
/// The integer is kept in 134 chunks of 64 bits that stand only 32 places apart. So there is room for some 2000 terms
/// before carries must move on. A term touches two chunks, without branches; a product touches four. Moving the
/// carries costs a tenth of a nanosecond a term on average.
///
/// The wide integer is U. Kulisch's long accumulator ("Computer Arithmetic and Validity", 2nd ed., de Gruyter 2013,
/// chapter 8). The overlapping chunks with deferred carries are from R. M. Neal's "Fast exact summation using small
/// and large superaccumulators" (arXiv:1505.05571, 2015, section 3). Products are kept here as integers of 106 bits.
/// The alternative, the two doubles of an error-free product, loses bits where the low part underflows.

#include "halocline/comm/group/communicator.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halocline::comm {

/// An exact sum of doubles and of products of doubles. A value; 1104 bytes.
class ExactSum {
public:
  /// Adds one number. Infinities and NaNs are counted, and then decide value(). Cost: about 3 ns.
  void add(double x) noexcept {
    const Parts parts = parts_of(x);
    if (parts.exponent == special_exponent) [[unlikely]]
      return add_special(x);
    make_room();
    add_at(parts.place + unit_place, parts.significand, parts.sign);
  }

  void add(std::span<const double> terms) noexcept;

  /// Adds a times b without rounding, also where a * b would overflow or underflow. Cost: about 7 ns.
  void add_product(double a, double b) noexcept;
  /// Adds the products of two vectors, element by element.
  /// @throws InvalidArgument  for different lengths
  void add_products(std::span<const double> a, std::span<const double> b);

  /// Adds all terms of `other`. Cost: about 200 ns.
  void merge(const ExactSum& other) noexcept;

  /// The sum, rounded once to the nearest double, ties to even; +0 for an empty sum and for one that cancels to zero.
  /// Infinite beyond the largest double. NaN when the terms contain a NaN, an infinity times zero, or infinities of
  /// both signs. An infinity when the terms contain infinities of one sign. Cost: about 200 ns.
  double value() const noexcept;

  /// True for the same terms, and for other terms with the same exact sum (and as many infinities and NaNs).
  friend bool operator==(const ExactSum& a, const ExactSum& b) noexcept;

  /// Replaces each sum by the sum over the terms of all ranks. The bits of value() are then those of one process that
  /// has all the terms, in any order.
  /// @param sums  the same number of them on every rank
  /// Collective: yes.  Cost: one integer sum of 1096 bytes each.
  friend void sum_over(const Communicator& group, std::span<ExactSum> sums);

private:
  static constexpr int chunk_places = 32;             ///< binary places from one chunk to the next
  static constexpr int lowest_place = -2148;          ///< 2^-2148, the least product of two doubles; place 0 of chunk 0
  static constexpr int unit_place = 1074;             ///< the place of 2^-1074, the least double
  static constexpr int chunks = 134;                  ///< up to 2^2140: products below 2^2048, and 2^92 of them
  static constexpr int terms_between_carries = 2000;  ///< each adds less than 2^52 to a chunk of less than 2^63
  static constexpr int special_exponent = 0x7ff;
  static constexpr std::size_t words = chunks + 3;  ///< integers that sum_over() adds over the ranks

  /// (-1)^sign significand 2^(place - 1074), for a finite number.
  struct Parts {
    std::uint64_t significand;
    std::int64_t sign;  ///< 0 or -1
    int place;
    int exponent;  ///< as the double stores it
  };
  static Parts parts_of(double x) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const int exponent = static_cast<int>(bits >> 52) & special_exponent;
    const std::uint64_t normal = exponent == 0 ? 0 : 1;
    return {.significand = (bits & ((std::uint64_t{1} << 52) - 1)) | (normal << 52),
            .sign = static_cast<std::int64_t>(bits) >> 63,
            .place = exponent - static_cast<int>(normal),
            .exponent = exponent};
  }

  /// Adds or subtracts `significand` (below 2^53), whose lowest bit stands at `place`.
  void add_at(int place, std::uint64_t significand, std::int64_t sign) noexcept {
    const auto chunk = static_cast<std::size_t>(place) / chunk_places;
    const int shift = place % chunk_places;
    const auto low = static_cast<std::int64_t>((significand << shift) & 0xffffffffu);
    const auto high = static_cast<std::int64_t>(significand >> (chunk_places - shift));
    chunk_[chunk] += (low ^ sign) - sign;
    chunk_[chunk + 1] += (high ^ sign) - sign;
  }

  void make_room() noexcept {
    if (++terms_ > terms_between_carries) [[unlikely]] {
      carry();
      terms_ = 1;
    }
  }

  void add_special(double x) noexcept;
  void carry() noexcept;
  double rounded() const noexcept;

  std::array<std::int64_t, chunks> chunk_{};
  std::int64_t plus_infinities_ = 0, minus_infinities_ = 0, nans_ = 0;
  int terms_ = 0;  ///< since the last carry: a chunk is below (terms_ + 1) 2^52
};

void sum_over(const Communicator& group, std::span<ExactSum> sums);

}  // namespace halocline::comm
