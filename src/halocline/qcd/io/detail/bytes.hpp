// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Conversion between numbers and their bytes in files. The byte order is always given, never assumed.
///
/// Everything goes through memcpy and a swap, so alignment and the machine's own order do not matter; both compile to
/// single instructions.

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace halocline::qcd::io::detail {

enum class ByteOrder { little, big };

inline constexpr ByteOrder native_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

constexpr ByteOrder opposite(ByteOrder order) {
  return order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
}

inline std::string name_of(ByteOrder order) { return order == ByteOrder::little ? "little" : "big"; }

inline std::uint32_t swapped(std::uint32_t value) { return __builtin_bswap32(value); }
inline std::uint64_t swapped(std::uint64_t value) { return __builtin_bswap64(value); }

/// The unsigned word at `from`. @tparam Word  std::uint32_t or std::uint64_t
template <class Word>
Word load_word(const std::byte* from, ByteOrder order) {
  Word value;
  std::memcpy(&value, from, sizeof value);
  return order == native_order ? value : swapped(value);
}

template <class Word>
void store_word(std::byte* to, Word value, ByteOrder order) {
  if (order != native_order) value = swapped(value);
  std::memcpy(to, &value, sizeof value);
}

inline double load_double(const std::byte* from, ByteOrder order) {
  return std::bit_cast<double>(load_word<std::uint64_t>(from, order));
}
inline void store_double(std::byte* to, double value, ByteOrder order) {
  store_word(to, std::bit_cast<std::uint64_t>(value), order);
}

/// Complex numbers from their bytes. @param bits  32 or 64 for each real
inline void decode(std::span<std::complex<double>> out, const std::byte* in, int bits, ByteOrder order) {
  if (bits == 64) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = {load_double(in + 16 * i, order), load_double(in + 16 * i + 8, order)};
  } else {
    const auto real = [&](std::size_t i) { return std::bit_cast<float>(load_word<std::uint32_t>(in + 4 * i, order)); };
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {real(2 * i), real(2 * i + 1)};
  }
}

/// Complex numbers to their bytes, rounded to nearest when bits is 32.
inline void encode(std::byte* out, std::span<const std::complex<double>> in, int bits, ByteOrder order) {
  if (bits == 64) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      store_double(out + 16 * i, in[i].real(), order);
      store_double(out + 16 * i + 8, in[i].imag(), order);
    }
  } else {
    const auto real = [&](std::size_t i, double value) {
      store_word(out + 4 * i, std::bit_cast<std::uint32_t>(static_cast<float>(value)), order);
    };
    for (std::size_t i = 0; i < in.size(); ++i) {
      real(2 * i, in[i].real());
      real(2 * i + 1, in[i].imag());
    }
  }
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace halocline::qcd::io::detail
