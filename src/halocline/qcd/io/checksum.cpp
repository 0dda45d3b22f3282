// SPDX-License-Identifier: Apache-2.0
//
// CRC-32 takes eight bytes a step: table k holds the remainder of a byte followed by k zero bytes, so the eight table
// entries of a step are independent and their XOR is the remainder of all eight.

#include "halocline/qcd/io/checksum.hpp"

#include <array>
#include <bit>

#include <fmt/core.h>

#include "halocline/qcd/io/detail/bytes.hpp"

namespace halocline::qcd::io {

namespace {

using detail::ByteOrder;
using detail::load_word;

constexpr std::array<std::array<std::uint32_t, 256>, 8> make_crc_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ ((remainder & 1U) != 0U ? 0xedb88320U : 0U);
    table[0][byte] = remainder;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      table[k][byte] = (table[k - 1][byte] >> 8) ^ table[0][table[k - 1][byte] & 0xffU];
  return table;
}

constexpr auto crc_tables = make_crc_tables();

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t start) noexcept {
  std::uint32_t crc = ~start;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint32_t low = load_word<std::uint32_t>(at, ByteOrder::little) ^ crc;
    const std::uint32_t high = load_word<std::uint32_t>(at + 4, ByteOrder::little);
    crc = crc_tables[7][low & 0xffU] ^ crc_tables[6][(low >> 8) & 0xffU] ^ crc_tables[5][(low >> 16) & 0xffU] ^
          crc_tables[4][low >> 24] ^ crc_tables[3][high & 0xffU] ^ crc_tables[2][(high >> 8) & 0xffU] ^
          crc_tables[1][(high >> 16) & 0xffU] ^ crc_tables[0][high >> 24];
  }
  for (; left > 0; --left, ++at) crc = (crc >> 8) ^ crc_tables[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xffU];
  return ~crc;
}

void NerscChecksum::add(std::span<const std::byte> bytes) noexcept {
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const auto word = load_word<std::uint32_t>(bytes.data() + i, ByteOrder::big);
    big += word;
    little += detail::swapped(word);
  }
}

void NerscChecksum::combine(const comm::Communicator& group) {
  std::array<std::uint64_t, 2> sums{big & 0xffffffffU, little & 0xffffffffU};
  group.sum(std::span<std::uint64_t>(sums));
  big = sums[0] & 0xffffffffU;
  little = sums[1] & 0xffffffffU;
}

std::string NerscChecksum::text(bool big_endian) const {
  return fmt::format("{:08x}", (big_endian ? big : little) & 0xffffffffU);
}

void ScidacChecksum::add(std::uint64_t site, std::span<const std::byte> bytes) noexcept {
  const std::uint32_t crc = crc32(bytes);
  suma ^= std::rotl(crc, static_cast<int>(site % 29));
  sumb ^= std::rotl(crc, static_cast<int>(site % 31));
}

void ScidacChecksum::combine(const comm::Communicator& group) {
  std::array<std::uint32_t, 2> sums{suma, sumb};
  group.bit_xor(sums);
  suma = sums[0];
  sumb = sums[1];
}

std::string ScidacChecksum::text() const { return fmt::format("{:x} {:x}", suma, sumb); }

void MilcChecksum::add(std::uint64_t first_word, std::span<const std::byte> bytes, bool big_endian) noexcept {
  const ByteOrder order = big_endian ? ByteOrder::big : ByteOrder::little;
  auto rank29 = static_cast<int>(first_word % 29);
  auto rank31 = static_cast<int>(first_word % 31);
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const auto word = load_word<std::uint32_t>(bytes.data() + i, order);
    sum29 ^= std::rotl(word, rank29);
    sum31 ^= std::rotl(word, rank31);
    if (++rank29 == 29) rank29 = 0;
    if (++rank31 == 31) rank31 = 0;
  }
}

void MilcChecksum::combine(const comm::Communicator& group) {
  std::array<std::uint32_t, 2> sums{sum29, sum31};
  group.bit_xor(sums);
  sum29 = sums[0];
  sum31 = sums[1];
}

std::string MilcChecksum::text() const { return fmt::format("{:08x} {:08x}", sum29, sum31); }

}  // namespace halocline::qcd::io
