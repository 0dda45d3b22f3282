// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The numbers of a field at one place of a file, site after site, x fastest: each rank reads and writes its own part.
///
/// The caller supplies the bytes around the numbers, such as the head of an HDF5 file; one rank writes them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/io/checksum.hpp"

namespace halocline::qcd::io {

/// Bytes at an offset of a file.
struct Piece {
  std::int64_t offset = 0;
  std::vector<std::byte> bytes;
};

/// A field in a file.
struct SiteArray {
  std::int64_t offset = 0;      ///< of the first site [bytes]
  std::int64_t site_bytes = 0;  ///< of each site
};

/// SciDAC's sums over the bytes of each site of a canonical local array; the same for any number of ranks.
/// @throws InvalidArgument  on every rank, for a length that is no multiple of the local sites. Collective: yes.
ScidacChecksum site_checksum(const lattice::Geometry4& geometry, std::span<const std::byte> field);

/// Writes the file, whole or not at all, as write_gauge does.
/// @param size    of the whole file [bytes]
/// @param around  written by rank 0; not read on other ranks
/// @param field   canonical local array, place.site_bytes for each local site
/// @throws InvalidArgument  on every rank, for a wrong length
/// @throws core::FileError  on every rank, when the file cannot be written
/// Collective: yes.
void write_site_array(const std::string& path, const lattice::Geometry4& geometry, std::int64_t size,
                      std::span<const Piece> around, const SiteArray& place, std::span<const std::byte> field);

/// @param field  canonical local array, filled
/// @returns      the checksum of the data read, over all ranks
/// @throws InvalidArgument  on every rank, for a wrong length
/// @throws core::FileError  on every rank, when the file cannot be read or is too short
/// Collective: yes.
ScidacChecksum read_site_array(const std::string& path, const lattice::Geometry4& geometry, const SiteArray& place,
                               std::span<std::byte> field);

}  // namespace halocline::qcd::io
