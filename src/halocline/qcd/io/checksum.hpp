// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The checksums that lattice files carry, each summed over any part of the lattice and then over the ranks.
///
/// All three are sums of terms that can be added in any order. A term of SciDAC and MILC depends on its place in the
/// whole lattice, a term of NERSC does not. So each rank adds its own sites, `combine` joins the ranks, and the result
/// does not depend on the process grid.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "halocline/comm/group/communicator.hpp"

namespace halocline::qcd::io {

/// CRC-32 as in zlib and Ethernet (reflected polynomial edb88320). crc32 of "123456789" is cbf43926.
/// @param start  CRC of the preceding bytes, to continue from
/// Cost: about one byte a clock, by eight tables.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t start = 0) noexcept;

/// NERSC: the sum, modulo 2^32, of the 32-bit words of the data as numbers in the file's byte order.
/// Both byte orders are summed, to tell a file in the wrong order from a damaged one.
struct NerscChecksum {
  std::uint64_t big = 0;
  std::uint64_t little = 0;

  /// @param bytes  a multiple of 4 of them
  void add(std::span<const std::byte> bytes) noexcept;
  /// Collective: yes.
  void combine(const comm::Communicator& group);
  /// Eight hexadecimal digits. @param big_endian  which of the two sums
  std::string text(bool big_endian) const;
};

/// SciDAC (QIO): XOR over sites of the CRC-32 of the site's bytes as in the file, rotated left by the site's global
/// index modulo 29 (suma) and 31 (sumb).
struct ScidacChecksum {
  std::uint32_t suma = 0;
  std::uint32_t sumb = 0;

  /// @param site  global index, x fastest  @param bytes  the bytes of this one site
  void add(std::uint64_t site, std::span<const std::byte> bytes) noexcept;
  /// Collective: yes.
  void combine(const comm::Communicator& group);
  /// "suma sumb" in hexadecimal, without leading zeros, as QIO prints them.
  std::string text() const;
  bool operator==(const ScidacChecksum&) const = default;
};

/// MILC version 5: XOR over the 32-bit words of the data as numbers in the file's byte order, each rotated left by its
/// global position modulo 29 (sum29) and 31 (sum31).
struct MilcChecksum {
  std::uint32_t sum29 = 0;
  std::uint32_t sum31 = 0;

  /// @param first_word  global position of the first word  @param bytes  a multiple of 4 of them
  void add(std::uint64_t first_word, std::span<const std::byte> bytes, bool big_endian) noexcept;
  /// Collective: yes.
  void combine(const comm::Communicator& group);
  /// "sum29 sum31", eight hexadecimal digits each.
  std::string text() const;
  bool operator==(const MilcChecksum&) const = default;
};

}  // namespace halocline::qcd::io
