// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How numbers of a device field are kept: double, float, or fixed point of 16 or 8 bits.
///
/// A fixed-point spinor has one float scale for each site and column: the largest modulus of its 24 reals. A real is
/// stored as an integer multiple of scale / 32767 or scale / 127. Fixed-point links need no scale, because the entries
/// of SU(3) lie in [-1, 1]. Clover blocks have a mean and a scale at each site. If a spinor holds NaN or infinity, all
/// its numbers are not finite when it is read again. A spinor below 2^-110 is read as zero. Fixed8 resolves half a per
/// cent of the largest number and is meant for preconditioners.
///
/// Arithmetic is in double for double fields and in float for all others. In options and reports the names are
/// "double", "float", "fixed16" and "fixed8".

#include <cstdint>
#include <string>

namespace halocline::qcd::device {

struct Fixed16 {};
struct Fixed8 {};

template <class S>
struct Storage;
template <>
struct Storage<double> {
  using Real = double;
  using Word = double;
  static constexpr const char* name = "double";
  static constexpr bool scaled = false;
};
template <>
struct Storage<float> {
  using Real = float;
  using Word = float;
  static constexpr const char* name = "float";
  static constexpr bool scaled = false;
};
template <>
struct Storage<Fixed16> {
  using Real = float;
  using Word = std::int16_t;
  static constexpr const char* name = "fixed16";
  static constexpr bool scaled = true;
  static constexpr float largest = 32767.0f;
};
template <>
struct Storage<Fixed8> {
  using Real = float;
  using Word = std::int8_t;
  static constexpr const char* name = "fixed8";
  static constexpr bool scaled = true;
  static constexpr float largest = 127.0f;
};
/// Length of a row in memory for this many sites: a multiple of 64, so that every row of a field begins at a multiple
/// of 128 bytes.
constexpr int padded(int sites) { return (sites + 63) / 64 * 64; }
/// The number type that a kernel computes in.
template <class S>
using RealOf = typename Storage<S>::Real;

}  // namespace halocline::qcd::device
